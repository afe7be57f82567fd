"""`python -m local.feed check <url>`: what Gna would make of a feed. Nothing is stored or sent.

--since 2026-11-01   as if everything up to then had been mailed; without it only the latest entry is new
--mail               also print the HTML of the mail's body
"""

import argparse
import os
import sys
from datetime import UTC, datetime, timedelta

from chalicelib.feeds import digest, model
from chalicelib.feeds.model import NEAR, Memory, Verdict
from chalicelib.feeds.reading import reader
from chalicelib.feeds.reading.model import Entry, Feed
from chalicelib.kernel import settings
from chalicelib.kernel.plurals import count_of

_MOST = 30


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    now = datetime.now(UTC)
    try:
        feed = reader.read(options.url).feed
    except reader.Unreadable as failure:
        print(failure.reason, file=sys.stderr)
        return 1
    assert feed is not None
    verdict = model.judge(feed.entries, _memory(feed, options.since, now), now, settings.current().feed_flood)
    _show(feed, verdict, now)
    _show_mail(verdict, options.mail)
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("local.feed", description="A dry run of checking a feed.")
    parser.add_argument("action", choices=["check"])
    parser.add_argument("url")
    parser.add_argument("--since", type=_moment)
    parser.add_argument("--mail", action="store_true")
    return parser.parse_args(arguments)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError("must be a time such as 2026-11-01 or 2026-11-01T08:00:00Z") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _memory(feed: Feed, since: datetime | None, now: datetime) -> Memory:
    """As if the feed had been checked at `since`, or just before its latest entry."""
    if since:
        old = [entry for entry in feed.entries if entry.dated and entry.dated <= since]
        return Memory(since + NEAR, tuple(entry.fingerprint for entry in old))
    latest = _latest(feed, now)
    others = tuple(
        entry.fingerprint for entry in feed.entries if not latest or entry.fingerprint != latest.fingerprint
    )
    return Memory((latest.dated if latest else None) or now, others)


def _latest(feed: Feed, now: datetime) -> Entry | None:
    past = [entry for entry in feed.entries if not entry.dated or entry.dated <= now]
    return max(past, key=lambda entry: entry.dated or now - timedelta(days=36500), default=None)


def _show(feed: Feed, verdict: Verdict, now: datetime) -> None:
    print(
        f"{feed.title or '(no title)'}: {count_of(len(feed.entries), 'entry', 'entries')}"
        + (f", hub {feed.hub}" if feed.hub else "")
    )
    new = {entry.fingerprint for entry in verdict.new}
    for entry in feed.entries[:_MOST]:
        waits = entry.dated is not None and entry.dated > now
        status = "new" if entry.fingerprint in new else "waits" if waits else ""
        dated = f"{entry.dated:%Y-%m-%d %H:%M}" if entry.dated else "undated"
        print(f"  {status:5}  {dated:16}  {digest.preview(entry).title}\n{'':27}{entry.link or '(no link)'}")
    if len(feed.entries) > _MOST:
        print(f"  … and {len(feed.entries) - _MOST} more")


def _show_mail(verdict: Verdict, with_html: bool) -> None:
    if not verdict.new:
        print("\nNothing new: no email.")
        return
    draft = digest.draft(verdict.new)
    sent = "a draft and a notice: so many at once is unusual" if verdict.flood else "sent, or a draft in review mode"
    print(f"\n{len(verdict.new)} new: {sent}.\n\nSubject: {draft.subject}\nPreview: {draft.preheader}\n")
    for entry in verdict.new[:_MOST]:
        preview = digest.preview(entry)
        lines = (f"* {preview.title}", preview.excerpt, preview.image, preview.link)
        print("\n".join(filter(None, lines)) + "\n")
    if with_html:
        print(draft.body)


if __name__ == "__main__":
    os.environ.setdefault("GNA_LOCAL", "true")  # so that a feed on this machine can be read
    raise SystemExit(main(sys.argv[1:]))

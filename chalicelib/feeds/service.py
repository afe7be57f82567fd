"""Checks the watched feed: read it, find what is new, and write campaign, delivery and watermark in one transaction.

Schedule, webhook, WebSub and admin may all ask for a check at once: the first to commit has done it, and the others
find nothing new. A crash between two steps leaves either the old state, to be checked again, or the complete new one.
"""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.campaigns.sending import deliveries
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.feeds import digest, model, notices, state, store
from chalicelib.feeds.bodies import FeedEntry
from chalicelib.feeds.model import Verdict
from chalicelib.feeds.reading import reader
from chalicelib.feeds.reading.model import Feed
from chalicelib.feeds.reading.reader import Reading, Unreadable
from chalicelib.feeds.state import WATCHED, Check, Result, State, Trigger
from chalicelib.kernel import clock, locks, log, publication, settings
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.mail.notices import notify_admin

_LOCK_SECONDS = 60
_LATEST_ENTRIES = 20
_HISTORY = 50


class Outcome(Struct, frozen=True):
    """The result of a check before it is written."""

    state: State
    check: Check
    writes: Sequence[tables.Write] = ()
    campaign: CampaignDetail | None = None
    has_events: bool = False


class View(Struct, frozen=True):
    url: str
    mode: str
    state: State
    next_check: datetime | None
    history: list[Check] = field(default_factory=list)
    entries: list[FeedEntry] = field(default_factory=list)


def check(trigger: Trigger) -> Check:
    """Check the feed now. `Result.BUSY` if another check is running."""
    with locks.held(WATCHED, _LOCK_SECONDS) as free:
        check = _check(trigger) if free else _skipped(trigger, Result.BUSY, "A check is in progress")
    log.info("feed.checked", trigger=trigger, result=check.result, summary=check.summary, new=check.new)
    return check


def view() -> View:
    """Everything the dashboard shows of the feed."""
    site = settings.current()
    current = state.state_for(WATCHED, site.feed_url, store.find_state(WATCHED))
    every = timedelta(minutes=site.feed_every)
    return View(
        url=site.feed_url,
        mode=publication.current().feed.mode,
        state=current,
        next_check=current.next_check(every) if site.feed_url else None,
        history=store.list_checks(WATCHED, _HISTORY),
        entries=store.list_latest(WATCHED) if current.checked_at else [],
    )


def _check(trigger: Trigger) -> Check:
    url = settings.current().feed_url
    if not url:
        return _skipped(trigger, Result.OFF, "No feed configured: FEED_URL is not set")
    return retry_stale(lambda: _try_check(url, trigger), busy="The feed is already being checked")


def _try_check(url: str, trigger: Trigger) -> Check:
    """`Stale` if another check was committed between reading the state and writing it."""
    before = state.state_for(WATCHED, url, _mail_notice(store.find_state(WATCHED)))
    if reason := before.reason_to_skip(trigger, clock.now()):
        return _skipped(trigger, *reason)
    try:
        return _commit(before, _evaluate(before, trigger))
    except Stale:
        log.info("feed.overtaken")
        raise


def _evaluate(before: State, trigger: Trigger) -> Outcome:
    started, now = time.monotonic(), clock.now()
    try:
        reading = reader.read(before.current_url, before.usable_validators(now))
    except Unreadable as failure:
        outcome = _after_failure(before, trigger, failure, now)
    else:
        outcome = _after_reading(before, trigger, reading, now)
    took = int((time.monotonic() - started) * 1000)
    return replace(outcome, check=replace(outcome.check, took_ms=took))


def _after_reading(before: State, trigger: Trigger, reading: Reading, now: datetime) -> Outcome:
    after, recovery = state.after_reading(before, reading, now), []
    if before.is_failing:
        after = replace(after, notice=notices.feed_recovered(after))
        recovery = [_recovered_event_write(after)]
    if reading.feed is None:
        check = Check(now, trigger, Result.UNCHANGED, "Nothing has changed", before.entries)
        return Outcome(after, check, recovery, has_events=bool(recovery))
    memory = store.load_memory(before.feed_id, before.watermark) if before.watermark else None
    verdict = model.judge(reading.feed.entries, memory, now, settings.current().feed_flood)
    check = _check_without_news(verdict, trigger, after.entries, now)
    writes = [*recovery, *_feed_writes(after.feed_id, reading.feed, verdict)]
    outcome = Outcome(state.after_verdict(after, verdict), check, writes)
    return _with_campaign(outcome, verdict) if verdict.new else outcome


def _feed_writes(feed_id: str, feed: Feed, verdict: Verdict) -> list[tables.Write]:
    latest = digest.preview_latest(feed.entries, _LATEST_ENTRIES)
    return [store.memory_write(feed_id, verdict.memory), store.latest_write(feed_id, latest)]


def _with_campaign(outcome: Outcome, verdict: Verdict) -> Outcome:
    """Add the campaign: sent in mode auto, a draft in mode review or when suspiciously many entries are new.

    Collecting entries for a digest, or a delay before sending, would be decided here."""
    send = publication.current().feed.mode == "auto" and not verdict.flood
    created, writes = campaigns.create_writes(digest.draft(verdict.new), send=send)
    after = replace(outcome.state, campaign_id=created.campaign.id)
    if not send:
        after = replace(after, notice=notices.draft_ready(created.campaign, len(verdict.new), verdict.flood))
    check = replace(
        outcome.check,
        result=Result.SENT if send else Result.DRAFTED,
        summary=_summarize_new(len(verdict.new), send, verdict.flood),
        new=len(verdict.new),
        campaign_id=created.campaign.id,
    )
    return replace(outcome, state=after, check=check, writes=[*outcome.writes, *writes], campaign=created)


def _after_failure(before: State, trigger: Trigger, failure: Unreadable, now: datetime) -> Outcome:
    after = state.after_failure(before, failure, now)
    began = after.is_failing and not before.is_failing
    if after.stopped and not before.stopped:
        after = replace(after, notice=notices.feed_gone(after))
    elif began:
        after = replace(after, notice=notices.feed_failing(after, failure.reason))
    log.error("feed.failed", kind=failure.kind, failures=after.failures)
    writes = [_failing_event_write(after, failure)] if began else []
    check = Check(now, trigger, Result.FAILED, failure.reason, before.entries)
    return Outcome(after, check, writes, has_events=began)


def _commit(before: State, outcome: Outcome) -> Check:
    """Write all of it or nothing. The steps after the transaction may be lost: a sweep or the next check repeats
    them."""
    check = outcome.check
    after = replace(outcome.state, result=check.result, summary=check.summary)
    tables.transact(*store.state_writes(before, after, check), *outcome.writes)
    if outcome.campaign:
        deliveries.wake(outcome.campaign)
    if outcome.has_events:
        outbox.relay_soon(after.feed_id)
    _mail_notice(after)
    return check


def _mail_notice(stored: State | None) -> State | None:
    """Mail the notice that is owed, if there is one. If that is interrupted, the next check mails it."""
    if not stored or not stored.notice:
        return stored
    notify_admin(stored.notice.subject, stored.notice.text)
    try:
        store.clear_notice(stored)
    except Stale:
        log.info("feed.overtaken")
    return replace(stored, notice=None)


def _failing_event_write(after: State, failure: Unreadable) -> tables.Write:
    payload: dict[str, str | int | None] = {
        "feed_id": after.feed_id,
        "failures": after.failures,
        "reason": failure.kind,
    }
    return outbox.event_write(EventType.FEED_FAILING, after.feed_id, payload)


def _recovered_event_write(after: State) -> tables.Write:
    return outbox.event_write(EventType.FEED_RECOVERED, after.feed_id, {"feed_id": after.feed_id})


def _check_without_news(verdict: Verdict, trigger: Trigger, entries: int, now: datetime) -> Check:
    if verdict.first:
        summary = f"First check: {_count_entries(entries)} recorded, nothing sent"
        return Check(now, trigger, Result.FIRST, summary, entries)
    waiting = ", an entry dated in the future is waiting" if verdict.waiting_until else ""
    return Check(now, trigger, Result.NOTHING_NEW, f"No new entries{waiting}", entries)


def _summarize_new(count: int, send: bool, flood: bool) -> str:
    entries = _count_entries(count, "new ")
    if send:
        return f"{entries}: a campaign was started"
    reason = "a draft, because so much of the feed is new at once" if flood else "a draft to review"
    return f"{entries}: {reason}"


def _count_entries(count: int, kind: str = "") -> str:
    return f"{count} {kind}{'entry' if count == 1 else 'entries'}"


def _skipped(trigger: Trigger, result: Result, summary: str) -> Check:
    """A check that did not take place; it is not recorded."""
    return Check(clock.now(), trigger, result, summary)

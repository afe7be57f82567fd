"""What a check finds, turned into what is written: the new state, the line in the history, and perhaps a campaign.

One check makes one campaign at most. What is due and cannot leave in it is still due at the next.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Campaign, CampaignDetail
from chalicelib.campaigns.service import Draft
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.feeds import digest, model, notices, rereading, state, store, waiting
from chalicelib.feeds.model import Verdict
from chalicelib.feeds.pictures import Resolve
from chalicelib.feeds.reading.model import Feed
from chalicelib.feeds.reading.reader import Reading, Unreadable
from chalicelib.feeds.state import Check, Notice, Result, State, Trigger
from chalicelib.feeds.waiting import Kept, Taken, Waiting
from chalicelib.kernel import ids, publication, settings
from chalicelib.kernel.aws import tables

_LATEST_ENTRIES = 20
MOVED = "The feed they are from is no longer watched"
_LATE = "This should have gone out more than six hours ago"
_UNREAD = "The feed could not be read again for six hours, so this is what it said before"


class Found(Struct, frozen=True):
    """Before a check. `stored` is what waits as it was read, `planned` the same by today's settings."""

    state: State
    trigger: Trigger
    stored: Waiting
    planned: Waiting
    now: datetime


class Outcome(Struct, frozen=True):
    """The result of a check before it is written."""

    state: State
    check: Check
    waiting: Waiting
    writes: Sequence[tables.Write] = ()
    campaign: CampaignDetail | None = None
    has_events: bool = False


def after_reading(found: Found, reading: Reading, resolve: Resolve) -> Outcome:
    before, now = found.state, found.now
    after, recovery = state.after_reading(before, reading, now), []
    if before.is_failing:
        after = replace(after, notice=notices.feed_recovered(after))
        recovery = [_recovered_event_write(after)]
    if reading.feed is None:
        check = Check(now, found.trigger, Result.UNCHANGED, "Nothing has changed", before.entries)
        return Outcome(after, check, found.planned, recovery, has_events=bool(recovery))
    memory = store.load_memory(before.feed_id, before.watermark) if before.watermark else None
    verdict = model.judge(reading.feed.entries, memory, now, settings.current().feed_flood)
    check = _check_without_news(verdict, found.trigger, after.entries, now)
    writes = [*recovery, *_feed_writes(after.feed_id, reading.feed, verdict)]
    held = waiting.refresh(found.planned, model.unique(reading.feed.entries))
    outcome = Outcome(state.after_verdict(after, verdict), check, held, writes, has_events=bool(recovery))
    if verdict.flood:
        return _with_flood(outcome, verdict, resolve)
    return _with_news(outcome, verdict, reading.feed, resolve)


def after_failure(found: Found, failure: Unreadable, resolve: Resolve) -> Outcome:
    before, now = found.state, found.now
    after = state.after_failure(before, failure, now)
    began = after.is_failing and not before.is_failing
    if after.stopped and not before.stopped:
        after = replace(after, notice=notices.feed_gone(after))
    elif began:
        after = replace(after, notice=notices.feed_failing(after, failure.reason))
    writes = [_failing_event_write(after, failure)] if began else []
    check = Check(now, found.trigger, Result.FAILED, failure.reason, before.entries)
    outcome = Outcome(after, check, found.planned, writes, has_events=began)
    return with_late(outcome, resolve) or outcome


def with_late(outcome: Outcome, resolve: Resolve) -> Outcome | None:
    """What waits and is so late that it is not read again becomes a draft; None if nothing is that late."""
    taken, rest = waiting.take(outcome.waiting, outcome.check.at)
    if not taken or not taken.is_late(outcome.check.at):
        return None
    return with_unread(replace(outcome, waiting=rest), taken, _UNREAD, resolve)


def with_unread(outcome: Outcome, taken: Taken, reason: str, resolve: Resolve) -> Outcome:
    """A draft of posts as they were found."""
    if not taken.entries:
        return outcome
    draft = digest.draft([kept.entry for kept in taken.entries], taken.more, resolve)
    drafted, campaign = _with_campaign(outcome, draft, len(taken.entries) + taken.more, send=False)
    return _explained(drafted, f"a draft. {reason}", notices.not_sent(campaign, reason))


def _with_flood(outcome: Outcome, verdict: Verdict, resolve: Resolve) -> Outcome:
    count = len(verdict.new)
    drafted, campaign = _with_campaign(outcome, digest.draft(verdict.new, 0, resolve), count, send=False)
    why = "a draft, because so much of the feed is new at once"
    return _explained(drafted, why, notices.flood(campaign, count))


def _with_news(outcome: Outcome, verdict: Verdict, feed: Feed, resolve: Resolve) -> Outcome:
    """New posts wait, if only for a moment; then what is due leaves."""
    now, batch = outcome.check.at, ids.new()
    new = {entry.fingerprint for entry in verdict.new}
    others = [entry for entry in feed.entries if entry.fingerprint not in new]
    held = waiting.add(outcome.waiting, outcome.state.url, batch, verdict.new, others, now)
    taken, rest = waiting.take(held, now)
    outcome = replace(outcome, waiting=rest)
    if taken:
        outcome = _with_taken(outcome, taken, feed, resolve)
    return _with_waiting(outcome, [kept for kept in outcome.waiting.entries if kept.batch == batch])


def _with_taken(outcome: Outcome, taken: Taken, feed: Feed, resolve: Resolve) -> Outcome:
    """Sent in mode auto; a draft in mode review, or if it is late."""
    now = outcome.check.at
    reread = rereading.reread(taken.entries, feed, now)
    count = len(reread.current) + taken.more
    more = taken.more if reread.current else 0
    outcome = replace(outcome, waiting=waiting.put_back(outcome.waiting, reread.postponed))
    if reread.current:
        late, auto = taken.is_late(now), publication.current().feed.mode == "auto"
        draft = digest.draft(reread.current, more, resolve)
        outcome, campaign = _with_campaign(outcome, draft, count, send=auto and not late)
        if late:
            outcome = _explained(outcome, f"a draft. {_LATE}", notices.not_sent(campaign, _LATE))
        elif auto:
            outcome = _explained(outcome, "a campaign was started", None)
        else:
            outcome = _explained(outcome, "a draft to review", notices.draft_ready(campaign, count))
    return _with_gone(outcome, reread.gone) if reread.gone else outcome


def _with_gone(outcome: Outcome, gone: int) -> Outcome:
    said = f"{_count_entries(gone)} taken down and not emailed"
    summary = f"{outcome.check.summary}; {said}" if outcome.campaign else said
    return replace(outcome, check=replace(outcome.check, summary=summary))


def _with_waiting(outcome: Outcome, new: Sequence[Kept]) -> Outcome:
    """New posts that do not leave yet. The admin is told of those that are held; a digest is expected anyway."""
    if not new:
        return outcome
    check = outcome.check
    if not outcome.campaign:
        until = "kept for the digest" if outcome.waiting.policy.collects else "waiting to be sent"
        summary = f"{_count_entries(len(new), 'new ')}: {until}"
        check = replace(check, result=Result.WAITING, summary=summary, new=len(new))
    due_at = new[0].due_at
    if not due_at:
        return replace(outcome, check=check)
    titles = [kept.title for kept in new]
    notice = notices.posts_waiting(titles, due_at, publication.current().time_zone)
    return replace(outcome, check=check, state=outcome.state.owing(notice))


def _with_campaign(outcome: Outcome, draft: Draft, count: int, send: bool) -> tuple[Outcome, Campaign]:
    created, writes = campaigns.create_writes(draft, send=send)
    campaign = created.campaign
    check = replace(outcome.check, result=Result.SENT if send else Result.DRAFTED, new=count, campaign_id=campaign.id)
    after = replace(outcome.state, campaign_id=campaign.id)
    return replace(outcome, state=after, check=check, writes=[*outcome.writes, *writes], campaign=created), campaign


def _explained(outcome: Outcome, what: str, notice: Notice | None) -> Outcome:
    summary = f"{_count_entries(outcome.check.new, 'new ')}: {what}"
    return replace(outcome, check=replace(outcome.check, summary=summary), state=outcome.state.owing(notice))


def _feed_writes(feed_id: str, feed: Feed, verdict: Verdict) -> list[tables.Write]:
    latest = digest.preview_latest(feed.entries, _LATEST_ENTRIES)
    return [store.memory_write(feed_id, verdict.memory), store.latest_write(feed_id, latest)]


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


def _count_entries(count: int, kind: str = "") -> str:
    return f"{count} {kind}{'entry' if count == 1 else 'entries'}"

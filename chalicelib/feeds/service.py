"""Checking the watched feed: read it, judge it, and write campaign, delivery and watermark in one transaction.

Schedule, webhook, WebSub and admin may all ask at once: whoever commits first has done it, the others find nothing
new. Whatever stops between two steps leaves either the old state, to be checked again, or the new one, complete.
"""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.campaigns.sending import deliveries
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.feeds import digest, model, notices, state, store
from chalicelib.feeds.model import Entry, Verdict
from chalicelib.feeds.reading import reader
from chalicelib.feeds.reading.reader import Reading, Unreadable
from chalicelib.feeds.state import Check, Result, State, Trigger
from chalicelib.kernel import clock, locks, log, settings
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail.notices import notify_admin

_LEASE_SECONDS = 60
_ATTEMPTS = 4
_SHOWN = 20
_HISTORY = 50


class Outcome(Struct, frozen=True):
    """What a check comes to, before it is written."""

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
    entries: list[dict[str, Any]] = field(default_factory=list)


def check(trigger: Trigger) -> Check:
    """Look at the feed now. `Result.BUSY` if somebody else is looking."""
    with locks.held(store.FEED, _LEASE_SECONDS) as free:
        done = _check(trigger) if free else _untold(trigger, Result.BUSY, "A check is in progress")
    log.info("feed.checked", trigger=trigger, result=done.result, said=done.said, new=done.new)
    return done


def view() -> View:
    """Everything the dashboard shows of the feed."""
    site = settings.current()
    current = state.state_for(site.feed_url, store.find_state())
    every = timedelta(minutes=site.feed_every)
    known = current.checked_at is not None
    return View(
        url=site.feed_url,
        mode=site.feed_mode,
        state=current,
        next_check=current.next_check(every) if site.feed_url else None,
        history=store.list_checks(_HISTORY),
        entries=store.list_latest() if known else [],
    )


def _check(trigger: Trigger) -> Check:
    url = settings.current().feed_url
    if not url:
        return _untold(trigger, Result.OFF, "No feed configured: FEED_URL is not set")
    for _ in range(_ATTEMPTS):
        before = state.state_for(url, _told(store.find_state()))
        if resting := before.rest(trigger, clock.now()):
            return _untold(trigger, *resting)
        try:
            return _commit(before, _look(before, trigger))
        except Stale:
            log.info("feed.overtaken")
    raise Unavailable("The feed is already being checked")


def _look(before: State, trigger: Trigger) -> Outcome:
    started, now = time.monotonic(), clock.now()
    try:
        reading = reader.read(before.address(), before.shortcut(now))
    except Unreadable as failure:
        outcome = _failed(before, trigger, failure, now)
    else:
        outcome = _read(before, trigger, reading, now)
    took = int((time.monotonic() - started) * 1000)
    return replace(outcome, check=replace(outcome.check, took_ms=took))


def _read(before: State, trigger: Trigger, reading: Reading, now: datetime) -> Outcome:
    after = state.after_reading(before, reading, now)
    if before.is_failing:
        after = replace(after, notice=notices.recovered(after))
    recovery = [_recovered()] if before.is_failing else []
    if reading.feed is None:
        said = Check(now, trigger, Result.UNCHANGED, "Nothing has changed", before.entries)
        return Outcome(after, said, recovery, has_events=bool(recovery))
    memory = store.load_memory(before.watermark) if before.watermark else None
    verdict = model.judge(reading.feed.entries, memory, now, settings.current().feed_flood)
    kept = [
        store.remember_write(verdict.memory),
        store.latest_write(digest.preview_entries(reading.feed.entries, _SHOWN)),
    ]
    found = Outcome(
        state.after_verdict(after, verdict), _nothing(verdict, trigger, after.entries, now), [*recovery, *kept]
    )
    return _announce(found, verdict) if verdict.new else found


def _announce(found: Outcome, verdict: Verdict) -> Outcome:
    """Add the campaign: on its way in mode auto, a draft in mode review or when there is suspiciously much.

    A digest, or a hold before sending, would be decided here."""
    send = settings.current().feed_mode == "auto" and not verdict.flood
    made, writes = campaigns.create_writes(digest.draft(verdict.new), send=send)
    after = replace(found.state, campaign_id=made.campaign.id)
    if not send:
        after = replace(after, notice=notices.drafted(made.campaign, len(verdict.new), verdict.flood))
    done = replace(
        found.check,
        result=Result.SENT if send else Result.DRAFTED,
        said=_counted(verdict.new, send, verdict.flood),
        new=len(verdict.new),
        campaign_id=made.campaign.id,
    )
    return replace(found, state=after, check=done, writes=[*found.writes, *writes], campaign=made)


def _failed(before: State, trigger: Trigger, failure: Unreadable, now: datetime) -> Outcome:
    after = state.after_failure(before, failure, now)
    began = after.is_failing and not before.is_failing
    if after.stopped and not before.stopped:
        after = replace(after, notice=notices.gone(after))
    elif began:
        after = replace(after, notice=notices.failing(after, failure.reason))
    log.error("feed.failed", kind=failure.kind, failures=after.failures)
    writes = [_failing(after, failure)] if began else []
    said = Check(now, trigger, Result.FAILED, failure.reason, before.entries)
    return Outcome(after, said, writes, has_events=began)


def _commit(before: State, outcome: Outcome) -> Check:
    """All of it or nothing; then what may be lost, because a sweep or the next check makes up for it."""
    done = outcome.check
    after = replace(outcome.state, result=done.result, said=done.said)
    tables.transact(*store.state_writes(before, after, done), *outcome.writes)
    if outcome.campaign:
        deliveries.wake(outcome.campaign)
    if outcome.has_events:
        outbox.relay_soon(store.FEED)
    _told(after)
    return done


def _told(stored: State | None) -> State | None:
    """Mail the notice that is owed, if one is. Should this be cut short, the next check mails it."""
    if not stored or not stored.notice:
        return stored
    notify_admin(stored.notice.subject, stored.notice.text)
    try:
        store.clear_notice(stored)
    except Stale:
        log.info("feed.overtaken")
    return replace(stored, notice=None)


def _failing(after: State, failure: Unreadable) -> tables.Write:
    payload: dict[str, str | int | None] = {
        "feed_id": store.FEED,
        "failures": after.failures,
        "reason": failure.kind,
    }
    return outbox.event_write(EventType.FEED_FAILING, store.FEED, payload)


def _recovered() -> tables.Write:
    return outbox.event_write(EventType.FEED_RECOVERED, store.FEED, {"feed_id": store.FEED})


def _nothing(verdict: Verdict, trigger: Trigger, entries: int, now: datetime) -> Check:
    if verdict.first:
        said = f"First check: {_entries(entries)} recorded, nothing sent"
        return Check(now, trigger, Result.FIRST, said, entries)
    waiting = ", an entry dated in the future is waiting" if verdict.waiting_until else ""
    return Check(now, trigger, Result.NOTHING_NEW, f"No new entries{waiting}", entries)


def _counted(new: Sequence[Entry], send: bool, flood: bool) -> str:
    count = _entries(len(new), "new ")
    if send:
        return f"{count}: a campaign is being sent"
    return f"{count}: a draft, because so much of the feed is new at once" if flood else f"{count}: a draft to review"


def _entries(count: int, kind: str = "") -> str:
    return f"{count} {kind}{'entry' if count == 1 else 'entries'}"


def _untold(trigger: Trigger, result: Result, said: str) -> Check:
    return Check(clock.now(), trigger, result, said)

"""Checks the watched feed: read it, find what is new, and write campaign, delivery and watermark in one transaction.

Schedule, webhook, WebSub and admin may all ask for a check at once: the first to commit has done it, and the others
find nothing new. A crash between two steps leaves either the old state, to be checked again, or the complete new one.
Every check also sends what waited until now; the five-minute sweep asks for one when something is due.
"""

import time
from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from chalicelib.campaigns.sending import deliveries
from chalicelib.events import outbox
from chalicelib.feeds import outcomes, plan, state, store, waiting, waiting_store
from chalicelib.feeds.bodies import FeedEntry
from chalicelib.feeds.outcomes import Found, Outcome
from chalicelib.feeds.pictures import Pictures
from chalicelib.feeds.reading import reader
from chalicelib.feeds.reading.reader import Unreadable
from chalicelib.feeds.state import WATCHED, Check, Result, State, Trigger
from chalicelib.feeds.waiting import Taken, Waiting
from chalicelib.kernel import clock, locks, log, publication, settings
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import Conflict
from chalicelib.mail.notices import notify_admin

QUEUE = "feed"
_LOCK_SECONDS = 60
_HISTORY = 50
# How long the pictures of a mail may take; somebody who waits for the page waits less.
_PICTURE_SECONDS, _PICTURE_SECONDS_ADMIN = 20.0, 8.0
_NOT_WAITING = "Nothing to do: it was sent, cancelled or taken down already"

Changed = tuple[Waiting, Check | None]


class View(Struct, frozen=True):
    url: str
    feed: publication.Feed
    time_zone: str
    state: State
    next_check: datetime | None
    waiting: Waiting = field(default_factory=Waiting)
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
    site, values = publication.current(), settings.current()
    current = state.state_for(WATCHED, values.feed_url, store.find_state(WATCHED))
    every = timedelta(minutes=values.feed_every)
    return View(
        url=values.feed_url,
        feed=site.feed,
        time_zone=site.time_zone,
        state=current,
        next_check=current.next_check(every) if values.feed_url else None,
        waiting=_planned(waiting_store.load(WATCHED), clock.now()),
        history=store.list_checks(WATCHED, _HISTORY),
        entries=store.list_latest(WATCHED) if current.checked_at else [],
    )


def find_due() -> bool:
    """Whether posts wait whose time has come, or a digest is due. Every five minutes: one read, while nothing waits.

    The moment of the next digest is noted here if no check has done so since the settings were changed."""
    stored, now = waiting_store.load(WATCHED), clock.now()
    if not stored.entries and not settings.current().feed_url:
        return False
    planned = _planned(stored, now)
    if waiting.is_due(planned, now):
        return True
    if planned != stored:
        retry_stale(lambda: _change_waiting(lambda held: (held, None)))
    return False


def check_soon() -> None:
    """What is due leaves in the background: reading everything again takes longer than a page may."""
    queues.send(QUEUE, {"trigger": Trigger.DUE.value})


def send_waiting(names: Collection[str]) -> None:
    """Send these posts, or the posts of these batches, without waiting longer. With a digest, all of it leaves.
    `Conflict` if none of them waits any more."""

    def hurry(held: Waiting) -> Changed:
        _count_named(held, names)
        return waiting.hurry(held, names, clock.now()), None

    retry_stale(lambda: _change_waiting(hurry))
    check_soon()


def cancel_waiting(names: Collection[str]) -> None:
    """These posts are not mailed, now or later. `Conflict` if none of them waits any more."""

    def cancel(held: Waiting) -> Changed:
        count = _count_named(held, names)
        summary = f"{count} {'entry' if count == 1 else 'entries'} cancelled"
        return waiting.without(held, names), Check(clock.now(), Trigger.ADMIN, Result.CANCELLED, summary)

    retry_stale(lambda: _change_waiting(cancel))


def _planned(held: Waiting, now: datetime) -> Waiting:
    return waiting.under(held, plan.current(), now, plan.since(now))


def _count_named(held: Waiting, names: Collection[str]) -> int:
    count = waiting.count_named(held, names)
    if not count:
        raise Conflict(_NOT_WAITING)
    return count


def _change_waiting(change: Callable[[Waiting], Changed]) -> None:
    """`Stale` if the feed was checked meanwhile. Before the first check nothing can wait, and nothing is written."""
    before = store.find_state(WATCHED)
    stored = waiting_store.load(WATCHED)
    after, check = change(_planned(stored, clock.now()))
    if not before or after == stored:
        return
    rest = waiting.tidy(after)
    writes = [store.state_write(before, before.changed()), waiting_store.waiting_write(WATCHED, rest)]
    tables.transact(*writes, *([store.check_write(WATCHED, check)] if check else []))


def _check(trigger: Trigger) -> Check:
    url = settings.current().feed_url
    seconds = _PICTURE_SECONDS_ADMIN if trigger is Trigger.ADMIN else _PICTURE_SECONDS
    pictures = Pictures(seconds)
    return retry_stale(lambda: _try_check(url, trigger, pictures), busy="The feed is already being checked")


def _try_check(url: str, trigger: Trigger, pictures: Pictures) -> Check:
    """`Stale` if another check was committed between reading the state and writing it."""
    stored = _mail_notice(store.find_state(WATCHED))
    held, now = waiting_store.load(WATCHED), clock.now()
    before = state.state_for(WATCHED, url, stored)
    found = Found(before, trigger, held, _planned(held, now), now)
    try:
        if held.entries and held.url != url:
            return _commit(found, _abandon(replace(found, state=stored or before), pictures))
        if not url:
            return _skipped(trigger, Result.OFF, "No feed configured: FEED_URL is not set")
        if reason := before.reason_to_skip(trigger, now):
            late = outcomes.with_late(_unread(found), pictures.resolve)
            return _commit(found, late) if late else _skipped(trigger, *reason)
        return _commit(found, _evaluate(found, pictures))
    except Stale:
        log.info("feed.overtaken")
        raise


def _unread(found: Found) -> Outcome:
    """A check that reads nothing: only for what waits."""
    check = Check(found.now, found.trigger, Result.NOTHING_NEW, "", found.state.entries)
    return Outcome(found.state.changed(), check, found.planned)


def _abandon(found: Found, pictures: Pictures) -> Outcome:
    """The posts that wait are of a feed that is no longer watched."""
    rest = replace(found.planned, entries=(), more=0)
    taken = Taken(found.now, found.planned.entries, found.planned.more)
    outcome = replace(_unread(found), waiting=rest)
    return outcomes.with_unread(outcome, taken, outcomes.MOVED, pictures.resolve)


def _evaluate(found: Found, pictures: Pictures) -> Outcome:
    started, before = time.monotonic(), found.state
    known = None if waiting.is_due(found.planned, found.now) else before.usable_validators(found.now)
    try:
        reading = reader.read(before.current_url, known)
    except Unreadable as failure:
        outcome = outcomes.after_failure(found, failure, pictures.resolve)
        log.error("feed.failed", kind=failure.kind, failures=outcome.state.failures)
    else:
        outcome = outcomes.after_reading(found, reading, pictures.resolve)
    took = int((time.monotonic() - started) * 1000)
    return replace(outcome, check=replace(outcome.check, took_ms=took))


def _commit(found: Found, outcome: Outcome) -> Check:
    """Write all of it or nothing. The steps after the transaction may be lost: a sweep or the next check repeats
    them."""
    check = outcome.check
    after = replace(outcome.state, result=check.result, summary=check.summary)
    writes = [store.state_write(found.state, after), store.check_write(after.feed_id, check), *outcome.writes]
    rest = waiting.tidy(outcome.waiting)
    if rest != found.stored:
        writes.append(waiting_store.waiting_write(after.feed_id, rest))
    tables.transact(*writes)
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


def _skipped(trigger: Trigger, result: Result, summary: str) -> Check:
    """A check that did not take place; it is not recorded."""
    return Check(clock.now(), trigger, result, summary)

"""Taking sign-ups in: the worker's part, where nobody waits who could tell from the time if an address is known."""

from datetime import datetime

from chalicelib.audience import model
from chalicelib.audience.model import Capture, SignUp, Subscriber
from chalicelib.audience.stores import captures, subscribers, suppressions
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.audience.stores.emails import EmailRow
from chalicelib.audience.stores.sign_ups import Waiting
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Unavailable

_ATTEMPTS = 4


def take_in(mark: str) -> str | None:
    """Make what waits under this mark a subscriber's: a new one's, or whose address it is. Their id, also for a
    message that comes a second time; None if there is nobody to write to."""
    for _ in range(_ATTEMPTS):
        row = sign_up_store.find(mark)
        if not row or clock.parse(row.until) <= clock.now():
            return None
        if suppressions.is_suppressed(mark):
            tables.transact(sign_up_store.delete_write(mark))  # who wants no mail is not kept as waiting for one
            return None
        owner: str | None = row.owner
        try:
            for one in sign_up_store.list_waiting(row):
                owner = _taken_in(one)
            return owner
        except Stale:
            continue  # a twin was first, or the owner came, confirmed or left just now: look again
    raise Unavailable


def event_write(type: EventType, subscriber: Subscriber) -> tables.Write:
    sources = ",".join(sorted(subscriber.asked_sources))
    return outbox.event_write(type, subscriber.id, {"subscriber_id": subscriber.id, "source": sources})


def _taken_in(one: Waiting) -> str:
    """Tried as if the address were new; if it is not, the failed condition says who has it."""
    now = clock.now()
    newcomer = _newcomer(one, now)
    try:
        tables.transact(
            *subscribers.create_writes(newcomer, now),
            captures.request_write(newcomer.id, one.sign_up.capture, now),
            event_write(EventType.SUBSCRIPTION_CREATED, newcomer),
            sign_up_store.take_write(one, newcomer.id),
        )
        return newcomer.id
    except Stale as stale:
        key = stale.found[0]
        subscriber = subscribers.find(key.subscriber_id) if isinstance(key, EmailRow) else None
        if not subscriber:
            raise
    _asked_again(one, subscriber, now)
    return subscriber.id


def _newcomer(one: Waiting, now: datetime) -> Subscriber:
    return Subscriber(
        id=ids.new(),
        email=one.sign_up.address.typed,
        nickname=one.sign_up.nickname,
        status=model.PENDING,
        unsubscribe_secret=ids.secret(),
        created_at=one.asked_at,
        activated_at=None,
        confirmation_expires_at=now + model.CONFIRMATION_LIFE,
        sources=frozenset(),
        tags=frozenset(),
        asked_sources=frozenset({one.sign_up.capture.source}),
        asked_tags=one.sign_up.capture.tags,
    )


def _asked_again(one: Waiting, subscriber: Subscriber, now: datetime) -> None:
    """What is said now is kept, if there is anything to keep, to be confirmed with the link; an active reader who
    names no new source is left exactly as they are."""
    capture = _added(subscriber, one.sign_up)
    writes = subscribers.request_writes(subscriber, one.sign_up.nickname, capture)
    if capture:
        writes.append(captures.request_write(subscriber.id, capture, now))
    tables.transact(*writes, sign_up_store.take_write(one, subscriber.id))


def _added(subscriber: Subscriber, sign_up: SignUp) -> Capture | None:
    """None also if there is no end of it: anybody can sign anybody up, but not fill their row."""
    known = subscriber.sources | subscriber.asked_sources
    source = sign_up.capture.source
    if not sign_up.names_source or (subscriber.activated and source in known):
        return None
    tags = subscriber.tags | subscriber.asked_tags | sign_up.capture.tags
    too_many = len(known | {source}) > model.MOST_SOURCES or len(tags) > model.MOST_TAGS_IN_ALL
    return None if too_many else sign_up.capture

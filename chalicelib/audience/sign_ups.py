"""Processing sign-ups in the worker, where no caller can tell from the time it takes whether an address is known."""

from datetime import datetime

from chalicelib.audience import model
from chalicelib.audience.model import Capture, SignUp, Subscriber
from chalicelib.audience.stores import captures, subscribers, suppressions
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.audience.stores.emails import EmailRow
from chalicelib.audience.stores.sign_ups import WaitingSignUp
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale


def process(pseudonym: str) -> str | None:
    """Give what waits under this pseudonym to the subscriber who has the address, or to a new one. Returns their id,
    also when a message is delivered twice; None if there is nobody to write to."""
    return retry_stale(lambda: _process(pseudonym))


def event_write(type: EventType, subscriber: Subscriber) -> tables.Write:
    sources = ",".join(sorted(subscriber.requested_sources))
    return outbox.event_write(type, subscriber.id, {"subscriber_id": subscriber.id, "source": sources})


def _process(pseudonym: str) -> str | None:
    row = sign_up_store.find(pseudonym)
    if not row or clock.parse(row.until) <= clock.now():
        return None
    if suppressions.is_suppressed(pseudonym):
        tables.transact(sign_up_store.delete_write(pseudonym))  # nothing is kept about somebody who wants no mail
        return None
    owner: str | None = row.owner
    for waiting in sign_up_store.list_waiting(row):
        owner = _register(waiting)
    return owner


def _register(waiting: WaitingSignUp) -> str:
    """Tried as if the address were new; if it is not, the failed condition says who has it."""
    now = clock.now()
    newcomer = _new_subscriber(waiting, now)
    try:
        tables.transact(
            *subscribers.create_writes(newcomer, now),
            captures.request_write(newcomer.id, waiting.sign_up.capture, now),
            event_write(EventType.SUBSCRIPTION_CREATED, newcomer),
            sign_up_store.process_write(waiting, newcomer.id),
        )
        return newcomer.id
    except Stale as stale:
        key = stale.found[0]
        subscriber = subscribers.find(key.subscriber_id) if isinstance(key, EmailRow) else None
        if not subscriber:
            raise
    _register_again(waiting, subscriber, now)
    return subscriber.id


def _new_subscriber(waiting: WaitingSignUp, now: datetime) -> Subscriber:
    return Subscriber(
        id=ids.new(),
        email=waiting.sign_up.address.typed,
        nickname=waiting.sign_up.nickname,
        status=model.PENDING,
        unsubscribe_secret=ids.secret(),
        created_at=waiting.requested_at,
        activated_at=None,
        confirmation_expires_at=now + model.CONFIRMATION_LIFE,
        sources=frozenset(),
        tags=frozenset(),
        requested_sources=frozenset({waiting.sign_up.capture.source}),
        requested_tags=waiting.sign_up.capture.tags,
    )


def _register_again(waiting: WaitingSignUp, subscriber: Subscriber, now: datetime) -> None:
    """What is new in this sign-up waits for the link to be opened; nothing changes for an active reader who names no
    new source."""
    capture = _new_capture(subscriber, waiting.sign_up)
    writes = subscribers.request_writes(subscriber, waiting.sign_up.nickname, capture)
    if capture:
        writes.append(captures.request_write(subscriber.id, capture, now))
    tables.transact(*writes, sign_up_store.process_write(waiting, subscriber.id))


def _new_capture(subscriber: Subscriber, sign_up: SignUp) -> Capture | None:
    """None also beyond the limits: anybody can sign anybody up, and must not be able to fill their row."""
    known = subscriber.sources | subscriber.requested_sources
    source = sign_up.capture.source
    if not sign_up.names_source or (subscriber.activated and source in known):
        return None
    tags = subscriber.tags | subscriber.requested_tags | sign_up.capture.tags
    too_many = len(known | {source}) > model.MOST_SOURCES or len(tags) > model.MOST_TAGS_IN_ALL
    return None if too_many or not _has_room(subscriber.id, sign_up.capture) else sign_up.capture


def _has_room(subscriber_id: str, capture: Capture) -> bool:
    """For the metadata of all captures together."""
    if capture.metadata is None:
        return True
    size = len(model.encode_metadata(capture.metadata).encode())
    return size + captures.metadata_bytes(subscriber_id, capture.source) <= model.MOST_METADATA_BYTES_IN_ALL

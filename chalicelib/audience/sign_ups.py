"""Processing sign-ups in the worker, where no caller can tell from the time it takes whether an address is known."""

from datetime import datetime

from msgspec import Struct

from chalicelib.audience import model
from chalicelib.audience.model import Capture, Request, SignUp, Subscriber
from chalicelib.audience.stores import captures, subscribers, suppressions
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.audience.stores.emails import EmailRow
from chalicelib.audience.stores.sign_ups import WaitingSignUp
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale


class Processed(Struct, frozen=True):
    """Who is to be written to, and the pseudonym of the network they signed up from."""

    subscriber_id: str
    network: str | None


def process(pseudonym: str) -> Processed | None:
    """Give what waits under this pseudonym to the subscriber who has the address, or to a new one. Returns who that
    is, also when a message is delivered twice; None if there is nobody to write to."""
    return retry_stale(lambda: _process(pseudonym))


def event_write(type: EventType, subscriber_id: str, source: str) -> tables.Write:
    return outbox.event_write(type, subscriber_id, {"subscriber_id": subscriber_id, "source": source})


def _process(pseudonym: str) -> Processed | None:
    row = sign_up_store.find(pseudonym)
    if not row or clock.parse(row.until) <= clock.now():
        return None
    if suppressions.is_suppressed(pseudonym):
        tables.transact(sign_up_store.delete_write(pseudonym))  # nothing is kept about somebody who wants no mail
        return None
    owner: str | None = row.owner
    for waiting in sign_up_store.list_waiting(row):
        owner = _register(waiting) or owner
    if not owner:
        sign_up_store.forget_unowned(pseudonym)
        return None
    return Processed(owner, row.network)


def _register(waiting: WaitingSignUp) -> str | None:
    """Tried as if the address were new; if it is not, the failed condition says who has it. Returns who is to be
    written to, if anybody."""
    now = clock.now()
    newcomer = _new_subscriber(waiting, now)
    request = _new_request(newcomer, waiting.sign_up, now)
    try:
        tables.transact(
            *subscribers.create_writes(newcomer, now),
            captures.request_write(newcomer, request),
            event_write(EventType.SUBSCRIPTION_CREATED, newcomer.id, request.capture.source),
            sign_up_store.process_write(waiting, newcomer.id),
        )
        return newcomer.id
    except Stale as stale:
        key = stale.found[0]
        subscriber = subscribers.find(key.subscriber_id) if isinstance(key, EmailRow) else None
        if not subscriber:
            raise
    return _register_again(waiting, subscriber, now)


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
    )


def _new_request(subscriber: Subscriber, sign_up: SignUp, now: datetime) -> Request:
    return Request(
        id=ids.new(),
        capture=sign_up.capture,
        nickname=None if subscriber.activated else sign_up.nickname,
        requested_at=now,
        expires_at=now + model.CONFIRMATION_LIFE,
        lang=sign_up.lang,
    )


def _register_again(waiting: WaitingSignUp, subscriber: Subscriber, now: datetime) -> str | None:
    """What is new in this sign-up waits for the link to be opened. Somebody pending who says nothing new gets their
    link once more; an active reader gets nothing."""
    if _has_news(subscriber, waiting.sign_up, now):
        writes = _request_writes(subscriber, _new_request(subscriber, waiting.sign_up, now))
        owner: str | None = subscriber.id
    else:
        writes = [subscribers.check_present_write(subscriber)]
        owner = None if subscriber.activated else subscriber.id
    tables.transact(*writes, sign_up_store.process_write(waiting, owner))
    return owner


def _request_writes(subscriber: Subscriber, request: Request) -> list[tables.Write]:
    source = request.capture.source
    known = source in subscriber.sources | subscriber.requested_sources
    created = [] if known else [event_write(EventType.SUBSCRIPTION_CREATED, subscriber.id, source)]
    return [*subscribers.request_writes(subscriber, request), captures.request_write(subscriber, request), *created]


def _has_news(subscriber: Subscriber, sign_up: SignUp, now: datetime) -> bool:
    """False also beyond the limits: anybody can sign anybody up, and must not be able to fill their row."""
    capture = sign_up.capture
    known = subscriber.sources | subscriber.requested_sources
    if len(known | {capture.source}) > model.MOST_SOURCES:
        return False
    if len(subscriber.tags | capture.tags) > model.MOST_TAGS_IN_ALL:
        return False
    if not _has_room(subscriber.id, capture):
        return False
    if subscriber.activated:
        all_counts = sign_up.names_source or subscriber.paused_at
        return subscriber.lacks(capture) if all_counts else not capture.tags <= subscriber.tags
    says_something = sign_up.names_source or capture.tags or capture.metadata is not None
    return bool(says_something) or not captures.list_requests(subscriber.id, now)


def _has_room(subscriber_id: str, capture: Capture) -> bool:
    """For the metadata of all captures together."""
    if capture.metadata is None:
        return True
    size = len(model.encode_metadata(capture.metadata).encode())
    return size + captures.metadata_bytes(subscriber_id, capture.source) <= model.MOST_METADATA_BYTES_IN_ALL

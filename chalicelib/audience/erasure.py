"""Removing people, and the do-not-contact list."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from chalicelib.audience import counts, leaving, model, personal_data
from chalicelib.audience.model import Request, Subscriber
from chalicelib.audience.stores import captures, emails, leavers, subscribers, suppressions
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.events import outbox
from chalicelib.events import service as events
from chalicelib.events.model import EventType
from chalicelib.kernel import addresses, clock, log, patience, settings
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import NotFound

REMOVE = "remove"
BY_EDITOR, BY_BOUNCE = "admin", "bounce"
BY_LINK, BY_PERSON = "link", "person"
_OWN_ACTS = (BY_LINK, BY_PERSON)
_RETRY_SECONDS = 60


def erase(subscriber: Subscriber, event_type: EventType, reason: str, *also: Write) -> None:
    """Delete all that is stored about a person, in one transaction with the event, which names them by id only."""
    count = counts.move_writes(clock.now(), left=[subscriber] if subscriber.activated else [])
    remembered = _remember_writes(subscriber) if event_type is EventType.UNSUBSCRIBED else []
    event = outbox.event_write(event_type, subscriber.id, {"subscriber_id": subscriber.id, "reason": reason})
    in_other_rooms = personal_data.erase_writes(subscriber.id)
    writes = [*subscribers.erase_writes(subscriber), *in_other_rooms, *count, *remembered, *also, event]
    _commit(writes, leaving.count_writes(subscriber) if subscriber.activated and reason in _OWN_ACTS else [])
    outbox.relay_soon(subscriber.id)


def _commit(writes: list[Write], tallies: list[Write]) -> None:
    if not tallies or not _commit_counted(*writes, *tallies):
        tables.transact(*writes)


def _commit_counted(*writes: Write) -> bool:
    """Rather without the tallies than not at all, whatever is wrong with them; what that takes is not taken from the
    time there is for leaving. If it was done after all and only the answer is lost, leaving again is `Stale`."""
    try:
        with patience.limited():
            tables.transact(*writes)
    except Stale:
        raise
    except Exception as failure:
        log.exception("leaving.not_counted", failure)
        return False
    return True


def _remember_writes(subscriber: Subscriber) -> list[Write]:
    """For imports, if the operator wants it: leaving leaves nothing else."""
    if not settings.current().remember_leavers or not subscriber.activated:
        return []
    mark = model.leaver_pseudonym(addresses.key(subscriber.email))
    return [leavers.renew_write(mark, leavers.HERE, clock.now())]


class Bounced(Struct, frozen=True):
    """Why somebody is removed: mail to the address `pseudonym` stands for came back then."""

    pseudonym: str
    at: datetime

    def concerns(self, subscriber: Subscriber) -> bool:
        """Not if they have another address by now, or have confirmed or resumed since."""
        is_theirs = self.pseudonym == model.address_pseudonym(addresses.key(subscriber.email))
        return is_theirs and not subscriber.is_newer_than(self.at)


def remove(subscriber_id: str, bounced: Bounced | None = None) -> bool:
    """By an editor, or because their mail `bounced`. False if events about the person have yet to be relayed: the
    queue then tries again later."""
    return retry_stale(lambda: _remove(subscriber_id, bounced))


def remove_bounced(subscriber_id: str, address_key: str, at: datetime) -> None:
    """Through the queue, because mail to this address bounced then."""
    _queue_removal(subscriber_id, Bounced(model.address_pseudonym(address_key), at))


def remove_later(subscriber_id: str, delay_seconds: int = 0) -> None:
    _queue_removal(subscriber_id, None, delay_seconds)


def handle_removal(message: Mapping[str, Any]) -> None:
    """From the queue. Whoever has left, or is not concerned any more, needs no second removal."""
    subscriber_id = str(message["subscriber_id"])
    found = message.get("bounced")
    try:
        remove(subscriber_id, Bounced(str(found["pseudonym"]), clock.parse(found["at"])) if found else None)
    except NotFound:
        log.info("removal.overtaken", subscriber_id=subscriber_id)


def expire(subscriber_id: str) -> bool:
    """By the clean-up, when nobody confirmed in time. False if there is nothing to do after all."""
    now = clock.now()
    subscriber = subscribers.find(subscriber_id)
    if not subscriber or subscriber.activated or not subscriber.expired(now):
        return False
    if not events.ensure_relayed(subscriber_id):
        return False  # the next clean-up finds it again
    try:
        in_other_rooms = personal_data.erase_writes(subscriber.id)
        # No event said that an import asked them.
        sources = [] if subscriber.import_id else sorted(subscriber.requested_sources)
        announcements = [_expired_event_write(subscriber.id, source) for source in sources]
        tables.transact(*subscribers.expire_writes(subscriber, now), *in_other_rooms, *announcements)
    except Stale:
        return False  # confirmed, extended or removed a moment ago
    return True


def expire_request(subscriber_id: str, source: str) -> bool:
    """By the clean-up, when nobody opened the link of one request in time. False if there is nothing to do after all,
    or if the whole sign-up has expired: `expire` then removes the request too."""
    now = clock.now()
    request = captures.find_request(subscriber_id, source)
    subscriber = subscribers.find(subscriber_id)
    if not request or request.expires_at > now or (subscriber and subscriber.expired(now)):
        return False
    try:
        tables.transact(*_expire_request_writes(subscriber_id, subscriber, request, now))
    except Stale:
        return False  # confirmed, replaced or erased a moment ago
    outbox.relay_soon(subscriber_id)
    return True


def suppress(address_key: str, set_by: str) -> None:
    """Put the address on the do-not-contact list; whoever has it is erased in the same transaction. Does nothing if
    it is on the list already: links are opened twice, and complaints come twice.

    Other rooms forget the address first: if this is cut short, whoever repeats it finds the reader still there."""
    personal_data.forget_address(address_key)
    retry_stale(lambda: _suppress(address_key, set_by))


def lift(address_key: str, set_by: str, *also: Write) -> bool:
    """Take the address off the do-not-contact list. False if it is not on it: then nothing is done."""
    pseudonym = model.address_pseudonym(address_key)
    event = outbox.event_write(EventType.DO_NOT_CONTACT_LIFTED, pseudonym, {"subscriber_id": None, "reason": set_by})
    try:
        tables.transact(suppressions.lift_write(pseudonym), *also, event)
    except Stale:
        return False
    return True


def _expire_request_writes(
    subscriber_id: str, subscriber: Subscriber | None, request: Request, now: datetime
) -> list[Write]:
    """A source that is confirmed stays so, and no event says otherwise. Without a subscriber (their row's TTL came
    first) the request would wait for ever."""
    source = request.capture.source
    withdrawal = [subscribers.withdraw_write(subscriber, source)] if subscriber else []
    if subscriber and source in subscriber.sources:
        return [captures.withdraw_write(subscriber_id, request, now), *withdrawal]
    event = _expired_event_write(subscriber_id, source)
    return [captures.expire_write(subscriber_id, request, now), *withdrawal, event]


def _expired_event_write(subscriber_id: str, source: str) -> Write:
    payload = {"subscriber_id": subscriber_id, "source": source}
    return outbox.event_write(EventType.SUBSCRIPTION_EXPIRED, subscriber_id, payload)


def _remove(subscriber_id: str, bounced: Bounced | None) -> bool:
    subscriber = subscribers.find(subscriber_id)
    if not subscriber:
        raise NotFound("No such subscriber")
    if bounced and not bounced.concerns(subscriber):
        raise NotFound("This subscriber has another address now, or has confirmed since")
    if not events.ensure_relayed(subscriber_id):
        _queue_removal(subscriber_id, bounced, _RETRY_SECONDS)
        return False
    erase(subscriber, EventType.UNSUBSCRIBED, BY_BOUNCE if bounced else BY_EDITOR)
    log.metric("Removed")
    return True


def _queue_removal(subscriber_id: str, bounced: Bounced | None, delay_seconds: int = 0) -> None:
    message: dict[str, Any] = {"kind": REMOVE, "subscriber_id": subscriber_id}
    if bounced:
        message["bounced"] = {"pseudonym": bounced.pseudonym, "at": clock.text(bounced.at)}
    queues.send("audience", message, delay_seconds)


def _suppress(address_key: str, set_by: str) -> None:
    now = clock.now()
    pseudonym = model.address_pseudonym(address_key)
    owner = emails.find_holder(address_key)
    subscriber = subscribers.find(owner) if owner else None
    if not subscriber and suppressions.is_suppressed(pseudonym):
        return
    suppression = suppressions.suppress_write(pseudonym, set_by, now)
    if subscriber:
        erase(subscriber, EventType.DO_NOT_CONTACT_SET, set_by, suppression)
        return
    event = outbox.event_write(EventType.DO_NOT_CONTACT_SET, pseudonym, {"subscriber_id": None, "reason": set_by})
    still_free = [] if owner else [emails.check_free_write(address_key, now)]
    tables.transact(suppression, sign_up_store.delete_write(pseudonym), *still_free, event)

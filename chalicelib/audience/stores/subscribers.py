"""Subscribers in DynamoDB. Functions that read return the model's values; functions whose names end in `_write` or
`_writes` return writes for the service to put into one transaction."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection

from chalicelib.audience import model
from chalicelib.audience.model import Capture, Subscriber
from chalicelib.audience.stores import captures, emails
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.audience.stores import tokens as token_store
from chalicelib.audience.stores.tokens import TokenRow
from chalicelib.kernel import addresses, clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Check, Delete, Put, Update, Write

# The clean-up removes an expired sign-up within the hour and records it. The table's TTL is only a fallback and must
# not come first.
_TTL_DELAY = timedelta(hours=24)


class ByStatus(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """For lists, newest first, and for the clean-up of pending ones."""

    class Meta:
        index_name = "by_status"
        projection = IncludeProjection(
            ["email", "nickname", "activated_at", "confirmation_expires_at", "sources", "tags"]
        )

    status = UnicodeAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class ByPause(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """Those who are paused, and nobody else: other rows have no `paused_at`."""

    class Meta:
        index_name = "by_pause"
        projection = IncludeProjection(
            ["email", "nickname", "created_at", "activated_at", "sources", "tags", "paused_because"]
        )

    status = UnicodeAttribute(hash_key=True)
    paused_at = UnicodeAttribute(range_key=True)


class SubscriberRow(tables.Row):
    class Meta:
        table_name = tables.name("subscribers")

    id = UnicodeAttribute(hash_key=True)
    email = UnicodeAttribute()
    nickname = UnicodeAttribute(null=True)
    status = UnicodeAttribute()
    unsubscribe_secret = UnicodeAttribute()
    created_at = UnicodeAttribute()
    activated_at = UnicodeAttribute(null=True)
    confirmation_expires_at = UnicodeAttribute(null=True)
    sources = UnicodeSetAttribute(null=True)
    tags = UnicodeSetAttribute(null=True)
    requested_sources = UnicodeSetAttribute(null=True, attr_name="asked_sources")
    requested_tags = UnicodeSetAttribute(null=True, attr_name="asked_tags")
    expires_at = NumberAttribute(null=True)
    paused_at = UnicodeAttribute(null=True)
    paused_because = UnicodeAttribute(null=True)
    resumed_at = UnicodeAttribute(null=True)

    by_status = ByStatus()
    by_pause = ByPause()


def find(subscriber_id: str) -> Subscriber | None:
    row = tables.get(SubscriberRow, subscriber_id)
    return parse_subscriber(row) if row else None


def find_with_tokens(subscriber_id: str, *kinds: str) -> tuple[Subscriber | None, dict[str, TokenRow]]:
    """The person and their tokens of these kinds, read in one transaction."""
    wanted: list[tuple[type[tables.Row], str, Any]] = [(SubscriberRow, subscriber_id, None)]
    wanted += [(TokenRow, subscriber_id, kind) for kind in kinds]
    row, *tokens = tables.get_together(*wanted)
    return parse_subscriber(row) if row else None, {token.kind: token for token in tokens if token}


def list_expired(now: datetime) -> Iterator[str]:
    condition = SubscriberRow.confirmation_expires_at <= clock.text(now)
    for row in tables.query_index(SubscriberRow.by_status, model.PENDING, filter_condition=condition):
        yield row.id


def create_writes(subscriber: Subscriber, now: datetime) -> list[Write]:
    assert subscriber.confirmation_expires_at
    until = subscriber.confirmation_expires_at
    row = SubscriberRow(
        subscriber.id,
        email=subscriber.email,
        nickname=subscriber.nickname,
        status=subscriber.status,
        unsubscribe_secret=subscriber.unsubscribe_secret,
        created_at=clock.text(subscriber.created_at),
        confirmation_expires_at=clock.text(until),
        requested_sources=set(subscriber.requested_sources),
        requested_tags=set(subscriber.requested_tags) or None,
        expires_at=clock.epoch(until + _TTL_DELAY),
    )
    key = emails.claim_write(subscriber, until, clock.epoch(until + _TTL_DELAY), now)
    return [key, Put(row, SubscriberRow.id.does_not_exist())]


def request_writes(subscriber: Subscriber, nickname: str | None, capture: Capture | None) -> list[Write]:
    """Somebody who is known signs up again: what is new waits for their confirmation."""
    actions: list[Any] = []
    if nickname and not subscriber.activated:
        actions.append(SubscriberRow.nickname.set(nickname))
    if capture:
        actions.append(SubscriberRow.requested_sources.add({capture.source}))
        if capture.tags:
            actions.append(SubscriberRow.requested_tags.add(set(capture.tags)))
    return [
        Update(SubscriberRow(subscriber.id), actions, _same_status(subscriber))
        if actions
        else check_present_write(subscriber)
    ]


def check_present_write(subscriber: Subscriber) -> Write:
    """Fails for somebody who has left since they were read."""
    return Check(SubscriberRow(subscriber.id), _same_status(subscriber))


def extend_writes(subscriber: Subscriber, until: datetime) -> list[Write]:
    """A new confirmation link gives a pending sign-up its full lifetime again."""
    ttl = clock.epoch(until + _TTL_DELAY)
    row = [SubscriberRow.confirmation_expires_at.set(clock.text(until)), SubscriberRow.expires_at.set(ttl)]
    return [
        Update(SubscriberRow(subscriber.id), row, _same_status(subscriber)),
        emails.extend_write(subscriber, until, ttl),
    ]


def activate_writes(subscriber: Subscriber, now: datetime) -> list[Write]:
    actions = [
        SubscriberRow.status.set(model.ACTIVATED),
        SubscriberRow.activated_at.set(clock.text(now)),
        SubscriberRow.confirmation_expires_at.remove(),
        SubscriberRow.expires_at.remove(),
        *_merge_actions(subscriber),
    ]
    return [
        Update(SubscriberRow(subscriber.id), actions, _same_status(subscriber)),
        emails.settle_write(subscriber),
        *captures.confirm_writes(subscriber, now),
    ]


def join_sources_writes(subscriber: Subscriber, now: datetime) -> list[Write]:
    """An active subscriber confirms further sources."""
    row = SubscriberRow(subscriber.id)
    return [
        Update(row, [*_merge_actions(subscriber), *_resume_actions(subscriber, now)], _same_status(subscriber)),
        *captures.confirm_writes(subscriber, now),
    ]


def rename_write(subscriber: Subscriber, nickname: str) -> Write:
    """An empty nickname removes the stored one."""
    action = SubscriberRow.nickname.set(nickname) if nickname else SubscriberRow.nickname.remove()
    return Update(SubscriberRow(subscriber.id), [action], _same_status(subscriber))


def change_email_writes(subscriber: Subscriber, new_email: str, now: datetime) -> list[Write]:
    """A sign-up that waits under the old address is deleted too, or it would bring that address back."""
    old_key, new_key = addresses.key(subscriber.email), addresses.key(new_email)
    return [
        *emails.swap_writes(subscriber, new_key, now),
        *([sign_up_store.delete_write(model.address_pseudonym(old_key))] if old_key != new_key else []),
        Update(
            SubscriberRow(subscriber.id),
            [SubscriberRow.email.set(new_email), *_resume_actions(subscriber, now)],
            _same_status(subscriber) & (SubscriberRow.email == subscriber.email),
        ),
    ]


def pause_write(subscriber: Subscriber, because: str, now: datetime) -> Write:
    """Not if the address has changed meanwhile: what bounced was mail to the one that was read."""
    actions = [
        SubscriberRow.paused_at.set(clock.text(now)),
        SubscriberRow.paused_because.set(because),
        SubscriberRow.resumed_at.remove(),
    ]
    same = _same_status(subscriber) & (SubscriberRow.email == subscriber.email)
    return Update(SubscriberRow(subscriber.id), actions, same & SubscriberRow.paused_at.does_not_exist())


def resume_write(subscriber: Subscriber, now: datetime) -> Write:
    row = SubscriberRow(subscriber.id)
    return Update(row, _resume_actions(subscriber, now), SubscriberRow.paused_at.exists())


def erase_writes(subscriber: Subscriber) -> list[Write]:
    """Delete everything that is stored about a person."""
    return [
        Delete(SubscriberRow(subscriber.id), _unchanged(subscriber) & (SubscriberRow.email == subscriber.email)),
        emails.delete_write(subscriber),
        sign_up_store.delete_write(model.address_pseudonym(addresses.key(subscriber.email))),
        *token_store.delete_writes(subscriber.id),
        *captures.delete_writes(subscriber),
    ]


def expire_writes(subscriber: Subscriber, now: datetime) -> list[Write]:
    """For a sign-up nobody confirmed: an id-only tombstone of each capture is kept for a while, and nothing else."""
    passed = SubscriberRow.confirmation_expires_at <= clock.text(now)
    return [
        Delete(SubscriberRow(subscriber.id), _unchanged(subscriber) & passed),
        *token_store.delete_writes(subscriber.id),
        *emails.delete_writes_if_owned(subscriber),
        *captures.expire_writes(subscriber, now),
    ]


def parse_subscriber(row: SubscriberRow) -> Subscriber:
    return Subscriber(
        id=row.id,
        email=row.email,
        nickname=row.nickname,
        status=row.status,
        unsubscribe_secret=row.unsubscribe_secret,
        created_at=clock.parse(row.created_at),
        activated_at=clock.parse(row.activated_at) if row.activated_at else None,
        confirmation_expires_at=(clock.parse(row.confirmation_expires_at) if row.confirmation_expires_at else None),
        sources=frozenset(row.sources or ()),
        tags=frozenset(row.tags or ()),
        requested_sources=frozenset(row.requested_sources or ()),
        requested_tags=frozenset(row.requested_tags or ()),
        paused_at=clock.parse(row.paused_at) if row.paused_at else None,
        paused_because=row.paused_because,
        resumed_at=clock.parse(row.resumed_at) if row.resumed_at else None,
    )


def _same_status(subscriber: Subscriber) -> Any:
    return SubscriberRow.status == subscriber.status


def _unchanged(subscriber: Subscriber) -> Any:
    """No source was requested or confirmed meanwhile: its capture would stay behind."""
    requested = _equals(SubscriberRow.requested_sources, subscriber.requested_sources)
    return _same_status(subscriber) & requested & _equals(SubscriberRow.sources, subscriber.sources)


def _equals(path: Any, sources: frozenset[str]) -> Any:
    return path == set(sources) if sources else path.does_not_exist()


def _resume_actions(subscriber: Subscriber, now: datetime) -> list[Any]:
    """None for somebody who is not paused."""
    if not subscriber.paused_at:
        return []
    return [
        SubscriberRow.paused_at.remove(),
        SubscriberRow.paused_because.remove(),
        SubscriberRow.resumed_at.set(clock.text(now)),
    ]


def _merge_actions(subscriber: Subscriber) -> list[Any]:
    """What was requested becomes confirmed. Set operations, so that a request made meanwhile is not lost."""
    actions: list[Any] = []
    if subscriber.requested_sources:
        actions.append(SubscriberRow.sources.add(set(subscriber.requested_sources)))
        actions.append(SubscriberRow.requested_sources.delete(set(subscriber.requested_sources)))
    if subscriber.requested_tags:
        actions.append(SubscriberRow.tags.add(set(subscriber.requested_tags)))
        actions.append(SubscriberRow.requested_tags.delete(set(subscriber.requested_tags)))
    return actions

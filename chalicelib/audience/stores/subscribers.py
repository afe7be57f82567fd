"""Subscribers in DynamoDB. Functions that read return the model's values; functions whose names end in `_write` or
`_writes` return writes for the service to put into one transaction."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from chalicelib.audience import model
from chalicelib.audience.model import Request, Subscriber
from chalicelib.audience.stores import captures, emails, pauses, searchable
from chalicelib.audience.stores import held as held_store
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.audience.stores import tokens as token_store
from chalicelib.audience.stores.subscriber_row import SubscriberRow as SubscriberRow
from chalicelib.audience.stores.tokens import TokenRow
from chalicelib.kernel import addresses, clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Check, Delete, Put, Update, Write

# The clean-up removes an expired sign-up within the hour and records it. The table's TTL is only a fallback and must
# not come first.
_TTL_DELAY = timedelta(hours=24)


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
        import_id=subscriber.import_id,
        imported_as=subscriber.fingerprint if subscriber.import_id else subscriber.imported_as,
        expires_at=_ttl(until),
    )
    key = emails.claim_write(subscriber, until, _ttl(until), now)
    return [key, Put(searchable.with_attributes(row), SubscriberRow.id.does_not_exist())]


def request_writes(subscriber: Subscriber, request: Request) -> list[Write]:
    """Somebody who is known signs up again. A pending sign-up lives as long as the latest of its requests. A request
    is added only to those it was weighed against, or two at once would pass the limits together."""
    source = request.capture.source
    actions: list[Any] = [SubscriberRow.requested_sources.add({source})]
    extension: list[Write] = []
    if not subscriber.activated:
        actions += _extend_actions(request.expires_at)
        extension.append(emails.extend_write(subscriber, request.expires_at, _ttl(request.expires_at)))
    return [Update(SubscriberRow(subscriber.id), actions, _unchanged(subscriber)), *extension]


def check_present_write(subscriber: Subscriber) -> Write:
    """Fails for somebody who has left since they were read."""
    return Check(SubscriberRow(subscriber.id), _same_status(subscriber))


def check_same_address_write(subscriber: Subscriber) -> Write:
    """Fails also if the address has changed since: what is about to be mailed there belongs to somebody else now."""
    return Check(SubscriberRow(subscriber.id), _same_status(subscriber) & _same_address(subscriber))


def extend_writes(subscriber: Subscriber, until: datetime) -> list[Write]:
    """A new confirmation link gives a pending sign-up its full lifetime again."""
    return [
        Update(SubscriberRow(subscriber.id), _extend_actions(until), _same_status(subscriber)),
        emails.extend_write(subscriber, until, _ttl(until)),
    ]


def await_mail_writes(subscriber: Subscriber, until: datetime) -> list[Write]:
    """A pending sign-up lives that long; an active subscriber has to be one still, with the same address."""
    return [check_same_address_write(subscriber)] if subscriber.activated else extend_writes(subscriber, until)


def activate_writes(subscriber: Subscriber, request: Request, now: datetime, *, keep_waiting: bool) -> list[Write]:
    """The first nickname stays; only somebody without one gets that of the request."""
    actions = [
        SubscriberRow.status.set(model.ACTIVATED),
        SubscriberRow.activated_at.set(clock.text(now)),
        SubscriberRow.confirmation_expires_at.remove(),
        SubscriberRow.expires_at.remove(),
        *_join_actions(request, keep_waiting=keep_waiting),
    ]
    nickname = subscriber.nickname or request.nickname
    if nickname and not subscriber.nickname:
        actions.append(SubscriberRow.nickname.set(nickname))
    actions += searchable.actions(subscriber.id, subscriber.email, nickname)
    unchanged = _same_status(subscriber) & _same_address(subscriber) & same_name(subscriber)
    return [Update(SubscriberRow(subscriber.id), actions, unchanged), emails.settle_write(subscriber)]


def join_write(subscriber: Subscriber, request: Request, now: datetime, *, keep_waiting: bool) -> Write:
    """An active subscriber confirms a further source, or further tags. Mail has reached them: that ends a pause."""
    actions = [*_join_actions(request, keep_waiting=keep_waiting), *pauses.resume_actions(subscriber, now)]
    return Update(SubscriberRow(subscriber.id), actions, _same_status(subscriber))


def withdraw_write(subscriber: Subscriber, source: str) -> Write:
    """A request of theirs has expired."""
    actions = [SubscriberRow.requested_sources.delete({source})]
    condition = _same_status(subscriber) & _same_standing(subscriber, source)
    return Update(SubscriberRow(subscriber.id), actions, condition)


def profile_writes(subscriber: Subscriber, nickname: str | None, respelled: str | None) -> list[Write]:
    """None leaves it as it is; an empty nickname removes the stored one; `respelled` is the same address in another
    spelling."""
    actions: list[Any] = []
    if nickname is not None:
        actions.append(SubscriberRow.nickname.set(nickname) if nickname else SubscriberRow.nickname.remove())
    if respelled is not None and respelled != subscriber.email:
        actions.append(SubscriberRow.email.set(respelled))
    if not actions:
        return []
    named = subscriber.nickname if nickname is None else nickname
    actions += searchable.rename_actions(subscriber, respelled or subscriber.email, named or None)
    unchanged = _same_status(subscriber) & _same_address(subscriber) & same_name(subscriber)
    return [Update(SubscriberRow(subscriber.id), actions, unchanged & same_shard(subscriber))]


def edit_write(subscriber: Subscriber, nickname: str | None, tags: frozenset[str]) -> Write:
    """By an editor, provided that neither has changed since it was read."""
    actions = [
        SubscriberRow.nickname.set(nickname) if nickname else SubscriberRow.nickname.remove(),
        SubscriberRow.tags.set(set(tags)) if tags else SubscriberRow.tags.remove(),
        *searchable.rename_actions(subscriber, subscriber.email, nickname),
    ]
    unchanged = _same_status(subscriber) & _same_address(subscriber) & same_name(subscriber) & same_shard(subscriber)
    return Update(SubscriberRow(subscriber.id), actions, unchanged & _equals(SubscriberRow.tags, subscriber.tags))


def change_email_writes(subscriber: Subscriber, new_email: str, now: datetime) -> list[Write]:
    """Whoever reads the old mailbox keeps no power over the subscription: the links that were mailed there end, and
    mails to the new address have a new unsubscribe secret. The previous one is accepted until the next change, so
    that the link in mails already sent keeps working. A sign-up that waits under the old address is deleted too, or
    it would bring that address back."""
    old_key, new_key = addresses.key(subscriber.email), addresses.key(new_email)
    actions: list[Any] = [SubscriberRow.email.set(new_email), *pauses.resume_actions(subscriber, now)]
    actions += searchable.rename_actions(subscriber, new_email, subscriber.nickname)
    writes: list[Write] = []
    if old_key != new_key:
        actions.append(SubscriberRow.unsubscribe_secret.set(ids.secret()))
        actions.append(SubscriberRow.previous_unsubscribe_secret.set(subscriber.unsubscribe_secret))
        writes.append(sign_up_store.delete_write(model.address_pseudonym(old_key)))
        writes += token_store.end_links_writes(subscriber.id)
    unchanged = _same_status(subscriber) & _same_address(subscriber) & same_name(subscriber) & same_shard(subscriber)
    return [
        *emails.swap_writes(subscriber, new_key, now),
        *writes,
        Update(SubscriberRow(subscriber.id), actions, unchanged),
    ]


def erase_writes(subscriber: Subscriber) -> list[Write]:
    """Delete all that is stored about a person. The address of an expired sign-up may belong to a newer one."""
    owned = [emails.delete_write(subscriber)] if subscriber.activated else emails.delete_writes_if_owned(subscriber)
    return [
        Delete(
            SubscriberRow(subscriber.id), _unchanged(subscriber) & _same_address(subscriber) & same_shard(subscriber)
        ),
        *owned,
        sign_up_store.delete_write(model.address_pseudonym(addresses.key(subscriber.email))),
        *token_store.delete_writes(subscriber.id),
        held_store.delete_write(subscriber.id),
        *captures.delete_writes(subscriber),
    ]


def expire_writes(subscriber: Subscriber, now: datetime) -> list[Write]:
    """For a sign-up nobody confirmed: an id-only tombstone of each capture is kept for a while, and nothing else."""
    passed = SubscriberRow.confirmation_expires_at <= clock.text(now)
    return [
        Delete(SubscriberRow(subscriber.id), _unchanged(subscriber) & passed),
        *token_store.delete_writes(subscriber.id),
        held_store.check_not_held_write(subscriber.id),
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
        previous_unsubscribe_secret=row.previous_unsubscribe_secret,
        paused_at=clock.parse(row.paused_at) if row.paused_at else None,
        paused_because=row.paused_because,
        resumed_at=clock.parse(row.resumed_at) if row.resumed_at else None,
        import_id=row.import_id,
        imported_as=row.imported_as,
        unmailed=row.unmailed,
        shard=row.shard,
    )


def is_unfilled(subscriber: Subscriber) -> Any:
    """A row of an earlier version, as it was read."""
    same = _same_status(subscriber) & _same_address(subscriber) & same_name(subscriber)
    return same & SubscriberRow.shard.does_not_exist()


def same_name(subscriber: Subscriber) -> Any:
    """For writes that fold the name they read together with the address."""
    return _is(SubscriberRow.nickname, subscriber.nickname)


def same_shard(subscriber: Subscriber) -> Any:
    """A row of an earlier version has not been filled in since it was read: whoever is, is counted."""
    return _is(SubscriberRow.shard, subscriber.shard)


def _same_status(subscriber: Subscriber) -> Any:
    return SubscriberRow.status == subscriber.status


def _same_address(subscriber: Subscriber) -> Any:
    return SubscriberRow.email == subscriber.email


def _unchanged(subscriber: Subscriber) -> Any:
    """No source was requested or confirmed meanwhile: its capture would stay behind."""
    requested = _equals(SubscriberRow.requested_sources, subscriber.requested_sources)
    return _same_status(subscriber) & requested & _equals(SubscriberRow.sources, subscriber.sources)


def _is(path: Any, value: str | None) -> Any:
    return path.does_not_exist() if value is None else path == value


def _equals(path: Any, sources: frozenset[str]) -> Any:
    return path == set(sources) if sources else path.does_not_exist()


def _same_standing(subscriber: Subscriber, source: str) -> Any:
    """The source is as new, requested or confirmed as it was when the subscriber was read."""
    requested = _contains(SubscriberRow.requested_sources, source, source in subscriber.requested_sources)
    return requested & _contains(SubscriberRow.sources, source, source in subscriber.sources)


def _contains(path: Any, source: str, expected: bool) -> Any:
    contains = path.contains(source)
    return contains if expected else ~contains


def _join_actions(request: Request, *, keep_waiting: bool) -> list[Any]:
    """Set operations, so that what was requested or confirmed meanwhile is not lost."""
    source = {request.capture.source}
    actions: list[Any] = [SubscriberRow.sources.add(source)]
    if request.capture.tags:
        actions.append(SubscriberRow.tags.add(set(request.capture.tags)))
    if not keep_waiting:
        actions.append(SubscriberRow.requested_sources.delete(source))
    return actions


def _extend_actions(until: datetime) -> list[Any]:
    return [SubscriberRow.confirmation_expires_at.set(clock.text(until)), SubscriberRow.expires_at.set(_ttl(until))]


def _ttl(until: datetime) -> int:
    return clock.epoch(until + _TTL_DELAY)

"""The tokens of mailed links: what is stored of them, and how each is used up."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.audience import model
from chalicelib.audience.model import Request, Subscriber
from chalicelib.audience.stores import requests
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Put, Update, Write
from chalicelib.kernel.tokens import Token


class TokenRow(tables.Row):
    """The key allows one token of a kind per person. `hash` is absent until the mail is being sent. `request` is what
    a confirmation link confirms; `adds`: it was mailed to somebody who was a reader already."""

    class Meta:
        table_name = tables.name("tokens")

    subscriber_id = UnicodeAttribute(hash_key=True)
    kind = UnicodeAttribute(range_key=True)
    hash = UnicodeAttribute(null=True)
    until = UnicodeAttribute()
    used_at = UnicodeAttribute(null=True)
    new_email = UnicodeAttribute(null=True)
    request = UnicodeAttribute(null=True)
    adds = BooleanAttribute(null=True)
    expires_at = NumberAttribute()

    def accepts(self, token: Token, now: datetime) -> bool:
        return self.hash is not None and token.matches(self.hash) and clock.parse(self.until) > now

    def mailed_for(self) -> Request | None:
        return requests.parse(self.request, clock.parse(self.until)) if self.request else None


def find(subscriber_id: str, kind: str) -> TokenRow | None:
    return tables.get(TokenRow, subscriber_id, kind)


def list_expired(now: datetime) -> Iterator[TokenRow]:
    yield from tables.scan(TokenRow, filter_condition=TokenRow.until <= clock.text(now), consistent_read=True)


def issue_write(subscriber_id: str, kind: str, token: Token, until: datetime) -> Write:
    return Update(TokenRow(subscriber_id, kind), _issue_actions(token, until))


def issue_requested_write(row: TokenRow, token: Token) -> Write:
    """For the address that was read from the row, and only while the row still waits for it: a link must not confirm
    an address it was not mailed to, nor work again after it was used."""
    actions = _issue_actions(token, clock.parse(row.until))
    return Update(TokenRow(row.subscriber_id, row.kind), actions, TokenRow.new_email == row.new_email)


def issue_confirmation_write(subscriber: Subscriber, request: Request, token: Token, until: datetime) -> Write:
    """With a copy of the request: the link keeps its meaning when a newer request takes the place of this one before
    its own link is mailed."""
    actions = [
        *_issue_actions(token, until),
        TokenRow.request.set(requests.encode(request)),
        TokenRow.adds.set(True) if subscriber.gets_campaigns else TokenRow.adds.remove(),
    ]
    return Update(TokenRow(subscriber.id, model.CONFIRM), actions)


def use_write(row: TokenRow, now: datetime) -> Write:
    """Used up, but recognised until it expires: people click twice, and link scanners click first."""
    actions = [TokenRow.used_at.set(clock.text(now)), TokenRow.new_email.remove(), TokenRow.request.remove()]
    return Update(TokenRow(row.subscriber_id, row.kind), actions, _is_unused(row))


def consume_write(row: TokenRow) -> Write:
    return Delete(TokenRow(row.subscriber_id, row.kind), _is_unused(row))


def renew_write(row: TokenRow, fresh: Token) -> Write:
    """A new secret for as long as the old one would have worked."""
    return Update(TokenRow(row.subscriber_id, row.kind), [TokenRow.hash.set(fresh.hash)], _is_unused(row))


def end_links_writes(subscriber_id: str) -> list[Write]:
    """The profile link and the confirmation link, if there are any, stop working."""
    return [Delete(TokenRow(subscriber_id, kind)) for kind in (model.MAGIC_LINK, model.CONFIRM)]


def request_change_write(subscriber: Subscriber, new_email: str, until: datetime) -> Write:
    row = TokenRow(
        subscriber.id,
        model.CHANGE_EMAIL,
        until=clock.text(until),
        new_email=new_email,
        expires_at=clock.epoch(until),
    )
    return Put(row)


def request_lift_write(id: str, address: str, until: datetime) -> Write:
    row = TokenRow(id, model.LIFT, until=clock.text(until), new_email=address, expires_at=clock.epoch(until))
    return Put(row)


def owe_write(subscriber_id: str, kind: str, until: datetime, over: datetime) -> Write:
    """A mail that is to be sent once. It is looked at again from `until` on, and given up when it is `over`."""
    return Put(TokenRow(subscriber_id, kind, until=clock.text(until), expires_at=clock.epoch(over)))


def take(row: TokenRow, now: datetime) -> bool:
    """What is owed is this worker's now; False if it was taken before, or is gone."""
    try:
        condition = (TokenRow.until == row.until) & TokenRow.used_at.does_not_exist()
        tables.update(TokenRow(row.subscriber_id, row.kind), [TokenRow.used_at.set(clock.text(now))], condition)
    except Stale:
        return False
    return True


def put_back(row: TokenRow) -> None:
    """It was taken, and not sent."""
    try:
        tables.update(TokenRow(row.subscriber_id, row.kind), [TokenRow.used_at.remove()], TokenRow.until == row.until)
    except Stale:
        return


def forget(row: TokenRow) -> None:
    """Delete an expired token, unless a new one has taken its place."""
    try:
        tables.delete(TokenRow(row.subscriber_id, row.kind), TokenRow.until == row.until)
    except Stale:
        return


def delete_writes(subscriber_id: str) -> list[Write]:
    return [Delete(TokenRow(subscriber_id, kind)) for kind in model.TOKEN_KINDS]


def _is_unused(row: TokenRow) -> Any:
    return (TokenRow.hash == row.hash) & TokenRow.used_at.does_not_exist()


def _issue_actions(token: Token, until: datetime) -> list[Any]:
    return [
        TokenRow.hash.set(token.hash),
        TokenRow.until.set(clock.text(until)),
        TokenRow.expires_at.set(clock.epoch(until)),
        TokenRow.used_at.remove(),
    ]

"""Sign-ups that wait for the worker, beside the links: what was said, under a keyed hash of the address."""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import size

from chalicelib.audience import model
from chalicelib.audience.model import SignUp
from chalicelib.kernel import addresses, clock
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Update, Write

# How long the queue goes on trying by itself.
_PATIENCE = timedelta(minutes=15)
# Nobody signs up as often before the worker comes, and a row ends at 400 KB: the largest sign-up takes 17 of them.
_MOST_WAITING = 20


class SignUpRow(tables.Row):
    """Each text goes from `said` with the transaction that takes it in, and whose it was stays as `owner`: there a
    worker's second try finds whom to write to."""

    class Meta:
        table_name = tables.name("tokens")

    mark = UnicodeAttribute(hash_key=True, attr_name="subscriber_id")
    kind = UnicodeAttribute(range_key=True)
    said = UnicodeSetAttribute(null=True)
    owner = UnicodeAttribute(null=True)
    until = UnicodeAttribute()
    expires_at = NumberAttribute()


class Waiting(Struct, frozen=True):
    mark: str
    text: str
    asked_at: datetime
    sign_up: SignUp


def find(mark: str) -> SignUpRow | None:
    return tables.get(SignUpRow, mark, model.SIGN_UP)


def list_waiting(row: SignUpRow) -> list[Waiting]:
    """In the order they came: of two nicknames the last one counts."""
    return sorted((_read(row.mark, text) for text in row.said or ()), key=lambda one: one.asked_at)


def list_left_behind(now: datetime) -> Iterator[str]:
    """Marks of those who should have been taken in and written to long ago, while it is not too late for it."""
    late = clock.text(now + model.CONFIRMATION_LIFE - _PATIENCE)
    condition = (SignUpRow.kind == model.SIGN_UP) & SignUpRow.until.between(clock.text(now), late)
    for row in tables.scan(SignUpRow, filter_condition=condition, consistent_read=True):
        yield row.mark


def keep(sign_up: SignUp, now: datetime) -> str:
    """Whoever's it is: nothing is looked up, so how it went tells nothing. Returns the mark it is found by."""
    mark, until = model.address_pseudonym(sign_up.address.key), now + model.CONFIRMATION_LIFE
    actions = [
        SignUpRow.said.add({_text(sign_up, now)}),
        SignUpRow.until.set(clock.text(until)),
        SignUpRow.expires_at.set(clock.epoch(until)),
    ]
    room = SignUpRow.said.does_not_exist() | (size(SignUpRow.said) < _MOST_WAITING)  # type: ignore[no-untyped-call]
    with suppress(Stale):  # no more room: those before it will do
        tables.update(SignUpRow(mark, model.SIGN_UP), actions, room)
    return mark


def take_write(one: Waiting, owner: str) -> Write:
    actions = [SignUpRow.owner.set(owner), SignUpRow.said.delete({one.text})]
    return Update(SignUpRow(one.mark, model.SIGN_UP), actions, SignUpRow.said.contains(one.text))


def forget(mark: str) -> None:
    """Once whoever it was has been written to."""
    with suppress(Stale):  # they have just signed up again
        tables.delete(SignUpRow(mark, model.SIGN_UP), SignUpRow.said.does_not_exist())


def delete_write(mark: str) -> Write:
    return Delete(SignUpRow(mark, model.SIGN_UP))


def _text(sign_up: SignUp, now: datetime) -> str:
    capture = sign_up.capture
    said = {
        "asked_at": clock.text(now),
        "email": sign_up.address.typed,
        "nickname": sign_up.nickname,
        "names_source": sign_up.names_source,
        "source": capture.source_raw,
        "tags": sorted(capture.tags),
        "metadata": capture.metadata,
        "ip_hash": capture.ip_hash,
    }
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def _read(mark: str, text: str) -> Waiting:
    said = json.loads(text)
    sign_up = SignUp(
        address=Address(said["email"], addresses.key(said["email"])),
        nickname=said["nickname"],
        capture=model.capture(said["source"], said["tags"], said["metadata"], said["ip_hash"]),
        names_source=said["names_source"],
    )
    return Waiting(mark, text, clock.parse(said["asked_at"]), sign_up)

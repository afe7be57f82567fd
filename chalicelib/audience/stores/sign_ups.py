"""Sign-ups that wait for the worker, in the table of the tokens, under the pseudonym of their address."""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import size

from chalicelib.audience import model
from chalicelib.audience.model import SignUp
from chalicelib.kernel import addresses, clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Update, Write

# How long the queue retries by itself.
_RETRIED_FOR = timedelta(minutes=15)
# More than anybody needs before the worker runs; a row may have 400 KB, and the largest sign-up takes 17 KB.
_MOST_WAITING = 20


class SignUpRow(tables.Row):
    """The transaction that processes a sign-up removes its text and sets `owner`, so that a worker's second attempt
    knows whom to write to."""

    class Meta:
        table_name = tables.name("tokens")

    pseudonym = UnicodeAttribute(hash_key=True, attr_name="subscriber_id")
    kind = UnicodeAttribute(range_key=True)
    texts = UnicodeSetAttribute(null=True, attr_name="said")
    owner = UnicodeAttribute(null=True)
    network = UnicodeAttribute(null=True)
    until = UnicodeAttribute()
    expires_at = NumberAttribute()


class WaitingSignUp(Struct, frozen=True):
    pseudonym: str
    text: str
    requested_at: datetime
    sign_up: SignUp


def find(pseudonym: str) -> SignUpRow | None:
    return tables.get(SignUpRow, pseudonym, model.SIGN_UP)


def list_waiting(row: SignUpRow) -> list[WaitingSignUp]:
    """Oldest first: of two nicknames the first one counts."""
    return sorted((_parse(row.pseudonym, text) for text in row.texts or ()), key=lambda waiting: waiting.requested_at)


def list_overdue(now: datetime) -> Iterator[str]:
    """Pseudonyms of sign-ups that the queue gave up on and that have not expired yet."""
    late = clock.text(now + model.CONFIRMATION_LIFE - _RETRIED_FOR)
    condition = (SignUpRow.kind == model.SIGN_UP) & SignUpRow.until.between(clock.text(now), late)
    for row in tables.scan(SignUpRow, filter_condition=condition, consistent_read=True):
        yield row.pseudonym


def add(sign_up: SignUp, network: str | None, now: datetime) -> str:
    """Returns the pseudonym to find it by. Nothing is looked up, so the outcome reveals nothing about the address.
    `network` is a pseudonym of where it came from."""
    pseudonym, until = model.address_pseudonym(sign_up.address.key), now + model.CONFIRMATION_LIFE
    actions = [
        SignUpRow.texts.add({_encode(sign_up, now)}),
        SignUpRow.until.set(clock.text(until)),
        SignUpRow.expires_at.set(clock.epoch(until)),
        SignUpRow.network.set(network) if network else SignUpRow.network.remove(),
    ]
    room = SignUpRow.texts.does_not_exist() | (size(SignUpRow.texts) < _MOST_WAITING)  # type: ignore[no-untyped-call]
    with suppress(Stale):  # no more room: the earlier ones are enough
        tables.update(SignUpRow(pseudonym, model.SIGN_UP), actions, room)
    return pseudonym


def process_write(waiting: WaitingSignUp, owner: str | None) -> Write:
    """`owner` is who is to be written to because of it; None leaves that as it is."""
    actions: list[Any] = [SignUpRow.texts.delete({waiting.text})]
    if owner:
        actions.append(SignUpRow.owner.set(owner))
    return Update(SignUpRow(waiting.pseudonym, model.SIGN_UP), actions, SignUpRow.texts.contains(waiting.text))


def forget(pseudonym: str) -> None:
    """After the person has been written to."""
    with suppress(Stale):  # they have just signed up again
        tables.delete(SignUpRow(pseudonym, model.SIGN_UP), SignUpRow.texts.does_not_exist())


def forget_unowned(pseudonym: str) -> None:
    """If nobody is to be written to."""
    unowned = SignUpRow.texts.does_not_exist() & SignUpRow.owner.does_not_exist()
    with suppress(Stale):
        tables.delete(SignUpRow(pseudonym, model.SIGN_UP), unowned)


def delete_write(pseudonym: str) -> Write:
    return Delete(SignUpRow(pseudonym, model.SIGN_UP))


def _encode(sign_up: SignUp, now: datetime) -> str:
    capture = sign_up.capture
    fields = {
        "asked_at": clock.text(now),
        "email": sign_up.address.typed,
        "nickname": sign_up.nickname,
        "names_source": sign_up.names_source,
        "source": capture.source_raw,
        "tags": sorted(capture.tags),
        "metadata": capture.metadata,
        "ip_hash": capture.ip_hash,
    }
    if sign_up.lang:
        fields["lang"] = sign_up.lang
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _parse(pseudonym: str, text: str) -> WaitingSignUp:
    fields = json.loads(text)
    sign_up = SignUp(
        address=addresses.from_valid(fields["email"]),
        nickname=fields["nickname"],
        capture=model.parse_capture(fields["source"], fields["tags"], fields["metadata"], fields["ip_hash"]),
        names_source=fields["names_source"],
        lang=fields.get("lang"),
    )
    return WaitingSignUp(pseudonym, text, clock.parse(fields["asked_at"]), sign_up)

"""Accounts. One more row counts them; it is updated in the transactions that create and close accounts, so the total
of a list costs one read.

Who has left keeps a row of ids and times: address and password hash are removed in the moment they go, and with
`shelf` the row leaves every list. `todo` and `due_at` are there only while something has to be done about an account:
its address to be verified, or the departure to be finished.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection, KeysOnlyProjection

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Check, Put, Update, Write
from chalicelib.members.model import DEPART, VERIFY, Member

_MEMBER = "member"
_COUNT = "count"
_LISTED = ("email", "created_at", "verified_at", "last_login_at", "sightings", "shared")


class _Listed(GlobalSecondaryIndex["MemberRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "listed"
        projection = IncludeProjection(list(_LISTED))

    shelf = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)


class _Due(GlobalSecondaryIndex["MemberRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    todo = UnicodeAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class MemberRow(tables.Row):
    class Meta:
        table_name = tables.name("members")

    id = UnicodeAttribute(hash_key=True)
    shelf = UnicodeAttribute(null=True)
    email = UnicodeAttribute(null=True)
    password_hash = UnicodeAttribute(null=True)
    generation = NumberAttribute(null=True)
    created_at = UnicodeAttribute(null=True)
    verified_at = UnicodeAttribute(null=True)
    last_login_at = UnicodeAttribute(null=True)
    deleted_at = UnicodeAttribute(null=True)
    sightings = NumberAttribute(null=True)
    shared = NumberAttribute(null=True)
    todo = UnicodeAttribute(null=True)
    due_at = UnicodeAttribute(null=True)
    listed = _Listed()
    due = _Due()

    # Only in the row that counts:
    total = NumberAttribute(null=True)


def find(member_id: str) -> Member | None:
    """None if there is none, or if they have left."""
    return member_of(tables.get(MemberRow, member_id))


def find_with_password(member_id: str) -> tuple[Member | None, str | None]:
    row = tables.get(MemberRow, member_id)
    member = member_of(row)
    return (member, row.password_hash) if row and member else (None, None)


def count() -> int:
    row = tables.get(MemberRow, _COUNT)
    return int(row.total or 0) if row else 0


def list_newest(most: int) -> list[Member]:
    """By an index that may be a moment late, and that does not know generations."""
    rows = tables.query(MemberRow, _MEMBER, index_name="listed", scan_index_forward=False, limit=most)
    return [member for row in rows if (member := member_of(row))]


def list_due(todo: str, until: datetime) -> Iterator[str]:
    """Ids of accounts about which this had to be done by then, those that wait longest first."""
    before = MemberRow.due_at <= clock.text(until)
    for row in tables.query(MemberRow, todo, range_key_condition=before, index_name="due"):
        yield row.id


def is_departing(member_id: str) -> bool:
    row = tables.get(MemberRow, member_id)
    return row is not None and row.todo == DEPART


def finish_departure(member_id: str) -> None:
    try:
        tables.update(MemberRow(member_id), [MemberRow.todo.remove(), MemberRow.due_at.remove()], _departing())
    except Stale:
        return  # a twin has finished it


def create_writes(member: Member, password_hash: str) -> list[Write]:
    row = MemberRow(
        member.id,
        shelf=_MEMBER,
        email=member.email,
        password_hash=password_hash,
        generation=member.generation,
        created_at=clock.text(member.created_at),
        verified_at=clock.text(member.verified_at) if member.verified_at else None,
        sightings=0,
        shared=0,
        todo=VERIFY if member.closes_at else None,
        due_at=clock.text(member.closes_at) if member.closes_at else None,
    )
    return [Put(row, MemberRow.id.does_not_exist()), _count_write(1)]


def sign_in_write(member: Member, now: datetime) -> Write:
    """Only with the password that was checked: a changed one has another generation."""
    return Update(MemberRow(member.id), [MemberRow.last_login_at.set(clock.text(now))], _unchanged(member))


def change_password_write(member: Member, password_hash: str) -> Write:
    """Ends all sessions: their generation is the one before."""
    return Update(MemberRow(member.id), _new_password(member, password_hash), _unchanged(member))


def reset_password_write(member: Member, password_hash: str, now: datetime) -> Write:
    """As a change, and whoever read the mail with the link has the address."""
    actions = [*_new_password(member, password_hash), *_verified(member, now)]
    return Update(MemberRow(member.id), actions, _unchanged(member))


def verify_write(member: Member, now: datetime) -> Write:
    return Update(MemberRow(member.id), _verified(member, now), MemberRow.shelf.exists())


def leave_writes(member: Member, now: datetime) -> list[Write]:
    """Everything personal goes at once. Not if anything about the account has changed that matters: the password, or
    whether its address is verified."""
    actions = [
        MemberRow.shelf.remove(),
        MemberRow.email.remove(),
        MemberRow.password_hash.remove(),
        MemberRow.verified_at.remove(),
        MemberRow.generation.add(1),
        MemberRow.deleted_at.set(clock.text(now)),
        MemberRow.todo.set(DEPART),
        MemberRow.due_at.set(clock.text(now)),
    ]
    return [Update(MemberRow(member.id), actions, _as_read(member)), _count_write(-1)]


def count_write(member_id: str, sightings: int, shared: int) -> Write:
    """Only while they are a member."""
    row, present = MemberRow(member_id), MemberRow.shelf.exists()
    changes = ((MemberRow.sightings, sightings), (MemberRow.shared, shared))
    actions = [attribute.add(by) for attribute, by in changes if by]
    return Update(row, actions, present) if actions else Check(row, present)


def check_same_write(member: Member) -> Write:
    """Nothing has happened to the account since it was read that a mail about it would have to know."""
    return Check(MemberRow(member.id), _as_read(member))


def member_of(row: MemberRow | None) -> Member | None:
    """What other stores read together with theirs is understood here."""
    if not row or not row.shelf or not row.email:
        return None
    return Member(
        id=row.id,
        email=row.email,
        created_at=clock.parse(row.created_at),
        verified_at=clock.parse(row.verified_at) if row.verified_at else None,
        last_login_at=clock.parse(row.last_login_at) if row.last_login_at else None,
        generation=int(row.generation or 0),
        sightings=int(row.sightings or 0),
        shared=int(row.shared or 0),
    )


def _count_write(by: int) -> Write:
    return Update(MemberRow(_COUNT), [MemberRow.total.add(by)])


def _new_password(member: Member, password_hash: str) -> list[Any]:
    return [MemberRow.password_hash.set(password_hash), MemberRow.generation.set(member.generation + 1)]


def _verified(member: Member, now: datetime) -> list[Any]:
    first = member.verified_at or now
    return [MemberRow.verified_at.set(clock.text(first)), MemberRow.todo.remove(), MemberRow.due_at.remove()]


def _unchanged(member: Member) -> Any:
    return MemberRow.shelf.exists() & (MemberRow.generation == member.generation)


def _as_read(member: Member) -> Any:
    """Neither the password has changed, nor has the address been verified."""
    return _unchanged(member) if member.verified else _unchanged(member) & MemberRow.verified_at.does_not_exist()


def _departing() -> Any:
    return MemberRow.todo == DEPART

"""Sessions, under the member they belong to: what is stored of a cookie is a hash of its secret."""

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Put, Write
from chalicelib.members.model import Member, Session
from chalicelib.members.stores.members import MemberRow, member_of


class SessionRow(tables.Row):
    class Meta:
        table_name = tables.name("sessions")

    member_id = UnicodeAttribute(hash_key=True)
    hash = UnicodeAttribute(range_key=True)
    generation = NumberAttribute()
    created_at = UnicodeAttribute()
    until = UnicodeAttribute()
    expires_at = NumberAttribute()


def find_with_member(member_id: str, hash: str) -> tuple[Member | None, Session | None]:
    """As of one moment, in one request."""
    row, session = tables.get_together((MemberRow, member_id, None), (SessionRow, member_id, hash))
    return member_of(row), _session(session) if session else None


def list_all(member_id: str) -> list[Session]:
    return [_session(row) for row in tables.query(SessionRow, member_id, consistent_read=True)]


def delete(member_id: str, hash: str) -> None:
    tables.delete(SessionRow(member_id, hash))


def create_write(session: Session) -> Write:
    row = SessionRow(
        session.member_id,
        session.hash,
        generation=session.generation,
        created_at=clock.text(session.created_at),
        until=clock.text(session.until),
        expires_at=clock.epoch(session.until),
    )
    return Put(row)


def end_write(member_id: str, hash: str) -> Write:
    """There may be no such session."""
    return Delete(SessionRow(member_id, hash))


def replace_write(session: Session) -> Write:
    """For a transaction that begins another in its place: not if this one has ended meanwhile."""
    row = SessionRow(session.member_id, session.hash)
    return Delete(row, SessionRow.generation == session.generation)


def _session(row: SessionRow) -> Session:
    return Session(row.member_id, row.hash, int(row.generation), clock.parse(row.created_at), clock.parse(row.until))

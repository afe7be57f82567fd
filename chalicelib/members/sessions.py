"""Sessions: who is signed in on which device. A cookie holds the member's id and a secret of 256 bits; only a hash of
the secret is stored.

A session counts as long as its generation is the member's. So all sessions end in the moment the member's generation
grows, in the same transaction that changes a password, however many there are.
"""

import hashlib
import re
import secrets
from datetime import datetime

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws.tables import Write
from chalicelib.members import model
from chalicelib.members.model import Member, Session, SignedIn
from chalicelib.members.stores import sessions as store

MAX_AGE = int(model.SESSION_LIFE.total_seconds())

_VALUE = re.compile(r"([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})\.([A-Za-z0-9_-]{43})\Z")


def begin_write(member: Member, now: datetime) -> tuple[str, Write]:
    """A new cookie value, and the write that makes it a session."""
    secret = secrets.token_urlsafe(32)
    session = Session(member.id, _hash(secret), member.generation, now, now + model.SESSION_LIFE)
    return f"{member.wire_id}.{secret}", store.create_write(session)


def find(value: str) -> SignedIn | None:
    """Who is signed in with this cookie, in one request. The table expires old sessions late: the clock decides."""
    place = _parse(value)
    if not place:
        return None
    member, session = store.find_with_member(*place)
    if not member or not session or session.until <= clock.now() or session.generation != member.generation:
        return None
    return SignedIn(member, session)


def end(value: str) -> None:
    """At once. There may be no such session."""
    place = _parse(value)
    if place:
        store.delete(*place)


def end_writes(value: str) -> list[Write]:
    """The same for a transaction."""
    place = _parse(value)
    return [store.end_write(*place)] if place else []


def list_open(member: Member) -> list[Session]:
    now = clock.now()
    return [
        session
        for session in store.list_all(member.id)
        if session.until > now and session.generation == member.generation
    ]


def _parse(value: str) -> tuple[str, str] | None:
    """The member's id and the hash of the secret."""
    found = _VALUE.match(value)
    id = "-".join(found.groups()[:5]) if found else ""
    return (id, _hash(found.group(6))) if found and ids.is_id(id) else None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()

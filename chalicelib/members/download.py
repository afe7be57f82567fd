"""All that is stored about a member, as JSON for them to download, in parts: there may be any number of sightings."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from msgspec import to_builtins

from chalicelib.kernel import clock
from chalicelib.kernel.aws import files
from chalicelib.members import bodies, member_data, sessions
from chalicelib.members.model import Member

TYPE, NAME = "application/json", "my-data.json"
# Lambda allows answers of 6 MB, measured as JSON, in which an accented letter takes six bytes.
_LARGEST_ANSWER = 1_000_000


def prepare(member: Member) -> tuple[str, str | None]:
    """The file itself or, when it is too large for one answer, a signed link to it."""
    parts = json_parts(member)
    held: list[str] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part.encode())
        if size > _LARGEST_ANSWER:
            return "", files.publish((text.encode() for text in chain(held, parts)), TYPE, NAME)
    return "".join(held), None


def json_parts(member: Member) -> Iterator[str]:
    account = bodies.describe_entry(member)
    verified_at = clock.epoch(member.verified_at) if member.verified_at else None
    yield f'{{"account":{_json(to_builtins(account) | {"verified_at": verified_at})}'
    yield from _list("sessions", _sessions(member))
    for room, things in member_data.about(member.id):
        yield from _list(room, things)
    yield "}\n"


def _sessions(member: Member) -> Iterator[bodies.OpenSession]:
    for session in sessions.list_open(member):
        yield bodies.OpenSession(clock.epoch(session.created_at), clock.epoch(session.until))


def _list(name: str, things: Iterable[Any]) -> Iterator[str]:
    yield f',"{name}":['
    separator = ""
    for thing in things:
        yield separator + _json(thing)
        separator = ","
    yield "]"


def _json(value: Any) -> str:
    return json.dumps(to_builtins(value), ensure_ascii=False, separators=(",", ":"))

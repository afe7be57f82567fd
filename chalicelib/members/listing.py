"""The list of members as editors read it: newest first, in numbered pages."""

from msgspec import Struct

from chalicelib.members.model import Member
from chalicelib.members.stores import members


class Page(Struct, frozen=True):
    items: list[Member]
    total: int


def list_page(number: int, size: int) -> Page:
    """A page beyond the last has no items, and reads none."""
    total = members.count()
    start = (number - 1) * size
    return Page(members.list_newest(start + size)[start:] if start < total else [], total)

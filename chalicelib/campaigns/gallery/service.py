"""Pictures with the campaigns that show them. They are made, listed and deleted by `media`."""

from collections.abc import Iterable
from itertools import islice

from msgspec import Struct

from chalicelib.campaigns import pictures, store
from chalicelib.campaigns.model import Campaign
from chalicelib.media import library
from chalicelib.media.library import Upload
from chalicelib.media.model import Kept

SCOPE = "pictures"
# On a page of many; of one picture, all that are named.
_SHOWN_OF_MANY = 5


class Picture(Struct, frozen=True):
    """`campaigns` are the newest that show it. What else does is counted in `uses`: more of them, items of the inbox,
    or the publication itself (`on_site`: its logo or one of the last, or the welcome email)."""

    kept: Kept
    campaigns: tuple[Campaign, ...]
    on_site: bool


class Page(Struct, frozen=True):
    items: list[Picture]
    next_place: str | None


def list_page(limit: int, place: str | None, uploaded_only: bool = False) -> Page:
    found = library.list_page(limit, place, uploaded_only)
    return Page(_with_campaigns(found.items, _SHOWN_OF_MANY), found.next_place)


def find(media_id: str) -> tuple[Upload, Picture | None]:
    """The picture is there when it is ready."""
    found = library.find(media_id)
    return found, describe(found.kept) if found.kept else None


def describe(kept: Kept) -> Picture:
    return _with_campaigns([kept], None)[0]


def _with_campaigns(found: Iterable[Kept], most: int | None) -> list[Picture]:
    """In one request for a hundred campaigns."""
    named = [(kept, tuple(islice(_list_campaign_ids(kept), most))) for kept in found]
    known = store.find_many({id for _, ids in named for id in ids})
    return [
        Picture(kept, tuple(known[id] for id in ids if id in known), any(map(_is_site, kept.used_in)))
        for kept, ids in named
    ]


def _list_campaign_ids(kept: Kept) -> list[str]:
    """The newest first."""
    return sorted({id for use in kept.used_in if (id := pictures.campaign_in(use))}, reverse=True)


def _is_site(use: str) -> bool:
    return pictures.campaign_in(use) is None

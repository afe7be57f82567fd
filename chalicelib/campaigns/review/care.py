"""What a careful editor looks for before sending: items that are not finished, words left over from writing, pictures
that tell strangers who reads, and how much of a reader's time it takes."""

import re
from collections.abc import Collection, Iterator, Sequence
from math import ceil
from urllib.parse import urlsplit

from msgspec import Struct

from chalicelib.campaigns.content.blocks import Item
from chalicelib.campaigns.content.links import Links
from chalicelib.campaigns.content.renderer import Mailing
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.kernel import settings
from chalicelib.kernel.findings import Finding, Level
from chalicelib.kernel.plurals import count_of

_WORDS_PER_MINUTE = 200
_MOST_NAMED = 5
_LONGEST_TITLE = 60
# Whole words that stand for something still to be written; not a part of an address.
_LEFTOVER = re.compile(r"(?<![\w/=&#@.-])(?:TODO|TK(?:TK)*|XXX+|(?i:lorem\s+ipsum))(?![\w/=&#@-])|\[(?:…|\.\.\.)\]")


class Minutes(Struct, frozen=True):
    """Of a reader's time: for the text of the mail itself, and for the podcasts and videos it leads to."""

    reading: int = 0
    listening: int = 0
    watching: int = 0


def estimate_minutes(mailing: Mailing, items: Sequence[Item]) -> Minutes:
    words = sum("://" not in word for word in mailing.written.split())
    return Minutes(ceil(words / _WORDS_PER_MINUTE), _sum_minutes(items, "podcast"), _sum_minutes(items, "video"))


def check_items(items: Sequence[Item], wants_notes: bool = True) -> Iterator[Finding]:
    """Nobody writes notes for posts that come from a feed."""
    unfinished = [(number, item) for number, item in enumerate(items, 1) if item.problems]
    for number, item in unfinished[:_MOST_NAMED]:
        message = f"{_name(number, item)} has {_list(item.problems)}."
        yield Finding(Level.ERROR, "incomplete_item", message)
    if len(unfinished) > _MOST_NAMED:
        more = count_of(len(unfinished) - _MOST_NAMED, "more item is", "more items are")
        yield Finding(Level.ERROR, "incomplete_item", f"{more} not complete.")
    without = sum(not item.note for item in items)
    if wants_notes and without:
        yield Finding(Level.NOTE, "items_without_note", f"{count_of(without, 'item has', 'items have')} no note.")


def check_minutes(minutes: Minutes) -> Iterator[Finding]:
    named = {"to read": minutes.reading, "to listen": minutes.listening, "to watch": minutes.watching}
    spent = [f"{count_of(count, 'minute')} {verb}" for verb, count in named.items() if count]
    if spent:
        yield Finding(Level.NOTE, "minutes", f"It takes readers about {_list(spent)}.")


def check_leftovers(mailing: Mailing, detail: CampaignDetail) -> Iterator[Finding]:
    texts = (detail.campaign.subject, detail.campaign.preheader, mailing.written, detail.content.text or "")
    found = dict.fromkeys(" ".join(match[0].split()) for text in texts for match in _LEFTOVER.finditer(text))
    if found:
        message = f"Left over from writing: {', '.join(f'“{word}”' for word in list(found)[:_MOST_NAMED])}."
        yield Finding(Level.WARNING, "leftovers", message)


def check_pictures(found: Links) -> Iterator[Finding]:
    ours = urlsplit(settings.current().site_url).netloc
    hosts = [host for url in found.pictures if (host := _host(url)) and host != ours]
    if hosts:
        what = count_of(len(hosts), "image is", "images are")
        message = f"{what} loaded from {_list(list(dict.fromkeys(hosts))[:_MOST_NAMED])}"
        why = "whoever runs such a host sees who opens the email"
        yield Finding(Level.WARNING, "foreign_images", message, why)


def check_missing_pictures(names: Collection[str]) -> Iterator[Finding]:
    """An editor who pastes an old text may bring back a picture that is gone since."""
    if names:
        message = f"{count_of(len(names), 'picture is', 'pictures are')} no longer stored here: "
        named = ", ".join(f"/media/{name}" for name in sorted(names)[:_MOST_NAMED])
        yield Finding(Level.WARNING, "missing_pictures", f"{message}{named}.", "readers would see an empty frame")


def _sum_minutes(items: Sequence[Item], kind: str) -> int:
    return ceil(sum(item.duration or 0 for item in items if item.kind.lower() == kind) / 60)


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def _name(number: int, item: Item) -> str:
    if not item.title:
        return f"Item {number}"
    return f"“{item.title}”" if len(item.title) <= _LONGEST_TITLE else f"“{item.title[:_LONGEST_TITLE]}…”"


def _list(words: Sequence[str]) -> str:
    """`a, b and c`"""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)

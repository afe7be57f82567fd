"""Which picture stands for an entry: its thumbnail or enclosure, else the first one of its text that shows something.

Text has pictures that show nothing of the post: tracking pixels, emoji, placeholders of pictures that a script loads.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from chalicelib.feeds.reading import excerpt

# As wide as a mail shows it on a screen with two pixels for one.
_WIDE = 640
_LONGEST_SOURCE = 20_000
_MOST_CANDIDATES = 20
_NAMES = (".jpg", ".jpeg", ".png", ".webp", ".gif")
# Where the address is, the best place first: with one of the others, `src` is a placeholder.
_PLACES = ("data-src", "data-lazy-src", "data-original", "src")
_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
_KEPT = {*_PLACES, *_SETS, "width", "height", "style", "class"}
# What is in here is shown where no script runs, as in a mail.
_NOSCRIPT = re.compile(r"</?noscript\b[^>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(r"<img ([^>]*)>")
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')
_CANDIDATE = re.compile(r"(\S+)\s+(\d{1,5})w")
_TINY = re.compile(r"\s*[01](?:px)?\s*", re.IGNORECASE)
_UNSEEN = re.compile(
    r"display\s*:\s*none|(?:^|[;\s])(?:width|height)\s*:\s*(?:[01](?:px)?\s*(?:;|$)|1em)", re.IGNORECASE
)
_EMOJI = re.compile(r"(?:^|\s)(?:wp-)?(?:emoji|smiley)\b", re.IGNORECASE)


class Image(Struct, frozen=True):
    """`width` is 0 if it is not known."""

    address: str
    width: int = 0


def from_media(found: Callable[[str], Any], attached: Iterable[Mapping[str, Any]]) -> str:
    """What feedparser has of Media RSS, enclosures and iTunes; `found` returns one of its values."""
    thumbnails = [_image(one) for one in found("media_thumbnail") or () if one.get("url")]
    shown = [_image(one) for one in (*(found("media_content") or ()), *attached) if _is_image(one)]
    own = found("image")
    last = [_image(own)] if isinstance(own, dict) else []
    return _choose(thumbnails) or _choose(shown) or _choose(last)


def from_text(sources: Iterable[tuple[str, str]]) -> str:
    """The first of several texts in HTML, each with the base of its relative addresses."""
    return next((address for source, base in sources if (address := _first(source, base))), "")


def _first(source: str, base: str) -> str:
    import nh3

    source = source[:_LONGEST_SOURCE]
    if "<img" not in source.lower():
        return ""
    plain = nh3.clean(_NOSCRIPT.sub("", source), tags={"img"}, attributes={"img": _KEPT})
    for tag in _TAG.finditer(plain):
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag[1])}
        if not _shows_nothing(attributes) and (address := _address(attributes, base)):
            return address
    return ""


def _shows_nothing(attributes: Mapping[str, str]) -> bool:
    tiny = any(_TINY.fullmatch(attributes.get(side, "")) for side in ("width", "height"))
    return bool(tiny or _UNSEEN.search(attributes.get("style", "")) or _EMOJI.search(attributes.get("class", "")))


def _address(attributes: Mapping[str, str], base: str) -> str:
    """No `data:` URL, and nothing that mail programs cannot show."""
    listed = [_choose(_candidates(attributes.get(name, ""))) for name in _SETS]
    for address in (*(attributes.get(name, "") for name in _PLACES), *listed):
        if (url := excerpt.web_url(address.strip(), base)) and _can_be_shown(url):
            return url
    return ""


def _candidates(srcset: str) -> list[Image]:
    found = _CANDIDATE.findall(srcset)[:_MOST_CANDIDATES]
    return [Image(address.lstrip(","), int(width)) for address, width in found]


def _image(one: Mapping[str, Any]) -> Image:
    width = str(one.get("width") or "")
    address = str(one.get("url") or one.get("href") or "")
    return Image(address, int(width) if width.isascii() and width.isdigit() and len(width) < 6 else 0)


def _is_image(one: Mapping[str, Any]) -> bool:
    """By what the feed calls it, or by its name where it calls it nothing."""
    kind, medium = str(one.get("type") or "").lower(), str(one.get("medium") or "").lower()
    if kind or medium:
        return medium == "image" or kind.startswith("image/")
    return _path(_image(one).address).endswith(_NAMES)


def _choose(images: Iterable[Image]) -> str:
    """Of several sizes the smallest that is wide enough, else the widest; otherwise the first."""
    usable = [image for image in images if _can_be_shown(image.address) and not _is_portrait_of_author(image.address)]
    return max(usable, key=_fitness).address if usable else ""


def _fitness(image: Image) -> int:
    width = image.width or _WIDE
    return -width if width >= _WIDE else width - 1_000_000


def _can_be_shown(address: str) -> bool:
    return bool(address) and not _path(address).endswith(".svg")


def _is_portrait_of_author(address: str) -> bool:
    """WordPress.com lists it before the pictures of the post."""
    return "gravatar.com/avatar/" in address


def _path(address: str) -> str:
    try:
        return urlsplit(address).path.lower()
    except ValueError:
        return ""

"""The addresses of pictures in a body, and how they are changed: nothing else of the body is.

A body may be Markdown with HTML in it, with items, with code that shows how a picture is written. Instead of reading
all of that a second time, every place that looks like it is tried: an address is that of a picture if, with another
one in its place, readers would see another picture and nothing else would be different.
"""

import html
import re
import time
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.kernel import settings

# As it comes from the sanitiser: names in small letters, values in double quotes.
_IMAGE = re.compile(r'(<img(?:\s+[a-z-]+="[^"]*")*?\s+src=")([^"]*)(")')
# What continues an address: then it is the beginning of another one.
_CONTINUES = re.compile(r"[A-Za-z0-9%_~/?#=&+@-]|[.,;:!](?=[A-Za-z0-9%_~/?#=&+@-])")
# What stands before the address of a picture: most places are right, so that all can be tried at once.
_BEFORE = re.compile(r"""(\]\(\s*<?|\bsrc\s*=\s*["']?\s*|\bpicture:\s*|\]:\s*<?)\Z""", re.IGNORECASE)
_LONGEST_BEFORE = 20
_LONGEST_ALT = 1_000
_MOST_PLACES = 300


class Place(Struct, frozen=True):
    """Where an address begins and ends in the body, and what may stand there instead."""

    start: int
    end: int
    new: str


class _Shown(Struct, frozen=True):
    """What readers see: the body without the addresses of pictures, and these."""

    rest: str
    pictures: list[str]


def find_remote(detail: CampaignDetail) -> list[str]:
    """Of pictures that readers would load from somewhere else, each once."""
    ours = urlsplit(settings.current().site_url).netloc
    return [url for url in dict.fromkeys(_show(detail, detail.content.body).pictures) if _is_remote(url, ours)]


def rewrite(detail: CampaignDetail, copies: Mapping[str, str], deadline: float) -> str:
    """The body with these addresses of pictures replaced. What is not done by then (by the monotonic clock) stays."""
    body = detail.content.body
    places = _find_places(body, copies)
    shown = _show(detail, body) if places else None
    accepted: list[Place] = []
    others = 0
    groups = [places]
    while shown and groups and time.monotonic() < deadline:
        group = groups.pop()
        now = _count_changed(shown, _show(detail, _with(body, [*accepted, *group])), copies)
        # What nobody sees, in a comment, is left; the address of several pictures stands in a place of its own.
        if now is not None and (now - others == len(group) or (len(group) == 1 and now > others)):
            accepted, others = [*accepted, *group], now
        elif len(group) > 1:
            middle = len(group) // 2
            groups += [group[middle:], group[:middle]]
    return _with(body, accepted)


def _show(detail: CampaignDetail, body: str) -> _Shown:
    markup = renderer.render_article(replace(detail, content=replace(detail.content, body=body))).html
    pictures = [html.unescape(match[2]) for match in _IMAGE.finditer(markup)]
    return _Shown(_IMAGE.sub(r"\1\3", markup), pictures)


def _count_changed(before: _Shown, after: _Shown, copies: Mapping[str, str]) -> int | None:
    """How many pictures are other ones, each the copy of what it was; None if anything else is different."""
    if before.rest != after.rest or len(before.pictures) != len(after.pictures):
        return None
    changed = [(old, new) for old, new in zip(before.pictures, after.pictures, strict=True) if old != new]
    return len(changed) if all(copies.get(old) == new for old, new in changed) else None


def _find_places(body: str, copies: Mapping[str, str]) -> list[Place]:
    """In their order; where one lies within another, the longer one."""
    found = [
        Place(match.start(), match.end(), new)
        for url, new in copies.items()
        for form in _forms(url)
        for match in re.finditer(re.escape(form), body)
        if _is_likely(body, match.start()) and not _CONTINUES.match(body, match.end())
    ]
    apart: list[Place] = []
    for place in sorted(found, key=lambda place: (place.start, -place.end)):
        if not apart or place.start >= apart[-1].end:
            apart.append(place)
    return apart[:_MOST_PLACES]


def _is_likely(body: str, start: int) -> bool:
    before = _BEFORE.search(body, max(0, start - _LONGEST_BEFORE), start)
    if not before or not before[1].startswith("]("):
        return before is not None
    # The bracket that the alternative text begins with comes after an exclamation mark, that of a link does not.
    depth = 0
    for at in range(before.start(), max(-1, before.start() - _LONGEST_ALT), -1):
        depth += {"]": 1, "[": -1}.get(body[at], 0)
        if not depth:
            return body[at - 1 : at] == "!"
    return False


def _forms(url: str) -> list[str]:
    """The ways to write it that readers are shown as this."""
    bare = url.partition(":")[2]
    forms = [url, unquote(url), bare]
    return list(dict.fromkeys([*forms, *(form.replace("&", "&amp;") for form in forms)]))


def _with(body: str, places: Sequence[Place]) -> str:
    pieces, at = [], 0
    for place in sorted(places, key=lambda place: place.start):
        pieces += [body[at : place.start], place.new]
        at = place.end
    return "".join([*pieces, body[at:]])


def _is_remote(url: str, ours: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc not in ("", ours)

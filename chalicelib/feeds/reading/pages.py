"""What a web page's head says: the feeds it names, and what the page says about itself.

The page is searched for its tags, in one pass and without a parser: HTML's own stops at half a marked section, and
nothing here needs more than `<link>`, `<meta>`, `<title>` and `<base>`.
"""

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from chalicelib.feeds.reading import document, excerpt
from chalicelib.feeds.reading.document import NotAFeed
from chalicelib.kernel import clock

LARGEST_PAGE = 2_000_000
_MOST_TAGS = 2_000
_LONGEST_TAG = 4_000
_LONGEST_TEXT = 2_000
# What looks like a tag in a comment or a script is none. Without an end, they go on to the end of the page.
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<code>script|style|template|textarea|noscript)\b.*?(?:</(?P=code)|\Z)"
    r"|<(?P<name>link|base|meta|title)(?=[\s/>])",
    re.DOTALL | re.IGNORECASE,
)
# A `>` in quotes does not end a tag; but if the quotes are broken, the first one does.
_QUOTED_INSIDE = re.compile(r"""(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""")
_INSIDE = re.compile(r"[^<>]*>")
_TITLE_TEXT = re.compile(r"(?:[^<]|<(?!/title))*", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![^\s"'/])([a-z-]{1,20})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_FEED_TYPES = {
    *("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"),
    *("application/xml", "text/xml", "application/rss", "application/atom"),
}
_COMMENTS = re.compile(r"comment|kommentar", re.IGNORECASE)

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_DECLARED = re.compile(r"<meta\b[^<>]{0,300}?" + _CHARSET.pattern, re.IGNORECASE)
_DECLARED_WITHIN = 4_096
# As browsers do: these names stand for larger sets, in which such pages are really written.
_WIDER = {
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji"), "cp932"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk", "chinese"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "korean"), "cp949"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    "big5": "big5hkscs",
}

_TITLES = ("og:title", "twitter:title")
_DESCRIPTIONS = ("og:description", "twitter:description", "description")
_IMAGES = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
_SITES = ("og:site_name", "application-name")
_DATES = ("article:published_time", "og:published_time", "datepublished", "date", "dc.date", "dc.date.issued")
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)


class Link(Struct, frozen=True):
    """`relations` are in lower case; `url` is absolute, http(s)."""

    relations: frozenset[str]
    url: str
    type: str = ""
    title: str = ""


class PageInfo(Struct, frozen=True):
    """What a page says about itself: plain text on one line each, http(s) URLs; empty where it says nothing.
    `canonical` is where it says it really is, which anybody may say of any page."""

    title: str = ""
    description: str = ""
    image: str = ""
    site: str = ""
    canonical: str = ""
    published_at: datetime | None = None


class _Tag(Struct, frozen=True):
    name: str
    attributes: dict[str, str]
    text: str = ""


def find_feeds(body: bytes, content_type: str, url: str) -> list[str]:
    """The feeds the page names, in its order, those of comments last."""
    named = [link for link in find_links(body, content_type, url) if _is_feed(link)]
    named.sort(key=lambda link: bool(_COMMENTS.search(link.url) or _COMMENTS.search(link.title)))
    return list(dict.fromkeys(link.url for link in named))


def find_links(body: bytes, content_type: str, url: str) -> list[Link]:
    tags = _read_tags(body, content_type)
    return _links(tags, _base(tags, url))


def describe(body: bytes, content_type: str, url: str) -> PageInfo:
    tags = _read_tags(body, content_type)
    base = _base(tags, url)
    links, told = _links(tags, base), _metadata(tags)
    title = next((tag.text for tag in tags if tag.name == "title" and tag.text), "")
    pictured = next((link.url for link in links if "image_src" in link.relations), "")
    canonical = next((link.url for link in links if "canonical" in link.relations), "")
    return PageInfo(
        title=_first(told, _TITLES) or title,
        description=_first(told, _DESCRIPTIONS),
        image=next((found for name in _IMAGES if (found := excerpt.web_url(told.get(name, ""), base))), pictured),
        site=_first(told, _SITES),
        canonical=canonical or excerpt.web_url(told.get("og:url", ""), base),
        published_at=next((moment for name in _DATES if (moment := _parse_moment(told.get(name, "")))), None),
    )


def _read_tags(body: bytes, content_type: str) -> list[_Tag]:
    try:
        text = document.decode(body[:LARGEST_PAGE], _with_charset(body, content_type))
    except NotAFeed:  # an empty page
        return []
    return list(_find_tags(text))


def _with_charset(body: bytes, content_type: str) -> str:
    """The content type with the encoding the page is most likely in: what its server says, or else the page itself.
    What is UTF-8 is recognised without anybody saying so."""
    said = _CHARSET.search(content_type)
    if not said or said[1].lower() in ("utf-8", "utf8"):
        said = _DECLARED.search(body[:_DECLARED_WITHIN].decode("ascii", "replace")) or said
    return f"text/html; charset={_WIDER.get(said[1].lower(), said[1])}" if said else "text/html"


def _find_tags(text: str) -> Iterator[_Tag]:
    place, left = 0, _MOST_TAGS
    while left and (found := _TAG.search(text, place)):
        place = found.end()
        if not found["name"]:
            continue
        left -= 1
        name, most = found["name"].lower(), place + _LONGEST_TAG
        inside = _QUOTED_INSIDE.match(text, place, most) or _INSIDE.match(text, place, most)
        if inside:
            place = inside.end()
            yield _Tag(name, _attributes(inside[0][:-1]), _title_text(text, place) if name == "title" else "")


def _title_text(text: str, place: int) -> str:
    found = _TITLE_TEXT.match(text, place, place + _LONGEST_TEXT)
    return excerpt.one_line(html.unescape(found[0])) if found else ""


def _attributes(text: str) -> dict[str, str]:
    """The first of a name counts, as in browsers."""
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), html.unescape("".join(values)))
    return found


def _metadata(tags: list[_Tag]) -> dict[str, str]:
    """By name in lower case, whichever attribute the page names it by; the first of a name counts if it says
    anything."""
    told: dict[str, str] = {}
    for tag in tags:
        names = [tag.attributes[kind] for kind in ("property", "name", "itemprop") if kind in tag.attributes]
        content = tag.attributes.get("content", "").strip()
        if tag.name == "meta" and content:
            for name in names:
                told.setdefault(name.strip().lower(), content)
    return told


def _first(told: dict[str, str], names: tuple[str, ...]) -> str:
    texts = (excerpt.one_line(told.get(name, "")[:_LONGEST_TEXT]) for name in names)
    return next((text for text in texts if text), "")


def _base(tags: list[_Tag], url: str) -> str:
    named = (tag.attributes.get("href", "") for tag in tags if tag.name == "base")
    return excerpt.web_url(next(filter(None, named), ""), url) or url


def _links(tags: list[_Tag], base: str) -> list[Link]:
    links = [_link(tag.attributes, base) for tag in tags if tag.name == "link"]
    return [link for link in links if link.url]


def _link(found: dict[str, str], base: str) -> Link:
    return Link(
        relations=frozenset(found.get("rel", "").lower().split()),
        url=excerpt.web_url(found.get("href", "").strip(), base),
        type=found.get("type", "").partition(";")[0].strip().lower(),
        title=excerpt.truncate(excerpt.one_line(found.get("title", "")), 200),
    )


def _is_feed(link: Link) -> bool:
    """Publishing software also names its API as JSON, which is no feed."""
    if "stylesheet" in link.relations or not link.relations & {"alternate", "feed"}:
        return False
    is_json = link.type == "application/json" and "feed" in link.url
    return is_json or link.type in _FEED_TYPES or (not link.type and "feed" in link.relations)


def _parse_moment(text: str) -> datetime | None:
    """A date as ISO 8601 has it, unless it makes no sense."""
    try:
        moment = datetime.fromisoformat(text.strip()[:40])
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if _EARLIEST <= moment <= clock.now() + timedelta(days=1) else None

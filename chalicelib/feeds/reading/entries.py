"""Parses a document into entries: RSS, Atom and RDF with feedparser, JSON Feed by ourselves.

No object of feedparser's leaves this module, and nothing it returns is trusted: text becomes plain, links http(s).
"""

import html
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from chalicelib.feeds.reading import characters, document, excerpt, images, links, media, parser
from chalicelib.feeds.reading.document import NotAFeed
from chalicelib.feeds.reading.model import Entry, Feed, entry_id

_LONGEST_TITLE = 300
_LONGEST_DESCRIPTION = 1_000
_HTML_TYPES = ("text/html", "application/xhtml+xml")
# Some software writes the start of its epoch where there is no date.
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)


def parse(body: bytes, content_type: str, url: str) -> Feed:
    """`NotAFeed` for anything else; a feed with mistakes is still a feed."""
    decoded = document.decode(body, content_type)
    if document.is_json(decoded):
        return _json_feed(decoded, url)
    return _xml_feed(document.check_xml(decoded), url)


def _xml_feed(clean: bytes, url: str) -> Feed:
    parsed = parser.parse(clean)
    if parsed["bozo"] and not parsed["entries"]:
        raise NotAFeed("the feed is not valid XML")
    hub, topic = links.choose(_links(parsed["feed"]), url)
    return Feed(
        title=_title(parsed["feed"]),
        entries=tuple(_xml_entry(found, url, parsed) for found in parsed["entries"]),
        hub=hub,
        topic=topic,
        link=excerpt.web_url(str(_get(parsed["feed"], "link")), url),
        description=_description(parsed["feed"]),
        image=excerpt.web_url(_attached_image(parsed["feed"]) or str(_get(parsed["feed"], "logo")), url),
    )


def _xml_entry(found: Mapping[str, Any], url: str, parsed: Mapping[str, Any]) -> Entry:
    """In a document with mistakes feedparser has left `&amp;` in the ids, but they must not depend on mistakes
    elsewhere."""
    title, address = _title(found), _link(found)
    link = excerpt.web_url(address, url)
    # Atom says what relative links are relative to. RSS does not, and its authors mean the page of the post.
    texts = _texts(found, url if str(parsed["version"]).startswith("atom") else link or url)
    content, base = texts[0] if texts else ("", url)
    guid = str(_get(found, "id")).replace("&amp;", "&" if parsed["bozo"] else "&amp;")
    return Entry(
        id=entry_id(excerpt.one_line(guid), excerpt.one_line(address) if link else "", title, content),
        title=title,
        link=link,
        published=_parse_moment(_get(found, "published_parsed")),
        updated=_parse_moment(_get(found, "updated_parsed")),
        html=content,
        image=excerpt.web_url(_attached_image(found), base) or images.from_text(texts),
        audio=excerpt.web_url(media.choose_audio(_enclosures(found)), url),
        duration=media.parse_duration(str(_get(found, "itunes_duration"))),
    )


def _link(found: Mapping[str, Any]) -> str:
    """Without a link feedparser uses the guid, as the standard says; but a guid that is a mere number is no link."""
    link = str(_get(found, "link"))
    return "" if link == _get(found, "id") and "/" not in link else link.replace("&amp;", "&")


def _get(found: Mapping[str, Any], name: str) -> Any:
    """Without feedparser's aliases, which return `published` for a missing `updated`."""
    return dict.get(found, name) or ""  # type: ignore[call-overload]


def _title(found: Mapping[str, Any]) -> str:
    value = str(_get(found, "title"))
    kind = (_get(found, "title_detail") or {}).get("type", "text/plain")
    text = excerpt.plain_text(value) if kind in _HTML_TYPES else excerpt.one_line(value)
    return excerpt.truncate(text, _LONGEST_TITLE)


def _texts(found: Mapping[str, Any], base: str) -> list[tuple[str, str]]:
    """The summary, then the content, as HTML, each with the base of its relative links."""
    parts = [part for part in (_get(found, "summary_detail"), *(_get(found, "content") or ())) if part]
    return [
        (_markup(value, part), excerpt.web_url(str(part.get("base") or base), base) or base)
        for part in parts
        if (value := str(part.get("value") or "")).strip()
    ]


def _markup(value: str, part: Mapping[str, Any]) -> str:
    return value if part.get("type") in _HTML_TYPES else _from_plain(value)


def _from_plain(text: str) -> str:
    """HTML of a plain text. Publishing software leaves `&nbsp;` in what it declares to be plain."""
    return html.escape(text.replace("&nbsp;", " "))


def _description(feed: Mapping[str, Any]) -> str:
    kind = (_get(feed, "subtitle_detail") or {}).get("type", "text/plain")
    value = str(_get(feed, "subtitle"))
    text = excerpt.plain_text(value) if kind in _HTML_TYPES else excerpt.one_line(value)
    return excerpt.truncate(text, _LONGEST_DESCRIPTION)


def _attached_image(found: Mapping[str, Any]) -> str:
    return images.from_media(lambda name: _get(found, name), _attached(found))


def _enclosures(found: Mapping[str, Any]) -> list[media.Enclosure]:
    listed = (*_attached(found), *(_get(found, "media_content") or ()))
    return [(str(one.get("href") or one.get("url") or ""), str(one.get("type") or "")) for one in listed]


def _attached(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """feedparser keeps enclosures among the links."""
    return [link for link in _get(found, "links") or () if link.get("rel") == "enclosure"]


def _links(feed: Mapping[str, Any]) -> list[links.Link]:
    return [(str(link.get("rel", "")), str(link.get("href", ""))) for link in _get(feed, "links") or ()]


def _parse_moment(parts: Any) -> datetime | None:
    if not parts:
        return None
    try:
        return _if_sensible(datetime(*parts[:6]).replace(tzinfo=UTC))  # noqa: DTZ001 - given in UTC
    except (TypeError, ValueError, OverflowError):
        return None


def _if_sensible(moment: datetime) -> datetime | None:
    return moment if moment >= _EARLIEST else None


def _json_feed(decoded: str, url: str) -> Feed:
    try:
        found = json.loads(decoded)
    except (ValueError, RecursionError):
        raise NotAFeed("the feed is not valid JSON") from None
    if "jsonfeed.org" not in str(found.get("version")) or not isinstance(found.get("items"), list):
        raise NotAFeed("this is not an RSS, Atom or JSON feed")
    if len(found["items"]) > document.MOST_ENTRIES:
        raise NotAFeed(f"the feed has more than {document.MOST_ENTRIES} entries")
    hub, topic = links.choose(_json_links(found), url)
    return Feed(
        title=_json_title(found),
        entries=tuple(_json_entry(item, url) for item in found["items"] if isinstance(item, dict)),
        hub=hub,
        topic=topic,
        link=excerpt.web_url(_text(found, "home_page_url"), url),
        description=excerpt.truncate(excerpt.one_line(_text(found, "description")), _LONGEST_DESCRIPTION),
        image=excerpt.web_url(_text(found, "icon"), url),
    )


def _json_links(found: Mapping[str, Any]) -> list[links.Link]:
    """`hubs` may name other ways of being told about changes, such as rssCloud, which we do not speak."""
    hubs = found.get("hubs")
    named = [hub for hub in hubs if isinstance(hub, dict)] if isinstance(hubs, list) else []
    spoken = [("hub", _text(hub, "url")) for hub in named if _text(hub, "type").strip().lower() == "websub"]
    return [*spoken, ("self", _text(found, "feed_url"))]


def _json_title(found: Mapping[str, Any]) -> str:
    return excerpt.truncate(excerpt.one_line(_text(found, "title")), _LONGEST_TITLE)


def _json_entry(item: Mapping[str, Any], url: str) -> Entry:
    title = _json_title(item)
    address = _text(item, "url") or _text(item, "external_url")
    link = excerpt.web_url(address, url)
    plain = _text(item, "summary") or ("" if _text(item, "content_html") else _text(item, "content_text"))
    content = _from_plain(plain) if plain else _text(item, "content_html")
    attached = _json_attachments(item)
    return Entry(
        id=entry_id(excerpt.one_line(_text(item, "id")), excerpt.one_line(address) if link else "", title, content),
        title=title,
        link=link,
        published=_parse_iso(_text(item, "date_published")),
        updated=_parse_iso(_text(item, "date_modified")),
        html=content,
        image=_json_image(item, attached, url) or images.from_text([(_text(item, "content_html"), link or url)]),
        audio=excerpt.web_url(
            media.choose_audio((_text(one, "url"), _text(one, "mime_type")) for one in attached), url
        ),
        duration=next((length for one in attached if (length := _json_duration(one))), None),
    )


def _json_image(item: Mapping[str, Any], attached: Sequence[Mapping[str, Any]], url: str) -> str:
    pictures = (_text(one, "url") for one in attached if _text(one, "mime_type").lower().startswith("image/"))
    named = (_text(item, "image"), _text(item, "banner_image"), *pictures)
    return next((found for address in named if (found := excerpt.web_url(address, url))), "")


def _json_attachments(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = item.get("attachments")
    return [one for one in listed[:20] if isinstance(one, dict)] if isinstance(listed, list) else []


def _json_duration(attached: Mapping[str, Any]) -> int | None:
    return media.parse_duration(_text(attached, "duration_in_seconds"))


def _text(found: Mapping[str, Any], name: str) -> str:
    """Ids may be numbers; anything else that is not text counts as missing."""
    value = found.get(name)
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return ""
    return characters.without_forbidden(str(value))


def _parse_iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    try:
        return _if_sensible(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None

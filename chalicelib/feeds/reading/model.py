"""What a feed is once it has been read: a title, entries, and the hub that announces its changes."""

import hashlib
from datetime import datetime
from urllib.parse import urlsplit

from msgspec import Struct

FINGERPRINT_BYTES = 6
_TRACKING = "utm_"


class Entry(Struct, frozen=True):
    """One entry. Title, link, image and audio are plain text and http(s) URLs or empty; `html` is as the feed has it.

    `updated` stands in for `published` where the feed gives only that. `audio` is an enclosure to listen to, for
    `duration` seconds if the feed tells."""

    id: str
    title: str = ""
    link: str = ""
    published: datetime | None = None
    updated: datetime | None = None
    html: str = ""
    image: str = ""
    audio: str = ""
    duration: int | None = None

    @property
    def dated(self) -> datetime | None:
        return self.published or self.updated

    @property
    def fingerprint(self) -> bytes:
        """The same for http and https, so that a site which moves to https keeps its entries."""
        return _digest("https://" + self.id[7:] if self.id.startswith("http://") else self.id)

    @property
    def trace(self) -> bytes | None:
        """What stays when an entry gets another id: its page, wherever the site has moved, and when it was published.
        None if that could be another entry's, too."""
        page = _page(self.link) if self.published else ""
        return _digest(f"{page}\n{self.published}") if page else None


class Feed(Struct, frozen=True):
    """`hub` is the WebSub hub the feed names, and `topic` the URL it is announced under; both may be empty. `link`,
    `description` and `image` tell about the site, as text and http(s) URLs or empty."""

    title: str
    entries: tuple[Entry, ...]
    hub: str = ""
    topic: str = ""
    link: str = ""
    description: str = ""
    image: str = ""


def _digest(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=FINGERPRINT_BYTES).digest()


def _page(link: str) -> str:
    """What follows the host, without what only counts visits; nothing for a whole site. The fragment belongs to it: a
    list of changes may be one page."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return ""
    query = "&".join(pair for pair in parts.query.split("&") if not pair.startswith(_TRACKING))
    path = parts.path.rstrip("/")
    return f"{path}?{query}#{parts.fragment}" if path or query or parts.fragment else ""


def entry_id(guid: str, link: str, title: str, content: str) -> str:
    """What makes two entries the same: the guid, else the link, else what they say."""
    if guid or link:
        return guid or link
    return "sha256:" + hashlib.sha256(f"{title}\n{content}".encode("utf-8", "replace")).hexdigest()

"""The posts of the demo blog: a few to begin with, then what is published, stored in one file."""

import json
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from xml.sax.saxutils import escape

from chalicelib.kernel.settings import Settings

_FIRST = (
    (
        "What the frost left standing",
        "The kale looks better than it did in August. Frost turns its starch to sugar, which is the only good thing "
        "I have ever said about minus four.\n\nEverything else went on the heap, and the heap, at least, is warm.",
    ),
    (
        "A bench, finally",
        "Three years of saying we should put a bench there. It took one Saturday, two planks and a neighbour who "
        "owns a level.\n\nNobody has weeded anything since.",
    ),
    (
        "Saving seed from the one tomato that tried",
        "Out of eleven plants, one shrugged off the blight. Its seed is drying on a coffee filter on the window "
        "sill, labelled in a hand I hope to be able to read in March.",
    ),
)


@dataclass(frozen=True)
class Post:
    slug: str
    title: str
    text: str
    published: str

    @property
    def at(self) -> datetime:
        return datetime.fromisoformat(self.published)

    @property
    def paragraphs(self) -> list[str]:
        return [part.strip() for part in self.text.split("\n\n") if part.strip()]


class Posts:
    """Newest first. Only one process writes; a lock is for its threads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        if not file.exists():
            now = datetime.now(UTC)
            self._write([_post(*words, now - timedelta(days=7 * week)) for week, words in enumerate(_FIRST, 1)])

    def all(self) -> list[Post]:
        return [Post(**entry) for entry in json.loads(self._file.read_text())]

    def find(self, slug: str) -> Post | None:
        return next((post for post in self.all() if post.slug == slug), None)

    def add(self, title: str, text: str) -> Post:
        post = _post(title, text, datetime.now(UTC))
        with self._lock:
            self._write([post, *self.all()])
        return post

    def _write(self, posts: Sequence[Post]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps([asdict(post) for post in posts], ensure_ascii=False, indent=1))
        os.replace(part, self._file)


def feed(posts: Sequence[Post], site: Settings) -> str:
    items = "".join(_item(post, site) for post in posts[:30])
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>'
        f"<title>{escape(site.site_name)}</title><link>{escape(site.url('/demo/'))}</link>"
        f"<description>Notes from a small garden that is in no hurry.</description>{items}\n</channel></rss>\n"
    )


def _item(post: Post, site: Settings) -> str:
    link = escape(site.url(f"/demo/posts/{post.slug}"))
    summary = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in post.paragraphs)
    return (
        f'\n<item><title>{escape(post.title)}</title><link>{link}</link><guid isPermaLink="true">{link}</guid>'
        f"<pubDate>{format_datetime(post.at)}</pubDate><description>{escape(summary)}</description></item>"
    )


def _post(title: str, text: str, at: datetime) -> Post:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "post"
    return Post(f"{words}-{int(at.timestamp() * 1000):x}", title, text, at.isoformat(timespec="milliseconds"))

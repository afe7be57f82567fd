"""The links of an email: which there are, and whether they work.

They are visited only when an editor asks for it: it takes seconds, and the sites see the requests.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from html.parser import HTMLParser
from urllib.parse import urldefrag, urlsplit

from msgspec import Struct

from chalicelib.kernel import settings
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Answer, Bounds, FetchFailed

MOST_VISITED = 20
_SECONDS = 3.0
_REMEMBERED = 300.0
_OURS = ("/api/", "/archive", "/profile")
_GONE = (404, 410)
_BUSY = 429


class Verdict(StrEnum):
    GOOD = "good"
    DEAD = "dead"
    UNSURE = "unsure"


class Visit(Struct, frozen=True):
    url: str
    verdict: Verdict
    why: str
    at: float


class Links(HTMLParser):
    """The links and images of a page, and what is wrong with them without visiting them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.all: list[str] = []
        self.pictures: list[str] = []
        self.without_target: list[str] = []
        self.without_alt: list[str] = []
        self._words: list[str] | None = None  # of the link without a target that is being read
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        address = given.get("href" if tag == "a" else "src")
        if tag in ("a", "img") and address:
            self.all.append(address)
        if tag == "img" and address:
            self.pictures.append(address)
        if tag == "a" and not address:
            self._words = []
        if tag == "img" and not address:
            self.without_target.append("an image")
        if tag == "img" and "alt" not in given:
            self.without_alt.append(address or "an image")

    def handle_data(self, data: str) -> None:
        if self._words is not None:
            self._words.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._words is not None:
            words = " ".join("".join(self._words).split())
            self.without_target.append(f"“{words}”" if words else "a link without text")
            self._words = None

    @property
    def insecure(self) -> list[str]:
        site = settings.current().site_url
        found = (url for url in self.all if url.startswith("http://") and not url.startswith(site))
        return list(dict.fromkeys(found))

    @property
    def broken(self) -> list[str]:
        """The addresses that lead nowhere, and the words of links that have none."""
        return [*self.without_target, *(url for url in self.all if _is_broken(url))]

    @property
    def visitable(self) -> list[str]:
        """Each once, without our own pages: this campaign is not in the archive before it is sent."""
        site = settings.current()
        ours = tuple(site.url(path) for path in _OURS)
        pages = (url for url in self.all if url.startswith(("http://", "https://")) and not _is_broken(url))
        distinct = dict.fromkeys(urldefrag(url).url for url in pages)
        return [url for url in distinct if url.rstrip("/") != site.site_url and not url.startswith(ours)]


def visit(urls: Sequence[str]) -> list[Visit]:
    """All at once, three seconds at most. A link that worked a moment ago is not visited again."""
    known = {known.url for known in recall(urls) if known.verdict is Verdict.GOOD}
    asked = [url for url in urls[:MOST_VISITED] if url not in known]
    if asked:
        with ThreadPoolExecutor(len(asked)) as threads:
            _memory.update((done.url, done) for done in threads.map(_visit, asked))
    return recall(urls)


def recall(urls: Sequence[str]) -> list[Visit]:
    """What visits of the last minutes found, in this process."""
    oldest = time.monotonic() - _REMEMBERED
    for url in [url for url, known in list(_memory.items()) if known.at < oldest]:
        _memory.pop(url, None)
    return [known for url in urls if (known := _memory.get(url))]


_memory: dict[str, Visit] = {}


def _visit(url: str) -> Visit:
    verdict, why = _judge(url)
    return Visit(url, verdict, why, time.monotonic())


def _judge(url: str) -> tuple[Verdict, str]:
    try:
        status = _answer(url).status
    except FetchFailed as failure:
        return Verdict.DEAD if failure.kind in ("refused", "unreachable") else Verdict.UNSURE, failure.reason
    if status in _GONE:
        return Verdict.DEAD, f"it returned {status}"
    return Verdict.GOOD if status < 400 else Verdict.UNSURE, f"it returned {status}"


def _answer(url: str) -> Answer:
    """HEAD first; GET where that is refused, because many servers refuse HEAD and not the page."""
    ends = time.monotonic() + _SECONDS
    head = client.head(url, Bounds(seconds=_SECONDS))
    if head.status < 400 or head.status == _BUSY:
        return head
    return client.get(url, bounds=Bounds(seconds=max(0.01, ends - time.monotonic()), largest=0))


def _is_broken(url: str) -> bool:
    if url.startswith(("mailto:", "tel:")):
        return not url.partition(":")[2]
    try:
        host = urlsplit(url).hostname or ""
        return "." not in host and host != "localhost" and host != urlsplit(settings.current().site_url).hostname
    except ValueError:
        return True

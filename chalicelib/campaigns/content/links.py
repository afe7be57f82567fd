"""Where a mail leads: which addresses it names, and whether somebody answers there.

Addresses are visited only when somebody asks for it: it takes seconds, and strangers see it.
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
    """The links and images of a page, and what is wrong with them at a glance."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.all: list[str] = []
        self.without_target = 0
        self.without_alt = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        address = given.get("href" if tag == "a" else "src")
        if tag in ("a", "img") and address:
            self.all.append(address)
        if tag in ("a", "img") and not address:
            self.without_target += 1
        if tag == "img" and "alt" not in given:
            self.without_alt += 1

    @property
    def insecure(self) -> set[str]:
        site = settings.current().site_url
        return {url for url in self.all if url.startswith("http://") and not url.startswith(site)}

    @property
    def broken(self) -> int:
        return self.without_target + sum(1 for url in self.all if _is_broken(url))

    @property
    def visitable(self) -> list[str]:
        """Each once. Pages of ours are left out: this campaign is not in the archive before it is sent."""
        site = settings.current()
        ours = tuple(site.url(path) for path in _OURS)
        detail = (url for url in self.all if url.startswith(("http://", "https://")) and not _is_broken(url))
        known = dict.fromkeys(urldefrag(url).url for url in detail)
        return [url for url in known if url.rstrip("/") != site.site_url and not url.startswith(ours)]


def visit(urls: Sequence[str]) -> list[Visit]:
    """All at once, three seconds at most. Whoever answered well a moment ago is not asked again."""
    known = {one.url for one in recall(urls) if one.verdict is Verdict.GOOD}
    asked = [url for url in urls[:MOST_VISITED] if url not in known]
    if asked:
        with ThreadPoolExecutor(len(asked)) as threads:
            _memory.update((one.url, one) for one in threads.map(_visited, asked))
    return recall(urls)


def recall(urls: Sequence[str]) -> list[Visit]:
    """What is known of them from visits in the last minutes, in this process."""
    oldest = time.monotonic() - _REMEMBERED
    for url in [url for url, one in list(_memory.items()) if one.at < oldest]:
        _memory.pop(url, None)
    return [one for url in urls if (one := _memory.get(url))]


_memory: dict[str, Visit] = {}


def _visited(url: str) -> Visit:
    verdict, why = _judged(url)
    return Visit(url, verdict, why, time.monotonic())


def _judged(url: str) -> tuple[Verdict, str]:
    try:
        status = _answer(url).status
    except FetchFailed as failure:
        return Verdict.DEAD if failure.kind in ("refused", "unreachable") else Verdict.UNSURE, failure.reason
    if status in _GONE:
        return Verdict.DEAD, f"it returned {status}"
    return Verdict.GOOD if status < 400 else Verdict.UNSURE, f"it returned {status}"


def _answer(url: str) -> Answer:
    """Only the head, if that is answered: many servers say no to the question, not to the page."""
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

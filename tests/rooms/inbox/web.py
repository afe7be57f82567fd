"""The web, in memory: what each address answers is set by the test, what was asked for is remembered."""

import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from chalicelib.kernel.http.client import Answer, Bounds, FetchFailed

HTML = "text/html; charset=utf-8"


def page(title: str = "A page", head: str = "", body: str = "<p>Text.</p>") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


class Web:
    """`says` has a page (text or bytes), a status with a page, or a failure, by address; `moved` has redirects."""

    def __init__(self) -> None:
        self.says: dict[str, Any] = {}
        self.moved: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.asked: list[str] = []
        self.bounds: list[Bounds] = []
        self._lock = threading.Lock()

    def get(self, url: str, headers: Mapping[str, str] | None = None, bounds: Bounds | None = None) -> Answer:
        with self._lock:
            self.asked.append(url)
            self.bounds.append(bounds or Bounds())
        place = url
        while place in self.moved:
            place = urljoin(place, self.moved[place])
        found = self.says.get(place, (404, page("Not found")))
        if callable(found):
            found = found()
        if isinstance(found, FetchFailed):
            raise found
        status, content = found if isinstance(found, tuple) else (200, found)
        body = content.encode() if isinstance(content, str) else content
        return Answer(status, {"content-type": self.types.get(place, HTML)}, body, place, place, 0.01)

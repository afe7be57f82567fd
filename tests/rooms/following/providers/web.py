"""The providers' hosts, in memory: what they answer is set by each test, what they were asked is remembered."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from chalicelib.kernel.http.client import Answer, Bounds, FetchFailed

ANSWERS = Path(__file__).parent / "answers"


def recorded(name: str) -> Any:
    """An answer in the shape the provider gives it: `recorded("youtube/channels")`."""
    return json.loads((ANSWERS / f"{name}.json").read_text())


@dataclass(frozen=True)
class Asked:
    place: str
    query: dict[str, str]
    headers: Mapping[str, str]
    form: dict[str, str]
    url: str


@dataclass
class Web:
    """`answers` has what each place (host and path) answers: JSON, a status with JSON or bytes, or a function of what
    was asked. Several in a list are given one after the other, the last one for ever."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, url: str, headers: Mapping[str, str] | None = None, bounds: Bounds | None = None) -> Answer:
        return self._answer(url, headers or {}, {})

    def post(self, url: str, body: bytes, headers: Mapping[str, str], bounds: Bounds | None = None) -> Answer:
        return self._answer(url, headers, dict(parse_qsl(body.decode(), keep_blank_values=True)))

    def _answer(self, url: str, headers: Mapping[str, str], form: dict[str, str]) -> Answer:
        parts = urlsplit(url)
        asked = Asked(parts.netloc + parts.path, dict(parse_qsl(parts.query)), headers, form, url)
        self.asked.append(asked)
        found = self.answers[asked.place]
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if isinstance(found, Callable):
            found = found(asked)
        if isinstance(found, FetchFailed):
            raise found
        status, content = found if isinstance(found, tuple) else (200, found)
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return Answer(status, self.headers, body, url, url, 0.01)

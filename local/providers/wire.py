"""A request as the small providers see it, and the answers they give."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from local.gateway.gateway import Answer, Headers

_NO_STORE = ("Cache-Control", "no-store")


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    def one(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[-1]

    def many(self, name: str) -> list[str]:
        """A list is repeated, or one text with commas."""
        return [part for text in self.query.get(name, ()) for part in text.split(",") if part]

    @property
    def form(self) -> dict[str, str]:
        fields = parse_qs(self.body.decode(errors="replace"), keep_blank_values=True)
        return {name: values[-1] for name, values in fields.items()}

    @property
    def bearer(self) -> str:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""


def parse(method: str, target: str, headers: Headers, body: bytes) -> Call:
    parts = urlsplit(target)
    query = parse_qs(parts.query, keep_blank_values=True)
    return Call(method, unquote(parts.path), query, {name.lower(): value for name, value in headers}, body)


def json_answer(value: Any, status: int = 200, *headers: tuple[str, str]) -> Answer:
    kind = ("Content-Type", "application/json; charset=UTF-8")
    return Answer(status, [kind, _NO_STORE, *headers], json.dumps(value, ensure_ascii=False).encode())


def text_answer(text: str, content_type: str, status: int = 200, *headers: tuple[str, str]) -> Answer:
    return Answer(status, [("Content-Type", content_type), _NO_STORE, *headers], text.encode())


def redirect(location: str, status: int = 303) -> Answer:
    return Answer(status, [("Location", location), _NO_STORE], b"")

"""What must be true of every answer, whatever was asked."""

import json
import re
from collections.abc import Iterable
from html.parser import HTMLParser

from tests.fixtures.client import Answer
from tests.hostile.anything import CANARY, kept

SECURITY = (
    "Content-Security-Policy",
    "Referrer-Policy",
    "X-Content-Type-Options",
    "Strict-Transport-Security",
)
_NAME = re.compile(r"[A-Za-z0-9-]+\Z")
_VALUE = re.compile(r"[\x20-\x7e]*\Z")
# None, a session of ours, or the end of one.
_COOKIE = re.compile(
    r"(__Host-session=([0-9a-f]{32}\.[\w-]{43}; Max-Age=604800|; Max-Age=0)"
    r"; Path=/; HttpOnly; SameSite=Lax; Secure)?\Z"
)
_MARKUP = re.compile(r"<[a-z!?/]", re.IGNORECASE)


class _Acting(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "embed", "base", "form", "svg", "math", "link"):
            self.found.append(tag)
        for name, value in attributes:
            scheme = re.sub(r"[\x00-\x20]", "", value or "").partition(":")[0].lower()
            if name.startswith("on") or name in ("srcdoc", "http-equiv") or scheme in ("javascript", "vbscript"):
                self.found.append(f"{tag} {name}")


def active(html: str) -> list[str]:
    """Whatever in it would do something in a browser; our own mails declare their charset by `http-equiv`."""
    parser = _Acting()
    parser.feed(html)
    return [found for found in parser.found if found != "meta http-equiv"]


def check(answer: Answer, sent: Iterable[str]) -> None:
    _check_headers(answer)
    assert answer.status < 500, (answer.status, answer.body[:200])
    kind = (answer.headers["Content-Type"] or "").partition(";")[0]
    if kind == "text/html":
        _check_page(answer, sent)
    elif answer.status >= 400 and answer.body:
        assert kind == "application/json"
        assert isinstance(answer.json, dict)
        assert list(answer.json) == ["error"]
        assert isinstance(answer.json["error"], str)
        assert CANARY not in answer.text, "a refusal repeats what was sent"


def _check_headers(answer: Answer) -> None:
    for name, value in answer.headers.items():
        assert _NAME.match(name), name
        assert _VALUE.match(value), (name, value)
    assert _COOKIE.match(answer.headers["Set-Cookie"] or "")


def _check_page(answer: Answer, sent: Iterable[str]) -> None:
    for name in SECURITY:
        assert name in answer.headers, name
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors" in policy
    if "sandbox" in policy:  # a mail shown as a page: its author's markup is meant, but nothing in it may act
        assert "allow-scripts" not in policy
        assert active(answer.text) == []
        return
    assert "unsafe" not in policy
    for text in sent:
        if _MARKUP.search(text):
            assert text not in answer.text, f"reflected: {text[:80]!r}"


def check_log(written: str) -> None:
    """Every line is one JSON object, and none repeats what a stranger sent."""
    assert CANARY not in written
    for line in written.splitlines():
        assert isinstance(json.loads(line), dict), line[:200]
    for text in kept():
        if len(text) > 12:
            assert text not in written, repr(text)
            assert json.dumps(text)[1:-1] not in written, repr(text)

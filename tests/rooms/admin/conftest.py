"""The dashboard as a browser without scripts sees it."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest

from chalicelib.kernel import clock
from local import demo
from local.ses.main import Client as Mailbox
from tests.fixtures.client import Answer, Client

ORIGIN = "https://news.example.org"


class Dashboard:
    def __init__(self, http: Client) -> None:
        self.http = http

    def get(self, path: str) -> Answer:
        return self.http.get(path)

    def see(self, path: str) -> str:
        """The text of a page, without its markup."""
        answer = self.http.get(path)
        assert answer.status == 200, answer.text
        return text(answer)

    def post(self, path: str, **fields: str | list[str]) -> Answer:
        return self.http.post(path, form=fields, Origin=ORIGIN)

    def follow(self, path: str, **fields: str | list[str]) -> str:
        """Send a form, and read the page it redirects to."""
        answer = self.post(path, **fields)
        assert answer.status == 303, text(answer)
        return self.see(answer.headers["Location"])


def text(answer: Answer) -> str:
    bare = re.sub(r"<(script|style|title).*?</\1>|<[^>]+>", " ", answer.text, flags=re.DOTALL)
    return " ".join(unescape(bare).split())


@pytest.fixture
def dashboard(admin: Client, ses: Mailbox) -> Dashboard:
    return Dashboard(admin)


@pytest.fixture
def person(aws: None) -> Callable[..., str]:
    """`person("ada@example.net", source="blog")`: a subscriber, confirmed unless `pending`."""

    def add(email: str, nickname: str | None = None, source: str = "blog", tags: tuple[str, ...] = (), **how: float):
        asked = clock.now() - timedelta(days=how.get("days_ago", 0.01))
        return demo.sign_up(email, nickname, (source, tags), asked, None if how.get("pending") else asked)

    return add

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from local.ses.main import Client as Mailbox
from tests.fixtures.client import Answer, Client


class Reader:
    def __init__(self, http: Client, mailbox: Mailbox, deliver: Callable[[], None], email: str) -> None:
        self.http = http
        self.mailbox = mailbox
        self.deliver = deliver
        self.email = email

    def subscribe(self, **fields: Any) -> Answer:
        answer = self.http.post("/api/subscribe", json={"email": self.email, **fields})
        self.deliver()
        return answer

    def mails(self) -> list[dict[str, Any]]:
        return self.mailbox.mails(to=self.email)

    def link(self) -> str:
        """The newest mail's link, as path and query."""
        found = re.search(r"https://news\.example\.org(/\S+)", self.mails()[0]["text"])
        assert found, "no link in the newest mail"
        return found.group(1)

    def token(self) -> str:
        return parse_qs(urlsplit(self.link()).query)["token"][0]

    def confirm(self) -> Answer:
        return self.http.get(self.link())

    def join(self, **fields: Any) -> "Reader":
        self.subscribe(**fields)
        assert self.confirm().status == 303
        return self

    def magic_token(self) -> str:
        assert self.http.post("/api/profile/request-link", json={"email": self.email}).status == 200
        self.deliver()
        return self.token()

    def stored(self) -> dict[str, Any]:
        """All that is stored, as the reader can download it."""
        return self.http.get(f"/profile/data?token={self.magic_token()}").json

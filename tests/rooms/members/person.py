"""Somebody with an account, in the tests: they sign up, open their mail, and do what members do."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from local.ses.main import Client as Mailbox
from tests.fixtures.client import Answer, Client

PASSWORD = "Correct-1 horse"
OTHER = "Battery-2 staple"


class Person:
    """`ip` is a client and network each, so that one person's limits are not another's."""

    def __init__(self, http: Client, mailbox: Mailbox, deliver: Callable[[], None], email: str, ip: str) -> None:
        self.http = http
        self.mailbox = mailbox
        self.deliver = deliver
        self.email = email
        self.ip = ip
        self.cookie = ""

    def send(self, method: str, path: str, **options: Any) -> Answer:
        """A request with the cookie, as a browser keeps it."""
        headers = {"Cookie": self.cookie} if self.cookie else {}
        answer = self.http.request(method, path, source_ip=self.ip, **{**headers, **options})
        if set_cookie := answer.headers["Set-Cookie"]:
            pair = set_cookie.partition(";")[0]
            self.cookie = "" if pair.endswith("=") else pair
        return answer

    def sign_up(self, password: Any = PASSWORD, confirm: Any = PASSWORD, **fields: Any) -> Answer:
        body = {"email": self.email, "password": password, "password_confirm": confirm, **fields}
        return self.send("POST", "/api/auth/signup", json=body)

    def join(self) -> "Person":
        assert self.sign_up().status == 201
        self.deliver()
        return self

    def join_verified(self) -> "Person":
        self.join()
        assert self.verify().status == 200
        return self

    def sign_in(self, password: Any = PASSWORD, **options: Any) -> Answer:
        return self.send("POST", "/api/auth/signin", json={"email": self.email, "password": password}, **options)

    def sign_out(self) -> Answer:
        return self.send("POST", "/api/auth/signout")

    def me(self) -> Answer:
        return self.send("GET", "/api/auth/me")

    def change(self, current: Any = PASSWORD, password: Any = OTHER, confirm: Any = OTHER) -> Answer:
        body = {"current_password": current, "password": password, "password_confirm": confirm}
        return self.send("PATCH", "/api/auth/me", json=body)

    def delete(self, password: Any = PASSWORD) -> Answer:
        return self.send("DELETE", "/api/auth/me", json={"password": password})

    def verify(self, token: Any = None) -> Answer:
        return self.send("POST", "/api/auth/verify", json={"token": token or self.token("/verify")})

    def request_reset(self) -> Answer:
        answer = self.send("POST", "/api/auth/request-reset", json={"email": self.email})
        self.deliver()
        return answer

    def reset(self, token: Any = None, password: Any = OTHER, confirm: Any = OTHER) -> Answer:
        body = {"token": token or self.token("/reset"), "password": password, "password_confirm": confirm}
        return self.send("POST", "/api/auth/reset", json=body)

    def elsewhere(self) -> "Person":
        """The same person on another device, not signed in."""
        return Person(self.http, self.mailbox, self.deliver, self.email, self.ip.replace("198.51.", "203.0."))

    def mails(self) -> list[dict[str, Any]]:
        return self.mailbox.mails(to=self.email)

    def token(self, path: str, name: str = "token") -> str:
        """Of the newest mail with such a link."""
        found = [re.search(rf"https://news\.example\.org({path}\?\S+)", mail["text"]) for mail in self.mails()]
        link = next(match.group(1) for match in found if match)
        return parse_qs(urlsplit(link).query)[name][0]

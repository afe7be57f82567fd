"""Asks the app through the local gateway, without a socket: `http.get("/health").json`."""

import json as _json
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from local.gateway import Gateway


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message  # case-insensitive; None for what is not there; get_all() for repeated ones
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @cached_property
    def json(self) -> Any:
        return _json.loads(self.body)


class Client:
    def __init__(self, gateway: Gateway, source_ip: str = "192.0.2.1") -> None:
        self._gateway = gateway
        self.source_ip = source_ip

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        body: bytes | str = b"",
        headers: Mapping[str, str] | None = None,
        source_ip: str | None = None,
        **named: str,
    ) -> Answer:
        """Headers as a mapping, or by name with underscores for dashes: `Origin="https://…"`, `Sec_Purpose="…"`."""
        sent = {name.replace("_", "-"): value for name, value in named.items()} | dict(headers or {})
        given = {name.lower() for name in sent}
        raw = body.encode() if isinstance(body, str) else body
        if json is not None:
            raw = _json.dumps(json).encode()
            sent |= {} if "content-type" in given else {"Content-Type": "application/json"}
        if form is not None:
            raw = urlencode(form).encode()
            sent |= {} if "content-type" in given else {"Content-Type": "application/x-www-form-urlencoded"}
        status, pairs, content = self._gateway.handle(method, path, sent, raw, source_ip or self.source_ip)
        message = Message()
        for name, value in pairs:
            message[name] = value
        return Answer(status, message, content)

    def get(self, path: str, **options: Any) -> Answer:
        return self.request("GET", path, **options)

    def head(self, path: str, **options: Any) -> Answer:
        return self.request("HEAD", path, **options)

    def options(self, path: str, **options: Any) -> Answer:
        return self.request("OPTIONS", path, **options)

    def post(self, path: str, **options: Any) -> Answer:
        return self.request("POST", path, **options)

    def patch(self, path: str, **options: Any) -> Answer:
        return self.request("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> Answer:
        return self.request("DELETE", path, **options)

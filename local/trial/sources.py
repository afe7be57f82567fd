"""The small YouTube and Spotify of a trial, in a process of their own: what is published there, and what breaks."""

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from local.providers.catalogue import CHANNELS, SHOWS

# Everything that is published on these has to arrive. What others begin and cease to follow, and where videos are
# deleted, has a channel of its own.
STEADY = (CHANNELS[0].id, CHANNELS[1].id, SHOWS[0].id)
RESTLESS = CHANNELS[2].id


class Sources:
    def __init__(self, url: str) -> None:
        self.url = url

    def publish(self, where: str, title: str) -> str:
        """Its id; empty if nobody answered, and then it may or may not be there."""
        return str(self._ask("publish", {"where": where, "title": title}).get("id", ""))

    def delete(self, id: str) -> None:
        self._ask("delete", {"id": id})

    def tell(self, **orders: Any) -> None:
        """The same to both of them."""
        for provider in ("youtube", "spotify"):
            self._ask("faults", {"provider": provider, **orders})

    def count_units(self) -> int:
        """What YouTube has counted of its quota."""
        return int(self._ask("calls").get("units", 0))

    def consent(self, path: str, asked: dict[str, str]) -> str:
        """The code that the browser would bring back."""
        request = urllib.request.Request(f"{self.url}{path}", urlencode(asked | {"decision": "allow"}).encode())
        try:
            with urllib.request.build_opener(_Stay).open(request, timeout=10) as answer:
                raise RuntimeError(f"the provider answered {answer.status}")
        except urllib.error.HTTPError as redirect:
            with redirect:
                return parse_qs(urlsplit(redirect.headers["Location"]).query)["code"][0]

    def _ask(self, what: str, orders: dict[str, Any] | None = None) -> dict[str, Any]:
        body = None if orders is None else json.dumps(orders).encode()
        request = urllib.request.Request(f"{self.url}/control/{what}", body, method="POST" if body else "GET")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                found = json.load(answer)
        except OSError:  # it is frozen, which is fault enough
            return {}
        return found if isinstance(found, dict) else {}


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *ignored: Any) -> None:
        return None

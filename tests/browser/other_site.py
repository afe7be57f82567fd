"""A website on another origin than Gna's, such as a reader would embed the form in."""

from typing import Any

from local.gateway.gateway import Answer
from local.gateway.server import Server


class OtherSite:
    def __init__(self) -> None:
        self._page, self._policy = "", ""
        self._server = Server(self._answer, 0)
        self.url = f"http://127.0.0.1:{self._server.port}"
        self._server.start()

    def show(self, html: str, policy: str = "", head: str = "", name: str = "Somebody’s site") -> str:
        """Serve a page with this content and content security policy, and return its URL."""
        self._policy = policy
        self._page = (
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{name}</title>{head}'
            f"<body><main><h1>{name}</h1>{html}</main></body></html>"
        )
        return self.url + "/"

    def stop(self) -> None:
        self._server.stop()

    def _answer(self, method: str, target: str, *rest: Any) -> Answer:
        headers = [("Content-Type", "text/html; charset=utf-8")]
        headers += [("Content-Security-Policy", self._policy)] if self._policy else []
        return Answer(200, headers, self._page.encode())

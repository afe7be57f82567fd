"""The demo blog beside the app: a page with the subscribe form, a feed to watch, and a form to publish posts.

It belongs to the local runner, and answers before the gateway does; nothing of it is deployed.
"""

import base64
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from chalicelib.kernel import settings
from local.blog import posts
from local.blog.posts import Posts
from local.gateway.gateway import Answer, Headers
from local.gateway.server import Handle

_BLOG = Path(__file__).parent


class Site:
    def __init__(self, folder: Path, otherwise: Handle, check_feed_first: Callable[[], None], mailbox: str) -> None:
        self._posts = Posts(folder / "posts.json")
        self._otherwise = otherwise
        self._check_feed_first = check_feed_first
        self._mailbox = mailbox

    def handle(self, method: str, target: str, headers: Headers, body: bytes, source_ip: str) -> Answer:
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query, keep_blank_values=True)
        page = self._page(path, query) if method in ("GET", "HEAD") else None
        if (method, path) == ("POST", "/demo/publish"):
            page = self._publish(headers, body)
        return page or self._otherwise(method, target, headers, body, source_ip)

    def _page(self, path: str, query: dict[str, list[str]]) -> Answer | None:
        match path.split("/"):
            case ["", "demo"]:
                return _redirect("/demo/")
            case ["", "demo", ""]:
                return self._front_page(query)
            case ["", "demo", "feed.xml"]:
                return _answer("application/rss+xml; charset=utf-8", posts.feed(self._posts.all(), _site()))
            case ["", "demo", "style.css"]:
                return _answer("text/css; charset=utf-8", (_BLOG / "style.css").read_text())
            case ["", "demo", "posts", slug]:
                post = self._posts.find(slug)
                return self._html("post.html", front=False, post=post) if post else None
        return None

    def _front_page(self, query: dict[str, list[str]]) -> Answer:
        published = self._posts.find(query.get("published", [""])[0])
        return self._html(
            "index.html", front=True, posts=self._posts.all(), published=published, untitled="untitled" in query
        )

    def _html(self, name: str, **values: Any) -> Answer:
        page = _template(name).render(site=_site(), mailbox=self._mailbox, **values)
        return _answer("text/html; charset=utf-8", page)

    def _publish(self, headers: Headers, body: bytes) -> Answer:
        given = {name.lower(): value for name, value in headers}
        if given.get("sec-fetch-site", "same-origin") != "same-origin":
            return Answer(403, [("Content-Type", "text/plain")], b"Publish from the blog's own page.\n")
        fields = parse_qs(body.decode(errors="replace"))
        title = fields.get("title", [""])[0].strip()[:200]
        if not title:
            return _redirect("/demo/?untitled#done")
        self._check_feed_first()
        post = self._posts.add(title, fields.get("text", [""])[0].strip()[:20_000])
        threading.Thread(target=self._announce, daemon=True).start()
        return _redirect(f"/demo/?published={quote(post.slug)}#done")

    def _announce(self) -> None:
        """Call the webhook of the app at once, signed; otherwise the next check finds the post."""
        id, moment, body = f"post_{secrets.token_hex(8)}", str(int(time.time())), b"{}"
        key = settings.secret("WEBHOOK_SECRET")
        signature = base64.b64encode(hmac.digest(key, f"{id}.{moment}.".encode() + body, "sha256")).decode()
        headers = [
            ("Content-Type", "application/json"),
            ("webhook-id", id),
            ("webhook-timestamp", moment),
            ("webhook-signature", f"v1,{signature}"),
        ]
        self._otherwise("POST", "/api/webhooks/feed", headers, body, "127.0.0.1")


def _redirect(path: str) -> Answer:
    return Answer(303, [("Location", path), ("Cache-Control", "no-store")], b"")


def _answer(content_type: str, text: str) -> Answer:
    return Answer(200, [("Content-Type", content_type), ("Cache-Control", "no-store")], text.encode())


def _site() -> settings.Settings:
    return settings.current()


def _template(name: str) -> Any:
    import jinja2

    loader = jinja2.FileSystemLoader(_BLOG)
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined).get_template(name)

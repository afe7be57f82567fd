"""What programs read of the archive: its feeds, the sitemap, and what robots may visit."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from chalicelib.campaigns.content import archive, archive_feeds
from chalicelib.campaigns.content.archive_feeds import Feed
from chalicelib.campaigns.content.archive_handlers import KEEP
from chalicelib.campaigns.content.catalogue import Issue
from chalicelib.kernel import clock, publication, settings
from chalicelib.kernel.errors import NotFound
from chalicelib.kernel.recent import Recent
from chalicelib.web import pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# A sitemap may have 50,000 addresses, but they would not fit into what Lambda answers.
PER_SITEMAP = 20_000
# To render twenty campaigns takes half a second, and the tag says whether anything has changed since.
_written: Recent[str] = Recent(timedelta(hours=1), 2)
# Links that were mailed to one person, and what stands behind a session: nothing for a list of search results.
_PRIVATE = (
    "/admin", "/api/", "/confirm", "/never", "/profile", "/resume", "/account", "/verify", "/reset", "/sightings",
    "/following", "/inbox",
)  # fmt: skip


def atom_feed(request: Request) -> Response:
    return _feed(request, archive_feeds.write_atom, "application/atom+xml")


def json_feed(request: Request) -> Response:
    return _feed(request, archive_feeds.write_json, "application/feed+json")


def sitemap(request: Request) -> Response:
    """One document, or from a certain size on a list of several, under the same path."""
    issues = archive.list_all() if publication.current().archive else []
    part = request.query.get("part", "")
    if not part and len(issues) > PER_SITEMAP:
        parts = range(1, -(-len(issues) // PER_SITEMAP) + 1)
        return _xml("public/sitemap_index.xml", parts=parts)
    return _xml("public/sitemap.xml", issues=_part(issues, part), with_home=part in ("", "1"), text=clock.text)


def robots(request: Request) -> Response:
    site = settings.current()
    refused = "".join(f"Disallow: {urlsplit(site.url(path)).path}\n" for path in _PRIVATE)
    body = f"User-agent: *\n{refused}Allow: /\n\nSitemap: {site.url('/sitemap.xml')}\n"
    return responses.asset(body, "text/plain", 3600)


def _feed(request: Request, write: Callable[[Feed], str], content_type: str) -> Response:
    """Readers come back every few minutes: who has seen it already gets no body, and no text is read for it."""
    issues = archive_feeds.list_latest()
    tag = archive_feeds.tag(issues)
    if tag in request.headers.get("if-none-match", ""):
        return responses.asset("", content_type, 60).with_status(304).with_headers(ETag=tag, Cache_Control=KEEP)
    body = _written.get((tag, content_type)) or _written.put((tag, content_type), write(archive_feeds.read(issues)))
    return responses.asset(body, content_type, 60).with_headers(ETag=tag, Cache_Control=KEEP)


def _part(issues: Sequence[Issue], part: str) -> Sequence[Issue]:
    if not part:
        return issues
    if not (part.isascii() and part.isdigit() and len(part) < 5 and int(part) > 0):
        raise NotFound("Page not found")
    found = issues[(int(part) - 1) * PER_SITEMAP : int(part) * PER_SITEMAP]
    if not found:
        raise NotFound("Page not found")
    return found


def _xml(template: str, **values: Any) -> Response:
    return responses.asset(pages.text(template, **values), "application/xml", 60).with_headers(Cache_Control=KEEP)

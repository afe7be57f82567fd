"""The archive as a feed: the latest issues with everything they say, as Atom and as JSON Feed."""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from msgspec import Struct

from chalicelib.campaigns import store
from chalicelib.campaigns.content import archive, corrections, excerpts, renderer
from chalicelib.campaigns.content.catalogue import Issue
from chalicelib.campaigns.model import CampaignDetail, Content
from chalicelib.kernel import clock, log, publication, settings
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.version import VERSION
from chalicelib.web import pages

LATEST = 20
# Of all contents together. Readers fetch a feed again and again, and Lambda answers with 6 MB at most.
MOST_BYTES = 1_000_000
_EPOCH = clock.parse("2026-01-01T00:00:00Z")
# What XML cannot contain, not even escaped.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Entry(Struct, frozen=True):
    """`html` is empty if the issue would make the feed too large."""

    issue: Issue
    summary: str
    html: str
    picture: str


class Feed(Struct, frozen=True):
    entries: list[Entry]
    updated: datetime


def list_latest() -> Sequence[Issue]:
    return archive.list_all()[:LATEST]


def tag(issues: Sequence[Issue]) -> str:
    """Changes with whatever a feed of these issues shows. No text has to be read for it."""
    seen = [f"{issue.id} {issue.stamp} {issue.published_at}" for issue in issues]
    facts = (VERSION, settings.current().site_url, publication.current(), seen)
    return f'"{sha256(repr(facts).encode()).hexdigest()[:20]}"'


def read(issues: Sequence[Issue]) -> Feed:
    contents = store.list_web_contents(issue.campaign for issue in issues)
    room = MOST_BYTES
    entries = []
    for issue in issues:
        if issue.id in contents:
            entry = _entry(issue, contents[issue.id], room)
            room -= len(entry.html.encode())
            entries.append(entry)
    return Feed(entries, max((issue.updated_at for issue in issues), default=_EPOCH))


def write_atom(feed: Feed) -> str:
    return _NOT_IN_XML.sub("", pages.text("public/archive_feed.xml", feed=feed, text=clock.text))


def write_json(feed: Feed) -> str:
    """JSON Feed 1.1."""
    site, ours = settings.current(), publication.current()
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": ours.name,
        "home_page_url": site.url("/"),
        "feed_url": site.url("/archive/feed.json"),
        "description": ours.tagline,
        "icon": pages.absolute(ours.logo),
        "language": ours.language,
        "authors": [{"name": ours.name, "url": site.url("/")}],
        "items": [_item(entry) for entry in feed.entries],
    }
    return json.dumps({name: value for name, value in document.items() if value != ""}, ensure_ascii=False)


def _entry(issue: Issue, content: Content, room: int) -> Entry:
    web_version = CampaignDetail(corrections.as_corrected(issue.campaign), content, ())
    try:
        article = renderer.render_article(web_version, issue.campaign.correction)
    except Invalid as failure:
        log.exception("archive.unreadable", failure, campaign_id=issue.id)
        return Entry(issue, issue.preheader, "", "")
    summary = issue.preheader or excerpts.shorten(article.text, issue.subject, article.has_title)
    html = article.html if len(article.html.encode()) <= room else ""
    return Entry(issue, summary, html, archive.find_picture(article.html))


def _item(entry: Entry) -> dict[str, Any]:
    issue = entry.issue
    content = {"content_html": entry.html} if entry.html else {"content_text": entry.summary or issue.subject}
    item = {
        "id": f"urn:uuid:{issue.id}",
        "url": issue.url,
        "title": issue.subject,
        **content,
        "summary": entry.summary,
        "image": entry.picture,
        "date_published": clock.text(issue.published_at),
        "date_modified": clock.text(issue.updated_at),
    }
    return {name: value for name, value in item.items() if value != ""}

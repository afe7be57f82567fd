"""Makes one campaign of all new entries: title, excerpt and link of each."""

from collections.abc import Sequence

from msgspec.structs import replace

from chalicelib.campaigns.content.placeholders import escape, visible
from chalicelib.campaigns.service import Draft
from chalicelib.feeds.bodies import FeedEntry
from chalicelib.feeds.reading import excerpt
from chalicelib.feeds.reading.model import Entry
from chalicelib.kernel import clock, settings
from chalicelib.mail import templates

_LONGEST_EXCERPT = 320
_LONGEST_SUBJECT = 200
_LONGEST_PREHEADER = 120
_LONGEST_MADE_UP_TITLE = 70
_MOST = 50


def preview(entry: Entry) -> FeedEntry:
    """The entry as it is mailed."""
    title, text = visible(entry.title), visible(excerpt.plain_text(entry.html))
    return FeedEntry(
        title=title or excerpt.truncate(text, _LONGEST_MADE_UP_TITLE) or "A new post",
        # The first words of a post without a title are its title already.
        excerpt=excerpt.truncate(text, _LONGEST_EXCERPT) if title or len(text) > _LONGEST_MADE_UP_TITLE else "",
        link=entry.link,
        image=entry.image or excerpt.first_image(entry.html, entry.base),
        published_at=clock.text(entry.dated) if entry.dated else None,
    )


def preview_latest(entries: Sequence[Entry], limit: int) -> list[FeedEntry]:
    """The latest entries first, for the dashboard."""
    latest = sorted(entries, key=lambda entry: entry.dated.timestamp() if entry.dated else 0.0, reverse=True)
    return [preview(entry) for entry in latest[:limit]]


def draft(entries: Sequence[Entry]) -> Draft:
    shown = [preview(entry) for entry in entries[:_MOST]]
    # `{{nickname}}` in a campaign is filled in for each reader; in a post about templates it is meant literally.
    items = [replace(item, title=escape(item.title), excerpt=escape(item.excerpt)) for item in shown]
    body = templates.environment().get_template("feed_digest.html")
    return Draft(
        subject=escape(_subject(shown, len(entries))),
        body=body.render(items=items, more=len(entries) - len(items), site_name=settings.current().site_name),
        preheader=escape(_preheader(shown)),
    )


def _subject(items: Sequence[FeedEntry], count: int) -> str:
    others = f" and {count - 1} more" if count > 1 else ""
    return excerpt.truncate(items[0].title, _LONGEST_SUBJECT - len(others)) + others


def _preheader(items: Sequence[FeedEntry]) -> str:
    if len(items) == 1:
        return excerpt.truncate(items[0].excerpt, _LONGEST_PREHEADER)
    return excerpt.truncate(" · ".join(item.title for item in items[1:]), _LONGEST_PREHEADER)

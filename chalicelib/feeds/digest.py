"""What is mailed of new entries: one campaign for all of them, title, excerpt and link each."""

from collections.abc import Sequence

from msgspec import Struct, to_builtins

from chalicelib.campaigns.service import Draft
from chalicelib.feeds.model import Entry
from chalicelib.feeds.reading import excerpt
from chalicelib.kernel import clock, settings
from chalicelib.mail import templates

_LONGEST_EXCERPT = 320
_LONGEST_SUBJECT = 200
_LONGEST_PREHEADER = 120
_LONGEST_MADE_UP_TITLE = 70
_MOST = 50


class Item(Struct, frozen=True):
    """An entry as a reader sees it: plain texts, not escaped yet, and http(s) URLs."""

    title: str
    excerpt: str
    link: str
    image: str
    published_at: str | None


def item(entry: Entry) -> Item:
    text = _literal(excerpt.plain(entry.html))
    return Item(
        title=_literal(entry.title) or excerpt.cut(text, _LONGEST_MADE_UP_TITLE) or "A new post",
        # A post without a title has its first words there already.
        excerpt=excerpt.cut(text, _LONGEST_EXCERPT) if entry.title or len(text) > _LONGEST_MADE_UP_TITLE else "",
        link=entry.link,
        image=entry.image or excerpt.first_image(entry.html, entry.base),
        published_at=clock.text(entry.dated) if entry.dated else None,
    )


def _literal(text: str) -> str:
    """`{{nickname}}` in a campaign is filled in for each reader; in a post about templates it is meant as it is."""
    return text.replace("{{", "{\u2060{")


def preview_entries(entries: Sequence[Entry], most: int) -> list[dict[str, str | None]]:
    """The latest of them as plain values, for whoever looks at the feed."""
    latest = sorted(entries, key=lambda entry: entry.dated.timestamp() if entry.dated else 0.0, reverse=True)
    return [to_builtins(item(entry)) for entry in latest[:most]]


def draft(entries: Sequence[Entry]) -> Draft:
    items = [item(entry) for entry in entries[:_MOST]]
    body = templates.environment().get_template("feed_digest.html")
    return Draft(
        subject=_subject(items, len(entries)),
        body=body.render(items=items, more=len(entries) - len(items), site_name=settings.current().site_name),
        preheader=_preheader(items),
    )


def _subject(items: Sequence[Item], count: int) -> str:
    others = f" and {count - 1} more" if count > 1 else ""
    return excerpt.cut(items[0].title, _LONGEST_SUBJECT - len(others)) + others


def _preheader(items: Sequence[Item]) -> str:
    if len(items) == 1:
        return excerpt.cut(items[0].excerpt, _LONGEST_PREHEADER)
    return excerpt.cut(" · ".join(item.title for item in items[1:]), _LONGEST_PREHEADER)

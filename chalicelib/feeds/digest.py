"""Makes one campaign of all new entries: title, picture, excerpt and link of each.

A deployment may bring `templates/own/email/feed_digest.html`, which gets `items`, `more` and `site_name` and writes
the body in HTML.
"""

import html
from collections.abc import Iterator, Sequence
from gettext import NullTranslations
from typing import Any

from msgspec.structs import replace

from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Block, Heading, Image, Item, Text
from chalicelib.campaigns.content.placeholders import escape, visible
from chalicelib.campaigns.model import Format
from chalicelib.campaigns.service import Draft
from chalicelib.feeds.bodies import FeedEntry
from chalicelib.feeds.pictures import Resolve, as_they_are
from chalicelib.feeds.reading import excerpt
from chalicelib.feeds.reading.model import Entry
from chalicelib.kernel import clock, languages, publication
from chalicelib.kernel.wording import for_readers
from chalicelib.mail import templates

# What is said around the posts, in the publication's language.
_UNTITLED = for_readers("A new post")
_NEW = for_readers("New on %(site)s")
_ONE = for_readers("%(greeting)s, here is a new post from %(site)s.")
_SOME = for_readers("%(greeting)s, here are the new posts from %(site)s.")
_LONGEST_EXCERPT = 320
_LONGEST_TITLE = 300
_LONGEST_SUBJECT = 200
_LONGEST_PREHEADER = 120
_LONGEST_MADE_UP_TITLE = 70
_LONGEST_KEPT = 400  # more than is mailed, so that it is cut at the same word
_MOST = 50


def preview(entry: Entry) -> FeedEntry:
    """The entry as it is mailed."""
    title, text = visible(entry.title), visible(excerpt.plain_text(entry.html))
    return FeedEntry(
        title=title or excerpt.truncate(text, _LONGEST_MADE_UP_TITLE) or _words().gettext(_UNTITLED),
        # The first words of a post without a title are its title already.
        excerpt=excerpt.truncate(text, _LONGEST_EXCERPT) if title or len(text) > _LONGEST_MADE_UP_TITLE else "",
        link=entry.link,
        image=entry.image,
        published_at=clock.text(entry.dated) if entry.dated else None,
    )


def preview_latest(entries: Sequence[Entry], limit: int) -> list[FeedEntry]:
    """The latest entries first, for the dashboard."""
    latest = sorted(entries, key=lambda entry: entry.dated.timestamp() if entry.dated else 0.0, reverse=True)
    return [preview(entry) for entry in latest[:limit]]


def keep(entry: Entry) -> Entry:
    """What is kept of an entry that waits: it is mailed as the whole one would be."""
    text = excerpt.truncate(visible(excerpt.plain_text(entry.html)), _LONGEST_KEPT)
    return Entry(
        id="",
        title=entry.title,
        link=entry.link,
        published=entry.published,
        updated=entry.updated,
        html=html.escape(text),
        image=entry.image,
        audio=entry.audio,
        duration=entry.duration,
    )


def draft(entries: Sequence[Entry], more: int = 0, resolve: Resolve = as_they_are) -> Draft:
    """Of the same blocks that editors compose of, unless the deployment has a template for it. `more` are entries
    beside these; `resolve` says where the mail finds each picture."""
    listed = entries[:_MOST]
    pictures = resolve(entry.image for entry in listed)
    shown = [replace(item, image=pictures.get(item.image, "")) for item in map(preview, listed)]
    own = _own_template()
    count = len(entries) + more
    more = count - len(listed)
    return Draft(
        subject=escape(_subject(shown, count)),
        body=_fill(own, shown, more) if own else blocks.write(_blocks(listed, shown, more)),
        preheader=escape(_preheader(shown)),
        format=Format.HTML if own else Format.MARKDOWN,
    )


def _blocks(entries: Sequence[Entry], shown: Sequence[FeedEntry], more: int) -> Iterator[Block]:
    site = _literal(publication.current().name)
    words = _words()
    what = words.gettext(_ONE if len(shown) == 1 else _SOME)
    yield Heading(words.gettext(_NEW) % {"site": site}, 1)
    yield Text(what % {"greeting": "{{greeting}}", "site": site})
    for entry, item in zip(entries, shown, strict=True):
        yield from _item(entry, item) if item.link else _without_link(item)
    if more:
        yield Text(words.ngettext("And %(num)s more.", "And %(num)s more.", more) % {"num": more})


def _item(entry: Entry, item: FeedEntry) -> Iterator[Block]:
    yield Item(
        title=excerpt.truncate(item.title, _LONGEST_TITLE),
        link=item.link,
        kind="podcast" if entry.audio else "",
        duration=entry.duration if entry.audio else None,
        picture=item.image,
        excerpt=item.excerpt,
    )


def _without_link(item: FeedEntry) -> Iterator[Block]:
    """An item is there to be followed; this can only be read."""
    yield Heading(_literal(item.title), 3)
    if item.image:
        yield Image(item.image, escape(item.title))
    yield Text(_literal(item.excerpt))


def _literal(text: str) -> str:
    return escape(blocks.literal(text))


def _own_template() -> Any:
    from jinja2 import TemplateNotFound

    try:
        return templates.environment().get_template("feed_digest.html")
    except TemplateNotFound:
        return None


def _fill(own: Any, shown: Sequence[FeedEntry], more: int) -> str:
    # `{{nickname}}` in a campaign is filled in for each reader; in a post about templates it is meant literally.
    items = [replace(item, title=escape(item.title), excerpt=escape(item.excerpt)) for item in shown]
    return str(own.render(items=items, more=more, site_name=publication.current().name))


def _subject(items: Sequence[FeedEntry], count: int) -> str:
    if count == 1:
        return excerpt.truncate(items[0].title, _LONGEST_SUBJECT)
    both = _words().ngettext("%(title)s and %(num)s more", "%(title)s and %(num)s more", count - 1)
    room = _LONGEST_SUBJECT - len(both % {"title": "", "num": count - 1})
    return both % {"title": excerpt.truncate(items[0].title, room), "num": count - 1}


def _words() -> NullTranslations:
    return languages.catalogue(languages.choose())


def _preheader(items: Sequence[FeedEntry]) -> str:
    if len(items) == 1:
        return excerpt.truncate(items[0].excerpt, _LONGEST_PREHEADER)
    return excerpt.truncate(" · ".join(item.title for item in items[1:]), _LONGEST_PREHEADER)

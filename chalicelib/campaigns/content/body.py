"""The body of a campaign: from what an author wrote to clean HTML and plain text, with marks for placeholders."""

import re
from functools import lru_cache
from typing import Any

from msgspec import Struct

from chalicelib.campaigns.content import plain_text, sanitise
from chalicelib.campaigns.content.cards import Cards
from chalicelib.campaigns.content.placeholders import Placeholders
from chalicelib.campaigns.model import Format
from chalicelib.kernel import log, settings
from chalicelib.kernel.errors import GnaError, Invalid
from chalicelib.kernel.publication import DESIGNS

_TAG = re.compile(r"<[^<>]*>")
_LANGUAGES = {Format.HTML: "HTML", Format.MARKDOWN: "Markdown"}


class Body(Struct, frozen=True):
    """`searched` is looked through for placeholders nobody fills in, `removed` is what the sanitiser took out, and
    `bare` the HTML without its cards."""

    html: str
    searched: str
    removed: list[str]
    bare: str
    cards: Cards | None = None

    @property
    def has_title(self) -> bool:
        """Whether the author wrote one; one in an editor's note is none."""
        return "<h1" in self.bare

    @property
    def begins_with_title(self) -> bool:
        """Whether nothing but pictures stands before the author's title."""
        before, title, _ = self.bare.partition("<h1")
        return bool(title) and not _TAG.sub("", before).strip()

    @property
    def has_own_colours(self) -> bool:
        return sanitise.has_backgrounds(self.html)

    def text(self) -> str:
        written = plain_text.from_html(self.bare)
        return self.cards.fill_text(written) if self.cards else written


def read(format: Format, source: str, found: Placeholders, design: str = DESIGNS[0]) -> Body:
    """With cards as they are in this design. Raises `Invalid` if it cannot be rendered."""
    try:
        return _read_markdown(source, found, design) if format is Format.MARKDOWN else _read_html(source, found)
    except GnaError:
        raise
    except Exception as failure:
        # What parsers raise shares no base class. Whatever it is, the body is to blame.
        log.exception("campaign.unreadable", failure)
        raise Invalid(
            f"Body cannot be read as {_LANGUAGES[format]}: look for tags that are not complete"
        ) from failure


def _read_html(source: str, found: Placeholders) -> Body:
    markup = found.take(source, is_html=True)
    clean = _clean(markup, found)
    return Body(clean, clean, sanitise.describe_removed(found.typed(markup), found.typed(clean)), clean)


def _read_markdown(source: str, found: Placeholders, design: str) -> Body:
    def read_note(text: str) -> tuple[str, str]:
        """Cleaned apart, so that a tag left open in it ends with it."""
        written = _markdown()(text) if text else ""
        return written, _clean(written, found)

    cards = Cards(source, found, read_note, design)
    markup = _markdown()(cards.markdown)
    bare = _clean(markup, found)
    written, kept = cards.notes
    removed = sanitise.describe_removed(found.typed(markup + written), found.typed(bare + kept))
    html = _clean(cards.fill_html(markup), found) if cards else bare
    # Markdown takes `|` for a table and `*` for emphasis, so placeholders are looked for in what was typed.
    return Body(html, cards.searched, removed, bare, cards)


def _clean(markup: str, found: Placeholders) -> str:
    return found.marks.clear(sanitise.clean(markup, settings.current().site_url, found.impersonal))


@lru_cache(maxsize=1)
def _markdown() -> Any:
    import mistune

    return mistune.create_markdown(escape=False, plugins=["strikethrough", "table", "url"])

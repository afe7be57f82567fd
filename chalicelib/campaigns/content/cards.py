"""The items of a Markdown body as cards, in HTML (`templates/email/item.html`) and in plain text (`item.txt`).

While the Markdown around them is read, a word nobody can have written stands for each of them. An editor's note may
contain placeholders; braces in a title, a source or an excerpt are only braces.
"""

import re
import secrets
import unicodedata
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from chalicelib.campaigns.content import blocks, plain_text
from chalicelib.campaigns.content.blocks import Item
from chalicelib.campaigns.content.placeholders import Placeholders, escape
from chalicelib.kernel import languages
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.wording import for_readers
from chalicelib.mail import templates

_KINDS = {
    "link": "",
    "article": for_readers("Article"),
    "podcast": for_readers("Podcast"),
    "sighting": for_readers("Sighting"),
    "video": for_readers("Video"),
}
_FROM_THE_RIGHT, _LETTERS = {"R", "AL"}, {"L", "R", "AL"}
_COVERS = {"podcast"}  # their pictures are square


class Card(Struct, frozen=True):
    """`values` are for both templates, with marks for placeholders; `note` is clean HTML."""

    values: dict[str, Any]
    written: str
    note: str


class Cards:
    """`markdown` is the body with a slot in the place of each item, `searched` what may contain placeholders."""

    def __init__(
        self, source: str, found: Placeholders, read_note: Callable[[str], tuple[str, str]], design: str
    ) -> None:
        self._design = design
        self._number = secrets.token_hex(8)
        self._cards: list[Card] = []
        shown, searched = [], []
        for piece in blocks.split(source):
            text = found.take(piece.note if isinstance(piece, Item) else piece, is_html=True)
            searched.append(text)
            if not isinstance(piece, Item):
                shown.append(text)
                continue
            if len(self._cards) == blocks.MOST_ITEMS:
                raise Invalid(f"Body has more than {blocks.MOST_ITEMS} items")
            shown.append(self._slot(len(self._cards)))
            self._cards.append(_card(piece, found, *read_note(text)))
        self.markdown, self.searched = "\n\n".join(shown), "\n\n".join(searched)

    def __len__(self) -> int:
        return len(self._cards)

    @property
    def notes(self) -> tuple[str, str]:
        """All of them, before they were cleaned and after."""
        return "".join(card.written for card in self._cards), "".join(card.note for card in self._cards)

    def fill_html(self, markup: str) -> str:
        template = templates.environment().get_template("item.html")
        return self._fill(
            markup, lambda card: str(template.render(card.values, note=_safe(card.note), design=self._design))
        )

    def fill_text(self, text: str) -> str:
        template = templates.environment().get_template("item.txt")
        return self._fill(
            text, lambda card: str(template.render(card.values, note=plain_text.from_html(card.note))).strip()
        )

    def _fill(self, text: str, render: Callable[[Card], str]) -> str:
        slot = self._slot(r"(\d+)")
        return re.sub(f"(?:<p>)?{slot}(?:</p>)?", lambda match: render(self._cards[int(match[1])]), text)

    def _slot(self, number: object) -> str:
        return f"item{self._number}n{number}n"


def facts(item: Item) -> str:
    """What it is, and how long it takes: `Video · 12 min`."""
    kind = _KINDS.get(item.kind.lower(), item.kind[:1].upper() + item.kind[1:])
    kind = languages.catalogue(languages.choose()).gettext(kind) if kind else ""
    return " · ".join(word for word in (kind, _minutes(item.duration)) if word)


def _card(item: Item, found: Placeholders, written: str, note: str) -> Card:
    texts = {
        "title": item.title or item.link,
        "link": item.link,
        "source": item.source,
        "facts": facts(item),
        "picture": item.picture,
        "alt": item.alt or item.title,
        "excerpt": item.excerpt,
    }
    values: dict[str, Any] = {name: found.take(escape(text)) for name, text in texts.items()}
    values["is_cover"] = item.kind.lower() in _COVERS
    # Said outright, because Outlook cannot find it out.
    values["direction"] = _direction(item.title + item.excerpt)
    values["note_direction"] = _direction(item.note)
    return Card(values, written, note)


def _direction(text: str) -> str:
    """That of the first letter which has one."""
    found = (unicodedata.bidirectional(character) for character in text)
    return "rtl" if next((kind for kind in found if kind in _LETTERS), "") in _FROM_THE_RIGHT else "ltr"


def _minutes(seconds: int | None) -> str:
    if not seconds:
        return ""
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    return " ".join(part for part in (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "") if part)


def _safe(markup: str) -> Any:
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 - sanitised

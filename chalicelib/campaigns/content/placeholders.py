"""What differs from reader to reader in a campaign, and how it reaches SES.

An author writes `{{nickname}}`, `{{nickname|friend}}` or `{{greeting}}`, `{{greeting|Hello}}`. These placeholders are
taken out before anything else reads the text, are marked by a Unicode noncharacter while it is rendered, and become
holes such as `{{n0}}` at the end. SES fills holes and does nothing else: it does not escape, and it fails at a hole
without a value. So every value comes in an escaped and a plain form, and braces that the author simply typed are
sent as values too.
"""

import html
import re
from collections.abc import Mapping

from msgspec import Struct

from chalicelib.audience.model import LONGEST_NICKNAME

_WRITTEN = re.compile(r"\{\{\s*(nickname|greeting)\s*(?:\|([^{}<>\n\ufdd0\ufdd1]{0,60}))?\}\}")
_MARK = re.compile("\ufdd0(\\d+)\ufdd1")
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef]")
_BRACES = re.compile(r"[{}\\]{2,}")
_BEFORE_HOLE = re.compile(r"[{\\]+\Z")
_AFTER_HOLE = re.compile(r"\A\}+")
_HOLE = re.compile(r"\{\{([a-z]\w*)\}\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

GREETING = "Hi"
TOKEN = "token"  # noqa: S105 - the name of a hole


class Placeholder(Struct, frozen=True):
    """Text that differs for each reader, with a fallback for readers without a nickname."""

    kind: str
    fallback: str
    typed: str

    def value(self, nickname: str | None) -> str:
        if self.kind == "greeting":
            return f"{self.fallback}, {nickname}" if nickname else self.fallback
        return nickname or self.fallback


class Placeholders:
    """Collects the placeholders of all texts of a campaign, each once."""

    def __init__(self) -> None:
        self.all: list[Placeholder] = []
        self.fixed: dict[str, str] = {}

    def take(self, text: str, is_html: bool = False) -> str:
        """The text with a mark in the place of each placeholder."""

        def mark(match: re.Match[str]) -> str:
            fallback = html.unescape(match[2] or "") if is_html else match[2] or ""
            return self._mark(Placeholder(match[1], fallback.strip() or _usual_fallback(match[1]), match[0]))

        return _WRITTEN.sub(mark, _NONCHARACTERS.sub("", text))

    def typed(self, text: str) -> str:
        """Back to what the author typed, for places that are the same for all readers, such as addresses."""
        return _MARK.sub(lambda match: self.all[int(match[1])].typed, text)

    def without_nickname(self, text: str) -> str:
        """As it reads for somebody without a nickname."""
        return self.fill_in(text, None)

    def fill_in(self, text: str, nickname: str | None) -> str:
        return _MARK.sub(lambda match: self.all[int(match[1])].value(nickname), text)

    def holes(self, text: str, is_html: bool) -> str:
        """The text as a template for SES: holes for marks, and for braces that SES would take for holes."""
        parts = _MARK.split(text)
        written = []
        for position, part in enumerate(parts):
            if position % 2:
                written.append(f"{{{{{'n' if is_html else 'p'}{part}}}}}")
            else:
                written.append(self._literal(part, position > 0, position < len(parts) - 1))
        return "".join(written)

    def _literal(self, text: str, after_hole: bool, before_hole: bool) -> str:
        text = _BRACES.sub(lambda match: self._fixed(match) if "{{" in match[0] else match[0], text)
        # A third brace, or a backslash, beside a hole would change what the hole means.
        text = _AFTER_HOLE.sub(self._fixed, text) if after_hole else text
        return _BEFORE_HOLE.sub(self._fixed, text) if before_hole else text

    def _fixed(self, match: re.Match[str]) -> str:
        name = next((name for name, run in self.fixed.items() if run == match[0]), f"b{len(self.fixed)}")
        self.fixed[name] = match[0]
        return f"{{{{{name}}}}}"

    def _mark(self, placeholder: Placeholder) -> str:
        if placeholder not in self.all:
            self.all.append(placeholder)
        return f"\ufdd0{self.all.index(placeholder)}\ufdd1"


def extremes(line: str) -> tuple[str, str]:
    """As it reads for somebody without a nickname, and for somebody with the longest there is."""
    found = Placeholders()
    marked = found.take(line)
    return found.without_nickname(marked), found.fill_in(marked, "x" * LONGEST_NICKNAME)


def values(
    found: tuple[Placeholder, ...], fixed: Mapping[str, str], nickname: str | None, token: str
) -> dict[str, str]:
    """Everything one reader's mail needs: `n…` for the HTML, `p…` for the plain text and the subject."""
    name = _CONTROL.sub(" ", nickname).strip() if nickname else None
    filled = {TOKEN: token, **fixed}
    for number, placeholder in enumerate(found):
        value = placeholder.value(name)
        filled[f"p{number}"] = value
        filled[f"n{number}"] = html.escape(value)
    return filled


def fill(template: str, given: Mapping[str, str]) -> str:
    """What SES does: put the values in as they are."""
    return _HOLE.sub(lambda match: given[match[1]], template)


def _usual_fallback(kind: str) -> str:
    return GREETING if kind == "greeting" else ""

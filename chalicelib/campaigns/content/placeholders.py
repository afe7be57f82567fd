"""What differs from reader to reader in a campaign, and how it reaches SES.

An author writes `{{nickname}}`, `{{nickname|friend}}` or `{{greeting}}`, `{{greeting|Hello}}`, and `\\{{` for braces
that are only braces. All of these are taken out before anything else reads the text, are marked while it is rendered
(`marks`), and become holes such as `{{n0}}` at the end. SES fills holes and does nothing else: it does not escape,
and it fails at a hole without a value. So every value comes in an escaped and a plain form, and braces that SES would
read are sent as values too.
"""

import html
import re
from collections.abc import Mapping

from msgspec import Struct

from chalicelib.audience.model import LONGEST_NICKNAME
from chalicelib.campaigns.content.marks import Marks, without_invisible
from chalicelib.kernel import languages
from chalicelib.kernel.wording import for_readers

LONGEST_FALLBACK = 60
# `{{nickname|default: "x"}}` is another tool's way to write a fallback; here it would be read as the fallback itself.
_WRITTEN = re.compile(
    r"\\\{\{"
    r"|\{\{\s*(nickname|greeting)\s*"
    rf"(?:\|(?!\s*default\s*[:(])([^{{}}<>\n]{{0,{LONGEST_FALLBACK}}}))?\}}\}}",
    re.IGNORECASE,
)
_BRACES = re.compile(r"[{}\\]{2,}")
_HOLE = re.compile(r"\{\{([a-z]\w*)\}\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_FIXED = {"{": "b0", "}": "b1", "\\": "b2"}

GREETING = for_readers("Hi")
_NAMED = for_readers("%(greeting)s, %(name)s")
TOKEN = "token"  # noqa: S105 - the name of a hole


class Placeholder(Struct, frozen=True):
    """Text that differs for each reader, with a fallback for readers without a nickname."""

    kind: str
    fallback: str
    typed: str
    named: str = _NAMED  # how the language puts a name after a greeting

    def value(self, nickname: str | None) -> str:
        match self.kind:
            case "greeting":
                return self.named % {"greeting": self.fallback, "name": nickname} if nickname else self.fallback
            case "nickname":
                return nickname or self.fallback
        return self.fallback


_LITERAL = Placeholder("braces", "{{", "{{")


class Placeholders:
    """Collects the placeholders of all texts of a campaign, each once."""

    def __init__(self) -> None:
        self._numbers: dict[Placeholder, int] = {}
        self.fixed: dict[str, str] = {}
        self.marks = Marks()

    @property
    def all(self) -> tuple[Placeholder, ...]:
        return tuple(self._numbers)

    def take(self, text: str, is_html: bool = False) -> str:
        """The text with a mark in the place of each placeholder."""

        def mark(match: re.Match[str]) -> str:
            if not match[1]:
                return self._mark(_LITERAL)
            fallback = html.unescape(match[2] or "") if is_html else match[2] or ""
            kind = match[1].lower()
            words = languages.catalogue(languages.choose()).gettext
            usual = words(GREETING) if kind == "greeting" else ""
            return self._mark(Placeholder(kind, fallback.strip() or usual, match[0], words(_NAMED)))

        return _WRITTEN.sub(mark, self.marks.clear(text))

    def typed(self, text: str) -> str:
        """Back to what the author typed."""
        known = self.all
        return self.marks.replace(text, lambda name: known[int(name)].typed)

    def impersonal(self, text: str) -> str:
        """For addresses and styles, which are the same for all readers: as typed. Escaped braces stay marked."""
        known = self.all

        def value(name: str) -> str:
            placeholder = known[int(name)]
            return self.marks.mark(name) if placeholder == _LITERAL else placeholder.typed

        return self.marks.replace(text, value)

    def without_nickname(self, text: str) -> str:
        """As it reads for somebody without a nickname."""
        return self.fill_in(text, None)

    def fill_in(self, text: str, nickname: str | None) -> str:
        known = self.all
        return self.marks.replace(text, lambda name: known[int(name)].value(nickname))

    def holes(self, text: str, is_html: bool) -> str:
        """The text as a template for SES: holes for marks, and for braces that SES would take for holes."""
        parts = self.marks.split(text)
        written = []
        for position, part in enumerate(parts):
            if position % 2:
                written.append(f"{{{{{part if part == TOKEN else ('n' if is_html else 'p') + part}}}}}")
            else:
                written.append(self._literal(part, position > 0, position < len(parts) - 1))
        return "".join(written)

    def _literal(self, text: str, after_hole: bool, before_hole: bool) -> str:
        """Braces SES would take for a hole, and those beside a hole that would change what it means, as holes."""
        head = len(text) - len(text.lstrip("}")) if after_hole else 0
        tail = max(head, len(text.rstrip("{\\"))) if before_hole else len(text)
        middle = _BRACES.sub(lambda match: self._fix(match[0]) if "{{" in match[0] else match[0], text[head:tail])
        return self._fix(text[:head]) + middle + self._fix(text[tail:])

    def _fix(self, characters: str) -> str:
        self.fixed.update((_FIXED[character], character) for character in characters)
        return "".join(f"{{{{{_FIXED[character]}}}}}" for character in characters)

    def _mark(self, placeholder: Placeholder) -> str:
        return self.marks.mark(str(self._numbers.setdefault(placeholder, len(self._numbers))))


def extremes(line: str) -> tuple[str, str]:
    """As it reads for somebody without a nickname, and for somebody with the longest there is."""
    found = Placeholders()
    marked = found.take(line)
    return found.without_nickname(marked), found.fill_in(marked, "x" * LONGEST_NICKNAME)


def find(text: str) -> list[str]:
    """The placeholders that are written in a text."""
    return [match[0] for match in _WRITTEN.finditer(text) if match[1]]


def escape(text: str) -> str:
    """So that braces in it are braces and nothing else: also those that stand together once rendering has taken out
    what nobody can see between them."""
    return without_invisible(text).replace("{{", "\\{{")


def visible(text: str) -> str:
    """What rendering leaves of a text; it may be nothing."""
    return without_invisible(text).strip()


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

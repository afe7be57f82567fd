"""Placeholders that Gna does not fill in: misspelt ones, and those of other newsletter tools.

Readers would see them as they were typed. `{{…}}` is meant as a placeholder unless it is escaped; what looks like a
tag of another tool may be ordinary text.
"""

import html
import re
from collections.abc import Iterable
from difflib import get_close_matches

from msgspec import Struct

from chalicelib.campaigns.content import placeholders

_LONGEST_SHOWN = 40
# Stands for a placeholder that is known: no tag goes across it.
KNOWN = "\0"
_UNKNOWN = re.compile(r"\{\{([^{}\0]{1,200})\}\}")
_MARKUP = re.compile(r"<[^<>]*>")
_FOREIGN = re.compile(
    r"\*\|[A-Za-z][^|*\0\n]{0,60}(?:\|[^|*\0\n]{0,60})?\|\*"  # *|FNAME|*
    r"|%%[A-Za-z][\w .]{0,40}%%"  # %%FirstName%%
    r"|%recipient[._]\w{1,40}%"  # %recipient.name%
    r"|%(?:FIRSTNAME|LASTNAME|FULLNAME|EMAIL|WEBCOPY|UNSUBSCRIBELINK|SENDER-INFO-SINGLELINE)%"
    r"|\[%\w{1,40}(?:\s*\|[^%\]\n]{0,60})?%\]"  # [%first_name | there%]
    r"|\[\w{1,40},\s*fallback=[^\]\n]{0,60}\]"  # [firstname,fallback=there]
    r"|\{\$\w{1,40}\}"  # {$name}
    r"|\{![\w.]{1,60}\}"  # {!Contact.FirstName}
    r"|\{%[^%{}\0\n]{1,80}%\}"  # {% if subscriber.first_name %}
    r"|(?<!\{)\{(?:nickname|greeting|name|first_?name)(?:[,|][^{}\0\n]{0,60})?\}(?!\})"  # {first_name, "there"}
)
_WORD = re.compile(r"[a-z]+")
_NAMES = {
    "name",
    "fname",
    "first",
    "firstname",
    "fullname",
    "lastname",
    "lname",
    "username",
    "nick",
    "user",
    "member",
}
_GREETINGS = {"hello", "hi", "salutation"}
_NAME, _GREETING = "{{nickname|friend}}", "{{greeting}}"


class MergeTag(Struct, frozen=True):
    """`part` is where it stands, `typed` what readers would see."""

    part: str
    typed: str

    @property
    def advice(self) -> str:
        """What to write instead, as far as that can be told from the name."""
        words = set(_WORD.findall(self.typed.lower()) + _WORD.findall(self.typed.lower().replace("_", "")))
        if any(word.startswith("unsub") for word in words):
            return "Remove it: the unsubscribe link is added for you"
        if words & {"webversion", "webview", "archive", "browser"}:
            return "Remove it: the link to the web version is added for you"
        if {"nickname", "greeting"} & words:
            longest = placeholders.LONGEST_FALLBACK
            return f"Write {_NAME} or {_GREETING}, with at most {longest} characters and no markup inside the braces"
        if words & _GREETINGS or get_close_matches("greeting", words, cutoff=0.75):
            return f"Write {_GREETING} instead"
        if words & _NAMES or get_close_matches("nickname", words, cutoff=0.75):
            return f"Write {_NAME} instead"
        return f"Only {_NAME} and {_GREETING} are filled in"

    @property
    def refusal(self) -> str:
        """For text that is not stored, so that no review can say which one it is."""
        return f"Unknown placeholder {self.typed} in the {self.part}: readers would see it as typed. {self.advice}"


def find_unknown(part: str, text: str) -> list[MergeTag]:
    """`{{…}}` that is not escaped and not one of ours. In HTML, markup inside the braces does not hide it."""
    unknown = (name for name in _UNKNOWN.findall(html.unescape(text)) if not placeholders.find(f"{{{{{name}}}}}"))
    names = (_one_line(_MARKUP.sub("", name)) for name in unknown)
    return _distinct(MergeTag(part, f"{{{{{name}}}}}") for name in names if name)


def find_foreign(part: str, text: str) -> list[MergeTag]:
    return _distinct(MergeTag(part, _one_line(html.unescape(tag))) for tag in _FOREIGN.findall(text))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SHOWN else line[:_LONGEST_SHOWN] + "…"


def _distinct(tags: Iterable[MergeTag]) -> list[MergeTag]:
    return list(dict.fromkeys(tags))

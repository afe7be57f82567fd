"""The rules of each field of the publication, and the error texts of what breaks them. None goes back to the value of
the environment."""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from chalicelib.kernel import addresses, languages, zones
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.publication import DESIGNS

Rule = Callable[[Any], Any]

LONGEST_NAME, LONGEST_LINE, LONGEST_BUTTON = 255, 250, 60
LONGEST_WORDS, MOST_LINES, LONGEST_BODY = 1000, 12, 5000
LONGEST_HOLD = 1440
DIGESTS, MODES = ("off", "daily", "weekly"), ("auto", "review")
IMAGES = ("copy", "link", "none")

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\Z")
_DIGEST_AT = re.compile(r"(?:(?:mon|tue|wed|thu|fri|sat|sun) )?(?:[01][0-9]|2[0-3]):[0-5][0-9]\Z")
# Controls, halves of characters, separators of lines, and what turns the direction of the text after it.
_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def line(label: str, longest: int, *, required: bool = False) -> Rule:
    """One line of text."""

    def check(value: Any) -> str:
        text = " ".join(_clean(value, label, longest).split())
        if required and not text:
            raise Invalid(f"{label} must not be empty")
        return text

    return check


def lines(label: str, longest: int, most_lines: int | None = MOST_LINES) -> Rule:
    """Text of a few lines, or of many."""

    def check(value: Any) -> str:
        text = _clean(value, label, longest)
        if most_lines is not None and text.count("\n") >= most_lines:
            raise Invalid(f"{label} must be at most {most_lines} lines")
        return text

    return check


def choice(label: str, choices: tuple[str, ...]) -> Rule:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise Invalid(f"{label} must be one of: {', '.join(choices)}")
        return value

    return check


def flag(label: str) -> Rule:
    def check(value: Any) -> bool:
        if not isinstance(value, bool):
            raise Invalid(f"{label} must be true or false")
        return value

    return check


def colour(value: Any) -> str:
    if not isinstance(value, str) or not _COLOUR.match(value):
        raise Invalid("The accent colour must be six hex digits such as #0f766e")
    return value.lower()


def language(value: Any) -> str:
    return str(choice("Language", tuple(languages.names()))(value))


def contact_email(value: Any) -> str:
    """An address, or none."""
    if not isinstance(value, str):
        raise Invalid("Contact address must be text")
    return addresses.parse(value).typed if value.strip() else ""


def digest_at(value: Any) -> str:
    """Nothing means the usual time. People type capitals, phones add them and a space at the end."""
    typed = value.strip().lower() if isinstance(value, str) else "-"
    if typed and not _DIGEST_AT.match(typed):
        raise Invalid("The time of digests must be such as 09:00 or mon 09:00")
    return typed


def hold(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LONGEST_HOLD:
        raise Invalid(f"The hold must be a whole number of minutes from 0 to {LONGEST_HOLD}")
    return value


def logo(value: Any) -> str:
    """As it was sent: whether there is such a picture is for the service to find out."""
    if not isinstance(value, str) or len(value) > 2000:
        raise Invalid("Logo must be the URL of a picture that was uploaded here")
    return value


def version(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 10**12:
        raise Invalid("Version must be a whole number")
    return value


def _clean(value: Any, label: str, longest: int) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{label} must be text")
    if len(value) > 2 * longest:  # before anything takes its time with it; line breaks may be two characters
        raise Invalid(f"{label} must be at most {longest:,} characters")
    text = unicodedata.normalize("NFC", value.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if len(text) > longest:
        raise Invalid(f"{label} must be at most {longest:,} characters")
    if any(char in _TURNS or (unicodedata.category(char) in _CONTROLS and char != "\n") for char in text):
        raise Invalid(f"{label} must not contain control characters")
    return text


# By name, or by name within a group. What is not here does not exist.
RULES: dict[str, Rule | dict[str, Rule]] = {
    "name": line("Name", LONGEST_NAME, required=True),
    "tagline": line("Tagline", LONGEST_LINE),
    "logo": logo,
    "colours": {"accent": colour},
    "language": language,
    "time_zone": zones.parse,
    "postal_address": line("Postal address", LONGEST_WORDS),
    "contact_email": contact_email,
    "archive": flag("Archive"),
    "footer": lines("Footer", LONGEST_WORDS),
    "design": choice("Design", DESIGNS),
    "confirmation": {
        "sentence": line("The sentence of the confirmation", LONGEST_WORDS),
        "button": line("The button of the confirmation", LONGEST_BUTTON),
        "afterwards": lines("The words after a confirmation", LONGEST_WORDS),
    },
    "welcome": {
        "on": flag("Welcome"),
        "subject": line("The subject of the welcome email", LONGEST_LINE),
        "body": lines("The welcome email", LONGEST_BODY, None),
        "link_last": flag("The link to the last campaign"),
    },
    "feed": {
        "mode": choice("Feed mode", MODES),
        "digest": choice("Digest", DIGESTS),
        "digest_at": digest_at,
        "hold": hold,
        "images": choice("Pictures of posts", IMAGES),
    },
}
PATHS = tuple(
    path
    for name, rule in RULES.items()
    for path in ([f"{name}.{inner}" for inner in rule] if isinstance(rule, dict) else [name])
)


def read(sent: dict[str, Any]) -> dict[str, Any]:
    """What was sent, checked, by path: `{"colours.accent": "#0f766e", "tagline": None}`."""
    changes: dict[str, Any] = {}
    for name, value in sent.items():
        rule = RULES.get(name)
        if rule is None:
            raise Invalid(f"Unknown field; there are: {', '.join(RULES)}, version")
        if not isinstance(rule, dict):
            changes[name] = _checked(rule, value)
            continue
        if value is not None and not (isinstance(value, dict) and value.keys() <= rule.keys()):
            raise Invalid(f"{name} must be an object with {', '.join(rule)}")
        for inner, given in (dict.fromkeys(rule) if value is None else value).items():
            changes[f"{name}.{inner}"] = _checked(rule[inner], given)
    return changes


def _checked(rule: Rule, value: Any) -> Any:
    return None if value is None else rule(value)

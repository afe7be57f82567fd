"""The rules of each field of a campaign, and the error texts of what breaks them. No I/O."""

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar, cast

from chalicelib.campaigns.content import placeholders
from chalicelib.campaigns.model import LONGEST_WORD, MOST_WORDS, Format, State, Targeting, Terms
from chalicelib.campaigns.targeting import MOST_WORDS_IN_ALL
from chalicelib.kernel import zones
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.publication import DESIGNS, Design
from chalicelib.mail.message import LONGEST_SUBJECT

LONGEST_LINE = 250
LONGEST_NAME = 64
LARGEST_BODY = 500_000
LARGEST_TEXT = 200_000
FURTHEST = timedelta(days=5 * 366)
# Nobody joined before, and later years are typing errors.
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2999, 12, 31)

_CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

Choice = TypeVar("Choice", bound=StrEnum)


def subject(value: Any) -> str:
    line = _line("" if value is None else value, "Subject")
    if not line:
        raise Invalid("Subject is required")
    shortest, longest = placeholders.extremes(line)
    if not shortest.strip():
        raise Invalid("Subject would be empty for people without a nickname: write {{nickname|friend}}")
    if len(longest) > LONGEST_SUBJECT:
        raise Invalid(f"Subject would be longer than {LONGEST_SUBJECT} characters for people with a long nickname")
    return line


def preheader(value: Any) -> str:
    return "" if value is None else _line(value, "Preheader")


def note(value: Any) -> str:
    line = _line("" if value is None else value, "Note")
    if not line:
        raise Invalid("Note is required: say what was corrected")
    return line


def body(value: Any) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise Invalid("Body is required")
    return _block(value, "Body", LARGEST_BODY)


def text(value: Any) -> str | None:
    """None or blank: it will be generated from the body."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return _block(value, "Text", LARGEST_TEXT)


def choice(kind: type[Choice], value: Any, name: str) -> Choice:
    try:
        return kind(value)
    except ValueError:
        raise Invalid(f"{name} must be one of: {', '.join(kind)}") from None


def state(value: Any) -> State | None:
    """None, or nothing: campaigns in any state."""
    return choice(State, value, "state") if value else None


def segment_name(value: Any) -> str:
    name = unicodedata.normalize("NFC", value.strip()) if isinstance(value, str) else ""
    if not 0 < len(name) <= LONGEST_NAME or _has_control(name):
        raise Invalid(f"Name must be 1–{LONGEST_NAME} characters, in one line")
    return name


def format(value: Any) -> Format:
    return Format.HTML if value is None else choice(Format, value, "format")


def design(value: Any) -> Design | None:
    """None: the publication's."""
    if value is None or value in DESIGNS:
        return cast(Design | None, value)
    raise Invalid(f"design must be one of: {', '.join(DESIGNS)}")


def zone(value: Any) -> str | None:
    """A time zone, or none."""
    return None if value is None else zones.parse(value)


def required_time(value: Any) -> Any:
    """As it was sent: `moment` reads it, once the time zone beside it is known."""
    if value is None:
        raise Invalid("scheduled_at is required")
    return value


def moment(value: Any, zone: str | None, now: datetime) -> datetime:
    """A time in the future, in UTC. Without an offset it is a time in `zone`; without either it is refused."""
    if not isinstance(value, str) or len(value) > LONGEST_WORD:
        raise Invalid("Scheduled time must be an ISO 8601 time")
    try:
        when = datetime.fromisoformat(value.strip())
    except ValueError:
        raise Invalid("Scheduled time must be an ISO 8601 time") from None
    try:
        when = _placed(when, zone).astimezone(UTC)
    except OverflowError:
        raise Invalid("Scheduled time is out of range") from None
    if when <= now:
        raise Invalid("Scheduled time must be in the future")
    if when - now > FURTHEST:
        raise Invalid("Scheduled time must be within five years")
    return when


def targeting(value: Any) -> Targeting:
    """`null` and `{}` are everybody."""
    if value is None:
        return Targeting()
    named = _object(value, "Aim", {"sources", "tags", "joined_after", "joined_before"})
    checks: dict[str, Any] = {"sources": terms, "tags": terms, "joined_after": day, "joined_before": day}
    return check_targeting(Targeting(**{name: checks[name](given, f"Aim {name}") for name, given in named.items()}))


def check_targeting(aim: Targeting) -> Targeting:
    """Refuse days between which nobody can have joined, and more words than can be asked for at once."""
    if aim.word_count > MOST_WORDS_IN_ALL:
        raise Invalid(f"Aim must have at most {MOST_WORDS_IN_ALL} sources and tags in all")
    if aim.joined_after and aim.joined_before and aim.joined_after >= aim.joined_before:
        raise Invalid("Aim joined_after must be earlier than joined_before")
    return aim


def day(value: Any, name: str) -> date | None:
    """A day without a time, or none."""
    if value is None:
        return None
    try:
        found = date.fromisoformat(value) if isinstance(value, str) and _DAY.fullmatch(value) else None
    except ValueError:
        found = None
    if not found or not FIRST_DAY <= found <= LAST_DAY:
        raise Invalid(f"{name} must be a day such as 2026-11-30, in the years 1970 to 2999")
    return found


def terms(value: Any, name: str) -> Terms:
    lists = _object(value, name, {"any", "all", "none"})
    return Terms(**{key: _words(words, f"{name} {key}") for key, words in lists.items()})


def _words(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MOST_WORDS:
        raise Invalid(f"{name} must be a list of at most {MOST_WORDS}")
    return tuple(dict.fromkeys(_word(word, name) for word in value))


def _word(value: Any, name: str) -> str:
    """In the form in which sources and tags are stored."""
    word = unicodedata.normalize("NFC", value.strip()).lower() if isinstance(value, str) else ""
    if not 0 < len(word) <= LONGEST_WORD or _has_control(word):
        raise Invalid(f"{name} must contain texts of 1–{LONGEST_WORD} characters")
    return word


def _object(value: Any, name: str, keys: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or not value.keys() <= keys:
        raise Invalid(f"{name} must be an object with {', '.join(sorted(keys))}")
    return value


def _placed(when: datetime, zone: str | None) -> datetime:
    if when.tzinfo:
        return when
    if not zone:
        raise Invalid("Scheduled time needs an offset such as Z or +01:00, or a time zone beside it")
    return when.replace(tzinfo=zones.find(zone))


def _line(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{name} must be text")
    line = value.strip()
    if len(line) > LONGEST_LINE:
        raise Invalid(f"{name} must be at most {LONGEST_LINE} characters")
    # A line break in a subject would be a second header.
    if _has_control(line):
        raise Invalid(f"{name} must not contain control characters")
    return line


def _block(value: Any, name: str, largest: int) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{name} must be text")
    if len(value) > largest or len(value.encode(errors="replace")) > largest:
        raise Invalid(f"{name} must be at most {largest // 1000} KB")
    if any(
        unicodedata.category(char) in _CONTROL and char not in "\t\n\r" for char in set(value) - {"\u2028", "\u2029"}
    ):
        raise Invalid(f"{name} must not contain control characters")
    return value


def _has_control(line: str) -> bool:
    return any(unicodedata.category(char) in _CONTROL for char in line)

"""Dates as services write them. Nonsense, the future and what is before 1990 are None, never an error."""

import re
from datetime import UTC, datetime, timedelta

from chalicelib.audience.imports.reading.model import DAY_FIRST, MONTH_FIRST
from chalicelib.kernel import clock

_LONGEST = 40
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
# In no zone are clocks further from UTC.
_MOST_HOURS = 14
_TIME = r"(?:[T, ]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s*([ap]m)?)?"
_ZONE = r"\s*(?:(?:UTC|GMT|Z)?\s*([+-]\d{2}):?(\d{2})|UTC|GMT|Z)?\Z"
_NUMBERS = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}){_TIME}{_ZONE}", re.IGNORECASE | re.ASCII)
_YEAR_FIRST = re.compile(rf"(\d{{4}})[./-](\d{{1,2}})[./-](\d{{1,2}}){_TIME}{_ZONE}", re.IGNORECASE | re.ASCII)
_MONTH_NAMED = re.compile(
    rf"([a-z]{{3}})[a-z]*\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}}){_TIME}{_ZONE}", re.IGNORECASE | re.ASCII
)
_DAY_NAMED = re.compile(
    rf"(?:[a-z]{{3,9}},?\s+)?(\d{{1,2}})\.?[ -]([a-z]{{3}})[a-z]*\.?[ -](\d{{4}}){_TIME}{_ZONE}",
    re.IGNORECASE | re.ASCII,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def parse(text: str, order: str | None, latest: datetime) -> datetime | None:
    """Without a zone it is taken for UTC. `order` decides what could be the 3rd of April or the 4th of March."""
    text = text.strip()
    if not 6 <= len(text) <= _LONGEST:
        return None
    try:
        moment = _parse_epoch(text) or _parse_iso(text) or _parse_other(text, order)
        if moment is None:
            return None
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment if _EARLIEST <= moment <= latest else None


def latest() -> datetime:
    """For `parse`: what lies beyond it is in the future."""
    return clock.now()


def tell_order(text: str) -> str | None:
    """DAY_FIRST or MONTH_FIRST if it can be only that; empty if it can be both; None if it is not such a date."""
    match = _NUMBERS.match(text.strip()[:_LONGEST])
    if not match:
        return None
    first, second = int(match[1]), int(match[3])
    if first > 12 >= second:
        return DAY_FIRST
    return MONTH_FIRST if second > 12 >= first else ""


def usual_order(text: str) -> str:
    """If no date in a file tells: only slashes are usual where the month comes first."""
    return MONTH_FIRST if "/" in text else DAY_FIRST


def _parse_epoch(text: str) -> datetime | None:
    """Seconds or milliseconds since 1970."""
    if len(text) not in (10, 13) or not (text.isascii() and text.isdigit()):
        return None
    return datetime.fromtimestamp(int(text[:10]), UTC)


def _parse_iso(text: str) -> datetime | None:
    bare = text.removesuffix(" UTC") if text.endswith("C") else text
    try:
        return datetime.fromisoformat(bare)
    except ValueError:
        return None


def _parse_other(text: str, order: str | None) -> datetime | None:
    if match := _NUMBERS.match(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        told = tell_order(text) or order or usual_order(text)
        day, month = (first, second) if told == DAY_FIRST else (second, first)
        return _moment(year, month, day, match.groups()[4:])
    if match := _YEAR_FIRST.match(text):
        return _moment(int(match[1]), int(match[2]), int(match[3]), match.groups()[3:])
    if match := _MONTH_NAMED.match(text):
        return _moment(int(match[3]), _month(match[1]), int(match[2]), match.groups()[3:])
    if match := _DAY_NAMED.match(text):
        return _moment(int(match[3]), _month(match[2]), int(match[1]), match.groups()[3:])
    return None


def _month(name: str) -> int:
    return _MONTHS.index(name.lower()) + 1  # raises ValueError like other nonsense


def _moment(year: int, month: int, day: int, rest: tuple[str | None, ...]) -> datetime:
    hour_text, minute, second, half, zone_hours, zone_minutes = rest
    hour = int(hour_text or 0)
    if half:
        hour = hour % 12 + (12 if half.lower() == "pm" else 0)
    moment = datetime(year, month, day, hour, int(minute or 0), int(second or 0), tzinfo=UTC)
    if not zone_hours:
        return moment
    if abs(int(zone_hours)) > _MOST_HOURS:
        raise ValueError
    ahead = timedelta(hours=abs(int(zone_hours)), minutes=int(zone_minutes or 0))
    return moment + ahead if zone_hours.startswith("-") else moment - ahead

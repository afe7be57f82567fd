"""What every issue of the publication looks like: its sections with how many items each should have, how often it
comes, and on which day. Opening the next issue makes a draft of it; a change here changes no draft."""

from datetime import date, timedelta
from enum import StrEnum
from typing import Any

from msgspec import Struct

from chalicelib.kernel.errors import Invalid

LONGEST_SUBJECT = 150
USUAL_SUBJECT = "{date}"
_DATE = "{date}"


class Every(StrEnum):
    WEEK = "week"
    FORTNIGHT = "fortnight"
    MONTH = "month"


class Section(Struct, frozen=True):
    heading: str
    wanted: int = 0


class Opened(Struct, frozen=True):
    """The issue opened last, and the version the outline had from then on."""

    campaign_id: str
    version: int


class Outline(Struct, frozen=True):
    """`day` is that of the week (Monday is 0), or of the month. `last_date` is the day of the issue opened last."""

    subject: str = USUAL_SUBJECT
    sections: tuple[Section, ...] = ()
    every: Every | None = None
    day: int = 0
    last_date: date | None = None
    opened: Opened | None = None
    version: int = 0


def next_date(outline: Outline, today: date) -> date | None:
    """The first day that fits, after today and after the last issue; a fortnight counts from that one. None if the
    issues come when they come."""
    if outline.every is None:
        return None
    after = max(today, outline.last_date or today)
    if outline.every is Every.MONTH:
        return _next_of_month(after, max(1, outline.day))
    found = after + timedelta(days=(outline.day - after.weekday() - 1) % 7 + 1)
    if outline.every is Every.FORTNIGHT and outline.last_date and (found - outline.last_date).days < 14:
        found += timedelta(days=7)
    return found


def subject_of(outline: Outline, day: date) -> str:
    return outline.subject.replace(_DATE, f"{day.day} {day:%B %Y}")


def check_subject(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= LONGEST_SUBJECT or not value.isprintable():
        raise Invalid(f"subject must be 1 to {LONGEST_SUBJECT} characters")
    return value.strip()


def check_every(value: Any) -> Every | None:
    if value is None:
        return None
    try:
        return Every(value)
    except ValueError:
        raise Invalid(f"every must be null or one of: {', '.join(Every)}") from None


def check_day(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 28:
        raise Invalid("day must be a whole number from 0 to 28")
    return value


def check(outline: Outline) -> Outline:
    """What one field alone cannot tell."""
    if outline.every in (Every.WEEK, Every.FORTNIGHT) and outline.day > 6:
        raise Invalid("day of a week must be from 0, Monday, to 6, Sunday")
    headings = [section.heading.casefold() for section in outline.sections]
    if len(set(headings)) < len(headings):
        raise Invalid("Two sections have the same heading")
    return outline


def _next_of_month(after: date, day: int) -> date:
    this = after.replace(day=day)
    return this if this > after else (after.replace(day=1) + timedelta(days=32)).replace(day=day)

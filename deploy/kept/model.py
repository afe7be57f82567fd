"""One row of the privacy page, and periods in words."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Kept:
    """`table` is the name in the template; `personal` lists personal data, and is empty if there is none."""

    table: str
    what: str
    personal: str
    how_long: str


def in_words(duration: timedelta) -> str:
    seconds = int(duration.total_seconds())
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size} {name}{'s' if seconds != size else ''}"
    return f"{seconds} seconds"

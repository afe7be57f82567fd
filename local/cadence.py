"""When a schedule is due: `rate(5 minutes)` and `cron(0 8 ? * MON-FRI *)`, as EventBridge reads them."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

_UNITS = {"minute": 60, "hour": 3600, "day": 86400}
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_CRON = re.compile(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)")
_MONTHS = {
    name: str(number)
    for number, name in enumerate(
        ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"], start=1
    )
}
_DAYS = {name: str(number) for number, name in enumerate(["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"], start=1)}
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (1, 7), (1970, 2199))


def times(expression: str, start: datetime) -> Iterator[datetime]:
    """Every time it is due after `start`."""
    if rate := _RATE.fullmatch(expression):
        step = timedelta(seconds=int(rate[1]) * _UNITS[rate[2]])
        while True:
            start += step
            yield start
    cron = _CRON.fullmatch(expression)
    if not cron:
        raise ValueError(f"{expression} is neither rate(…) nor cron(…)")
    fields = [_field(text.upper(), *bounds) for text, bounds in zip(cron.groups(), _RANGES, strict=True)]
    moment = start.astimezone(UTC).replace(second=0, microsecond=0)
    while True:
        moment += timedelta(minutes=1)
        if all(value in allowed for value, allowed in zip(_parts(moment), fields, strict=True)):
            yield moment


def _parts(moment: datetime) -> tuple[int, ...]:
    weekday = moment.isoweekday() % 7 + 1
    return moment.minute, moment.hour, moment.day, moment.month, weekday, moment.year


def _field(text: str, least: int, most: int) -> set[int]:
    allowed: set[int] = set()
    for part in re.sub(r"[A-Z]{3}", lambda name: (_MONTHS | _DAYS)[name[0]], text).split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span in ("*", "?"):
            low, high = least, most
        else:
            low = int(first)
            high = int(last) if dash else most if step else low
        allowed |= set(range(low, high + 1, int(step or 1)))
    return allowed

"""Time zones by their IANA names, and where their days begin."""

from datetime import UTC, date, datetime, time, tzinfo
from typing import Any

from chalicelib.kernel import log
from chalicelib.kernel.errors import Invalid

_LONGEST = 64


def parse(value: Any) -> str:
    """A name that somebody typed or sent, if there is such a time zone."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST or not is_known(value):
        raise Invalid("Time zone must be an IANA name such as Europe/Berlin")
    return value


def is_known(name: str) -> bool:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # a directory, a path upwards, an unknown name
        return False
    return True


def find(name: str) -> tzinfo:
    """UTC for a name that nobody knows: a typing error in SITE_ZONE must not keep mail from being sent. `make doctor`
    reports it, too."""
    from zoneinfo import ZoneInfo

    if is_known(name):
        return ZoneInfo(name)
    log.error("zone.unknown")
    return UTC


def first_moment(day: date, zone: str) -> datetime:
    """When this day begins there, in UTC. A midnight that the clock skips is the moment at which it does so, and of
    one that comes twice the first counts."""
    return datetime.combine(day, time(), find(zone)).astimezone(UTC)

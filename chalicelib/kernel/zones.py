"""Time zones by their IANA names, and where their days begin."""

from datetime import UTC, date, datetime, time, tzinfo

from chalicelib.kernel import log


def find(name: str) -> tzinfo:
    """UTC for a name that nobody knows: a typing error in SITE_ZONE must not keep mail from being sent. `make doctor`
    reports it, too."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        log.error("zone.unknown")
        return UTC


def first_moment(day: date, zone: str) -> datetime:
    """When this day begins there, in UTC. A midnight that the clock skips is the moment at which it does so, and of
    one that comes twice the first counts."""
    return datetime.combine(day, time(), find(zone)).astimezone(UTC)

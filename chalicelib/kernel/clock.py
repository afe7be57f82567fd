"""The clock. Times are aware and in UTC, stored as ISO 8601 of fixed width, so that text sorts by time."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORMAT = "%Y-%m-%dT%H:%M:%S.%f"


def now() -> datetime:
    return datetime.now(UTC)


def epoch(moment: datetime) -> int:
    """Whole seconds, as DynamoDB's TTL takes them."""
    return int(moment.timestamp())


def milliseconds(moment: datetime) -> int:
    """Since 1970, as some of our answers have it."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def text(moment: datetime) -> str:
    """Fixed width, to the millisecond, always `Z`."""
    return moment.astimezone(UTC).strftime(_FORMAT)[:-3] + "Z"


def parse(stored: str) -> datetime:
    return datetime.fromisoformat(stored)

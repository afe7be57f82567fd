"""The clock. Times are aware and in UTC, stored as ISO 8601 of fixed width, so that text sorts by time."""

from datetime import UTC, datetime

_FORMAT = "%Y-%m-%dT%H:%M:%S.%f"


def now() -> datetime:
    return datetime.now(UTC)


def epoch(moment: datetime) -> int:
    """Whole seconds, as DynamoDB's TTL takes them."""
    return int(moment.timestamp())


def text(moment: datetime) -> str:
    """Fixed width, to the millisecond, always `Z`."""
    return moment.astimezone(UTC).strftime(_FORMAT)[:-3] + "Z"


def parse(stored: str) -> datetime:
    return datetime.fromisoformat(stored)

"""The one clock. Times are aware UTC; stored as fixed-width ISO 8601 so that text order is time order."""

from datetime import UTC, datetime

_FORMAT = "%Y-%m-%dT%H:%M:%S.%f"


def now() -> datetime:
    return datetime.now(UTC)


def epoch(moment: datetime) -> int:
    """Whole seconds, as DynamoDB's time-to-live wants them."""
    return int(moment.timestamp())


def text(moment: datetime) -> str:
    """Fixed width, to the millisecond, always `Z`."""
    return moment.astimezone(UTC).strftime(_FORMAT)[:-3] + "Z"


def parse(stored: str) -> datetime:
    return datetime.fromisoformat(stored)

"""How long a server asks us to wait."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def parse_retry_after(value: str, longest: int) -> int:
    """Seconds, from a number or a date, up to a limit; 0 if the header says neither."""
    if value.isascii() and value.isdigit():
        return min(int(value[:9]), longest)
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError, OverflowError):
        return 0
    if not moment.tzinfo:
        moment = moment.replace(tzinfo=UTC)
    return max(0, min(int((moment - datetime.now(UTC)).total_seconds()), longest))

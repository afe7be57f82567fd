"""How much time this Lambda invocation has left. Long work asks before each step."""

from collections.abc import Callable
from typing import Any

_MARGIN_MS = 20_000


def time_left(context: Any) -> Callable[[], bool]:
    """A function that says whether there is time for one more step."""
    return lambda: int(context.get_remaining_time_in_millis()) > _MARGIN_MS

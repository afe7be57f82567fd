"""How much time this Lambda invocation has left. Long work asks before each step."""

import time
from collections.abc import Callable
from typing import Any

_MARGIN_MS = 20_000


def time_left(context: Any) -> Callable[[], bool]:
    """A function that says whether there is time for one more step."""
    return lambda: int(context.get_remaining_time_in_millis()) > _MARGIN_MS


def seconds_left(seconds: float) -> Callable[[], bool]:
    """For work that a request may begin and somebody else finishes: whether so much time has not passed yet."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end

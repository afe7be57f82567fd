"""How long this invocation may still live. Work that could be cut off asks before each step."""

from collections.abc import Callable
from typing import Any

_MARGIN_MS = 20_000


def time_left(context: Any) -> Callable[[], bool]:
    """A question to be asked again and again: is there time for one more step?"""
    return lambda: int(context.get_remaining_time_in_millis()) > _MARGIN_MS

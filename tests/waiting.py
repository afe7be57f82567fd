"""Waiting for what happens elsewhere: in another thread, process or function."""

import time
from collections.abc import Callable
from typing import Any


def eventually(look: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until `look` returns something true, and return it."""
    until = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.1)
    return found

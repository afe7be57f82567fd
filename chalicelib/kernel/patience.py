"""How long a request waits for an AWS service that does not answer. A person is waiting for the answer to a request,
and gets one within ten seconds; workers keep trying for longer.

It is a budget of lost time, not a deadline: a search through a million subscribers may take its time as long as every
call is answered.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from chalicelib.kernel.errors import Unavailable

# Of one call in a request: two attempts, with the pause between them at most six seconds.
CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 1.5, 2.5, 2
# A call that takes longer than this has met a service that does not answer. After three such seconds nothing is asked
# any more, so the worst is a little less than three seconds and one more call.
_SLOW = 2.0
_BUDGET = 3.0


class _Lost:
    def __init__(self) -> None:
        self.seconds = 0.0


_lost: ContextVar[_Lost | None] = ContextVar("lost", default=None)


@contextmanager
def limited() -> Iterator[None]:
    """Around the work for one request."""
    token = _lost.set(_Lost())
    try:
        yield
    finally:
        _lost.reset(token)


def is_limited() -> bool:
    return _lost.get() is not None


@contextmanager
def counted() -> Iterator[None]:
    """Around one call. Raises `Unavailable` if this request has already lost too much time."""
    lost = _lost.get()
    if lost is None:
        yield
        return
    if lost.seconds >= _BUDGET:
        raise Unavailable
    begun = time.monotonic()
    try:
        yield
    finally:
        took = time.monotonic() - begun
        if took > _SLOW:
            lost.seconds += took

"""Keeping all workers together under the rate SES allows the account.

One shared row holds the moment up to which the rate has been given away. A worker books a few seconds' worth of mails
at once and sends them at the account's rate, so the row is written every few seconds, however many workers there
are, and not for every batch.
"""

import math
import random
import threading
import time
from collections.abc import Callable

from chalicelib.campaigns.sending import part_store
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Unavailable

_SLICE_SECONDS = 2.0
_ATTEMPTS = 20


class Pace:
    """One for each process, shared by its threads. `rate` returns how many mails a second the account may send."""

    def __init__(self, rate: Callable[[], float]) -> None:
        self._rate = rate
        self._lock = threading.Lock()
        self._tokens = 0.0
        self._next = 0.0
        self._seen: int | None = None

    def batch_size(self, most: int) -> int:
        """A batch is sent at once, so it is never more than a second's worth."""
        return max(1, min(most, int(self._rate())))

    def reserve(self, mails: int) -> float:
        """Seconds to wait before sending this many; they are counted as sent."""
        rate = self._rate()
        with self._lock:
            if self._tokens < mails:
                self._book(max(mails, math.ceil(rate * _SLICE_SECONDS)), rate)
            now = time.time()
            start = max(self._next, now)
            self._next = start + mails / rate
            self._tokens -= mails
            return start - now

    def _book(self, mails: int, rate: float) -> None:
        for attempt in range(_ATTEMPTS):
            now = int(clock.now().timestamp() * 1000)
            start = max(now, self._seen or 0)
            free = start + math.ceil(mails * 1000 / rate)
            stored = part_store.book(free, self._seen)
            if stored is None:
                self._seen = free
                self._tokens = mails
                self._next = max(self._next, start / 1000)
                return
            self._seen = stored or None
            time.sleep(random.uniform(0, 0.01 * attempt))  # noqa: S311 - jitter, not a secret
        raise Unavailable("Too many workers ask for their share at once")

"""Counts of what the local SES was asked to send, and of the results."""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any


class Tally:
    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.calls: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.addresses: Counter[str] = Counter()
        self.recipients = 0
        self._allowance, self._at = 0.0, 0.0
        self._second, self._in_second, self._peak = 0, 0, 0

    def count(self, to: Iterable[str], recipients: int) -> None:
        self.addresses.update(to)
        self.recipients += recipients
        self._allowance -= recipients
        second = int(time.monotonic())
        self._in_second = recipients if second != self._second else self._in_second + recipients
        self._second, self._peak = second, max(self._peak, self._in_second)

    def too_fast(self, rate: float) -> bool:
        """The rule of SES: while any of the rate is left, a call goes through, whatever its size; the next calls wait
        until that is made up for."""
        now = time.monotonic()
        self._allowance = min(rate, self._allowance + (now - self._at) * rate)
        self._at = now
        return self._allowance <= 0

    def state(self, addresses: bool) -> dict[str, Any]:
        numbers = {
            "calls": self.calls,
            "answers": self.answers,
            "recipients": self.recipients,
            "peak_per_second": self._peak,
        }
        return numbers | ({"addresses": self.addresses} if addresses else {})

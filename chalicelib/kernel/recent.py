"""What this process has read of late and need not read again at once. It is forgotten with the settings it was read
under."""

from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from chalicelib.kernel import clock, settings

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key, each for `life`, and `most` of them at once."""

    def __init__(self, life: timedelta, most: int) -> None:
        self._life, self._most = life, most
        self._read_under: Any = None
        self._values: dict[Hashable, tuple[datetime, Value]] = {}

    def get(self, key: Hashable) -> Value | None:
        until, value = self._current().get(key, (None, None))
        return value if until and until > clock.now() else None

    def put(self, key: Hashable, value: Value) -> Value:
        values = self._current()
        if len(values) >= self._most:
            values.clear()
        values[key] = (clock.now() + self._life, value)
        return value

    def forget(self, key: Hashable) -> None:
        self._values.pop(key, None)

    def _current(self) -> dict[Hashable, tuple[datetime, Value]]:
        if self._read_under is not settings.current():
            self._read_under, self._values = settings.current(), {}
        return self._values

"""Clean-ups: many small things, one after another. One that fails for ever (a row half restored, say) must not keep
the others from being done, and must not go unnoticed either: the run goes on, and fails at its end."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from chalicelib.kernel import log

Item = TypeVar("Item")


class Unfinished(Exception):
    """Something a clean-up had to do could not be done. The log says what; the function's alarm rings."""


class Sweep:
    """One run. `event` names it in the log."""

    def __init__(self, event: str, time_left: Callable[[], bool]) -> None:
        self._event = event
        self._time_left = time_left
        self._failures = 0

    def each(self, items: Iterable[Item], act: Callable[[Item], object]) -> int:
        """How many were done, as far as there is time: those that did not fail, and for which `act` was not False.
        An item that is text is logged if it fails, so it has to be an id."""
        done = 0
        try:
            for item in items:
                if not self._time_left():
                    break
                done += self._attempt(item, act)
        except Exception as failure:
            self._note(failure, None)  # the list itself could not be read further
        return done

    def finish(self) -> None:
        """At the end of the run: raises if anything has failed."""
        if self._failures:
            raise Unfinished(f"{self._failures} failed: see {self._event} in the log")

    def _attempt(self, item: Item, act: Callable[[Item], object]) -> bool:
        try:
            return act(item) is not False
        except Exception as failure:
            self._note(failure, item)
            return False

    def _note(self, failure: Exception, item: object) -> None:
        self._failures += 1
        log.exception(self._event, failure, item=item if isinstance(item, str) else type(item).__name__)

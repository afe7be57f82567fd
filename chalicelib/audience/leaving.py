"""Somebody leaves by their own act, and another room counts that. It may import the audience, but not the other way
round, so `app.py` registers its module here by name."""

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from chalicelib.kernel import log, patience

if TYPE_CHECKING:
    from chalicelib.audience.model import Subscriber
    from chalicelib.kernel.aws.tables import Write


class Counter(Protocol):
    def left_writes(self, person: "Subscriber") -> "list[Write]":
        """What counts it, for the transaction that erases the person: a few writes, none of which may fail."""


_counters: list[str] = []


def register(module: str) -> None:
    """`module` is a name below `chalicelib`; it has the functions of a `Counter`."""
    if module not in _counters:
        _counters.append(module)


def count_writes(person: "Subscriber") -> "list[Write]":
    """Nothing if it cannot be found out now, whatever is wrong: nobody stays subscribed because of a count. A service
    that does not answer costs time, which is not taken from what there is for leaving itself."""
    try:
        with patience.limited():
            return [write for module in _counters for write in _counter(module).left_writes(person)]
    except Exception as failure:
        log.exception("leaving.not_counted", failure)
        return []


def _counter(module: str) -> Counter:
    return cast(Counter, import_module(f"chalicelib.{module}"))

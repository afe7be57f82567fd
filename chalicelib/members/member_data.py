"""What other rooms store about a member. Those rooms may import `members`, but not the other way round, so `app.py`
registers them here by name; their module is imported when a member downloads their data or leaves."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Protocol


class Keeper(Protocol):
    def about(self, member_id: str) -> Iterator[Any]:
        """All that the room stores about this member, for them to download, one thing at a time."""

    def forget(self, member_id: str, time_left: Callable[[], bool]) -> bool:
        """Delete it, as far as there is time; says whether nothing is left to do."""


_keepers: dict[str, str] = {}


def register(room: str, module: str) -> None:
    """`module` is a name below `chalicelib`; it has the functions of a `Keeper`."""
    _keepers[room] = module


def about(member_id: str) -> Iterator[tuple[str, Iterator[Any]]]:
    """What every room stores, by the name of the room."""
    for room, module in _keepers.items():
        yield room, _keeper(module).about(member_id)


def forget(member_id: str, time_left: Callable[[], bool]) -> bool:
    return all(_keeper(module).forget(member_id, time_left) for module in _keepers.values())


def _keeper(module: str) -> Keeper:
    keeper: Any = import_module(f"chalicelib.{module}")
    return keeper  # type: ignore[no-any-return]

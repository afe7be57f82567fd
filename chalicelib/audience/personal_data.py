"""What rooms above this one keep about a person. They may know the audience, and the audience not them, so `app.py`
enters them here by name; their module is imported when somebody's data is asked for or erased."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from chalicelib.kernel.aws.tables import Write


class Keeper(Protocol):
    def about(self, subscriber_id: str) -> object:
        """All that is kept there about this person, for them to take away."""

    def erase_writes(self, subscriber_id: str) -> "list[Write]":
        """What takes it away, for the transaction that erases the person."""


_keepers: dict[str, str] = {}


def register(room: str, module: str) -> None:
    """`module` is below `chalicelib` and has the functions of a `Keeper`."""
    _keepers[room] = module


def about(subscriber_id: str) -> dict[str, Any]:
    """By room."""
    return {room: _keeper(module).about(subscriber_id) for room, module in _keepers.items()}


def erase_writes(subscriber_id: str) -> "list[Write]":
    return [write for module in _keepers.values() for write in _keeper(module).erase_writes(subscriber_id)]


def _keeper(module: str) -> Keeper:
    keeper: Any = import_module(f"chalicelib.{module}")
    return keeper  # type: ignore[no-any-return]

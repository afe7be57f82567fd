"""What other rooms store about a person. Those rooms may import the audience, but not the other way round, so
`app.py` registers them here by name; their module is imported when a person's data is requested or erased."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from chalicelib.kernel.aws.tables import Write


class Keeper(Protocol):
    def about(self, subscriber_id: str) -> object:
        """All that the room stores about this person, for them to download."""

    def erase_writes(self, subscriber_id: str) -> "list[Write]":
        """What deletes it, for the transaction that erases the person."""


class AddressKeeper(Protocol):
    def forget_address(self, address_key: str) -> None:
        """This address is never to be mailed again: delete what waits for its owner to confirm it."""


_keepers: dict[str, str] = {}
_address_keepers: dict[str, str] = {}


def register(room: str, module: str) -> None:
    """`module` is a name below `chalicelib`; it has the functions of a `Keeper`."""
    _keepers[room] = module


def register_address(room: str, module: str) -> None:
    """For a room that knows people by their address and not as subscribers: an `AddressKeeper`."""
    _address_keepers[room] = module


def about(subscriber_id: str) -> dict[str, Any]:
    """What every room stores, by the name of the room."""
    return {room: _keeper(module).about(subscriber_id) for room, module in _keepers.items()}


def erase_writes(subscriber_id: str) -> "list[Write]":
    return [write for module in _keepers.values() for write in _keeper(module).erase_writes(subscriber_id)]


def forget_address(address_key: str) -> None:
    for module in _address_keepers.values():
        keeper: AddressKeeper = _load(module)
        keeper.forget_address(address_key)


def _keeper(module: str) -> Keeper:
    keeper: Keeper = _load(module)
    return keeper


def _load(module: str) -> Any:
    return import_module(f"chalicelib.{module}")

"""What travels between rooms: small classes of named values that never change once made.

The same as `@dataclass(frozen=True)`, and a dataclass in every respect (`replace`, `asdict`, `fields`, `match`), but
made for a cold start: a frozen dataclass writes and compiles six methods for each class, which for all of ours was a
quarter of the time the app takes to load. Here only `__init__` is compiled; the rest is shared.
"""

from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    # Without a docstring, dataclass would write one from the signature, which takes as long as all the rest.
    cls.__doc__ = cls.__doc__ or cls.__name__
    made: Any = dataclass(repr=False, eq=False)(cls)
    made.__setattr__, made.__delattr__ = _set_once, _keep
    made.__eq__, made.__hash__, made.__repr__ = _equal, _hash, _shown
    return made  # type: ignore[no-any-return]


def _set_once(self: Any, name: str, content: Any) -> None:
    """`__init__` sets each field for the first time; nobody sets anything for a second time."""
    if name in self.__dict__ or name not in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    self.__dict__[name] = content


def _keep(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _contents(self: Any) -> tuple[Any, ...]:
    return tuple(self.__dict__[name] for name in self.__dataclass_fields__)


def _equal(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _contents(self) == _contents(other)


def _hash(self: Any) -> int:
    return hash(_contents(self))


def _shown(self: Any) -> str:
    shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({shown})"

"""A page is put together of parts, and one that cannot be had now must not take the others with it."""

from collections.abc import Callable
from typing import TypeVar

from chalicelib.kernel import log
from chalicelib.kernel.errors import GnaError

Part = TypeVar("Part")


def or_none(ask: Callable[[], Part | None]) -> Part | None:
    try:
        return ask()
    except GnaError as failure:
        log.exception("desk.part_missing", failure)
        return None

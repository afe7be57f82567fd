"""Pages made of several parts: a part that cannot be loaded leaves a gap instead of failing the whole page."""

from collections.abc import Callable
from typing import TypeVar

from chalicelib.kernel import log
from chalicelib.kernel.errors import GnaError

Part = TypeVar("Part")


def or_none(load: Callable[[], Part | None]) -> Part | None:
    try:
        return load()
    except GnaError as failure:
        log.exception("admin.part_missing", failure)
        return None

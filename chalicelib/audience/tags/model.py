"""A change of tags on everybody, and the job that makes it. No I/O."""

from collections.abc import Set
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from msgspec import Struct

from chalicelib.audience import model
from chalicelib.audience.model import Word
from chalicelib.kernel.errors import Invalid

MOST_TAGS = 50
KEPT = timedelta(days=90)


class Action(StrEnum):
    RENAME = "rename"
    MERGE = "merge"
    REMOVE = "remove"


class State(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Step(StrEnum):
    """What a running job does next."""

    BEGIN = "begin"
    PEOPLE = "people"
    AIMS = "aims"


class Change(Struct, frozen=True):
    """Whoever has one of `tags` has `to` instead, or nothing instead."""

    action: Action
    tags: tuple[Word, ...]
    to: Word | None = None

    @property
    def old(self) -> frozenset[str]:
        """The tags nobody has afterwards."""
        return frozenset(self.tags) - {self.to}

    def touches(self, words: Set[str]) -> bool:
        """Whether who has, or has not, these is about to change."""
        return not words.isdisjoint({*self.tags, self.to})

    def apply(self, tags: frozenset[str]) -> frozenset[str]:
        if tags.isdisjoint(self.old):
            return tags
        return tags - self.old | ({self.to} if self.to else frozenset())


class Job(Struct, frozen=True):
    """`people` is how many are expected: the subscribers when it began, more once more were looked at, since some
    are not confirmed. `done` have been looked at in this `reading`; `cursor` is where it goes on. `changed` people
    have other tags now."""

    id: str
    change: Change
    created_at: datetime
    people: int
    state: State = State.RUNNING
    step: Step = Step.BEGIN
    reading: int = 1
    cursor: str | None = None
    done: int = 0
    found: int = 0
    changed: int = 0
    tries: int = 0
    lease_until: datetime | None = None
    finished_at: datetime | None = None
    error: str | None = None
    version: int = 1


def check_change(action: Any, tags: Any, to: Any) -> Change:
    """In their normal form; what makes no sense is refused."""
    try:
        wanted = Action(action)
    except ValueError:
        raise Invalid(f"action must be one of: {', '.join(Action)}") from None
    words = tuple(sorted(model.check_tags(tags, MOST_TAGS)))
    new = _check_new(to)
    if not words:
        raise Invalid("tags must have at least one tag")
    if wanted is Action.RENAME and len(words) > 1:
        raise Invalid("One tag is renamed at a time: merge several")
    if (wanted is Action.REMOVE) != (new is None):
        raise Invalid("to must be a tag" if new is None else "to has no meaning when tags are removed")
    change = Change(wanted, words, new)
    if not change.old:
        raise Invalid("to must be another tag")
    return change


def _check_new(to: Any) -> str | None:
    if to is None or to == "":
        return None
    if not isinstance(to, str):
        raise Invalid("to must be text")
    (word,) = model.check_tags([to])
    return word

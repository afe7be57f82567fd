"""Whether somebody is among those a campaign or a segment is for; `stores/recipients` asks the table the same. No
I/O."""

from collections.abc import Set
from datetime import datetime
from typing import Protocol

from chalicelib.kernel import clock


class Terms(Protocol):
    """At least one of `any`, every one of `all`, not one of `none`; an empty list asks nothing."""

    @property
    def any(self) -> tuple[str, ...]: ...
    @property
    def all(self) -> tuple[str, ...]: ...
    @property
    def none(self) -> tuple[str, ...]: ...


class Targeting(Protocol):
    """Who has these sources and these tags, and joined at one moment or later and before another."""

    @property
    def sources(self) -> Terms: ...
    @property
    def tags(self) -> Terms: ...
    @property
    def joined_from(self) -> datetime | None: ...
    @property
    def joined_until(self) -> datetime | None: ...


class Rule:
    """A targeting, prepared to be asked about many people. Moments are compared as they are stored."""

    def __init__(self, targeting: Targeting) -> None:
        self._sources, self._tags = targeting.sources, targeting.tags
        self._from = clock.text(targeting.joined_from) if targeting.joined_from else ""
        self._until = clock.text(targeting.joined_until) if targeting.joined_until else None

    def matches(self, sources: Set[str], tags: Set[str], joined_at: str) -> bool:
        return self.has_joined(joined_at) and self.has_words(sources, tags)

    def has_joined(self, joined_at: str) -> bool:
        return joined_at >= self._from and (self._until is None or joined_at < self._until)

    def has_words(self, sources: Set[str], tags: Set[str]) -> bool:
        return _has(self._sources, sources) and _has(self._tags, tags)


def joined_at(created_at: str, activated_at: str, import_id: str | None) -> str:
    """When somebody became a subscriber, as it is stored: when they confirmed, and of people from an import, which
    says since when they are readers elsewhere, that moment."""
    return created_at if import_id else activated_at


def _has(terms: Terms, words: Set[str]) -> bool:
    some = not terms.any or not words.isdisjoint(terms.any)
    return some and words >= set(terms.all) and words.isdisjoint(terms.none)

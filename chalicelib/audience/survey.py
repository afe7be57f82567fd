"""Counting many things about everybody in one reading of the table: how many people each of several targetings
reaches, and how many have each tag."""

from collections import Counter
from collections.abc import Sequence, Set

from msgspec import Struct

from chalicelib.audience import recipients
from chalicelib.audience.matching import Rule, Targeting, joined_at
from chalicelib.audience.stores import recipients as store
from chalicelib.audience.stores.recipients import Item

# Different tags that are counted. What strangers can make has an end.
_MOST_TAGS = 20_000
# People with the same sources and tags are looked at together.
_MOST_COMBINATIONS = 20_000

_Combination = tuple[tuple[str, ...], tuple[str, ...]]


class Survey(Struct, frozen=True):
    """`reached` are the people each targeting reaches, in order. `tags` says how many subscribers have each, paused
    ones as well."""

    reached: tuple[int, ...]
    tags: dict[str, int]

    def most_common_tags(self) -> list[tuple[str, int]]:
        return sorted(self.tags.items(), key=lambda entry: (-entry[1], entry[0]))


def take(targetings: Sequence[Targeting] = ()) -> Survey:
    """One reading of everybody, however many targetings there are."""
    tallies = recipients.in_segments(lambda segment: _Tally(targetings).read(segment))
    tags: Counter[str] = Counter()
    for tally in tallies:
        tags.update(tally.tags)
    reached = zip(*(tally.reached for tally in tallies), strict=True)
    return Survey(tuple(map(sum, reached)), dict(tags.most_common(_MOST_TAGS)))


def count_tagged(tags: Set[str]) -> int:
    """How many subscribers have one of these tags, paused ones as well."""
    return sum(recipients.in_segments(lambda segment: store.count_tagged(sorted(tags), segment)))


class _Tally:
    """The counts of one segment."""

    def __init__(self, targetings: Sequence[Targeting]) -> None:
        self._rules = [Rule(targeting) for targeting in targetings]
        self._known: dict[_Combination, list[int]] = {}
        self.reached = [0] * len(targetings)
        self.tags: Counter[str] = Counter()

    def read(self, segment: tuple[int, int]) -> "_Tally":
        for item in store.scan_words(segment):
            self._count(item)
        return self

    def _count(self, item: Item) -> None:
        words = tuple(item["sources"]["SS"]) if "sources" in item else ()
        tags = tuple(item["tags"]["SS"]) if "tags" in item else ()
        has_room = len(self.tags) < _MOST_TAGS
        self.tags.update(tags if has_room else [tag for tag in tags if tag in self.tags])
        if "paused_at" in item:
            return
        imported = item["import_id"]["S"] if "import_id" in item else None
        joined = joined_at(item["created_at"]["S"], item["activated_at"]["S"], imported)
        for number in self._matching((words, tags)):
            if self._rules[number].has_joined(joined):
                self.reached[number] += 1

    def _matching(self, words: _Combination) -> list[int]:
        """The numbers of the rules whose words match."""
        if words not in self._known:
            if len(self._known) >= _MOST_COMBINATIONS:
                self._known.clear()
            sources, tags = map(frozenset, words)
            found = [number for number, rule in enumerate(self._rules) if rule.has_words(sources, tags)]
            self._known[words] = found
        return self._known[words]

"""Waves: people who were imported, and whom no campaign was sent to since, get theirs in growing groups, those who
joined last first, with a wait after each. What bounces or is complained about stops it. Knows no table and no SES.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from chalicelib.campaigns.model import WaveState

FIRST_SIZES = (50, 200, 1_000)
BOUNCED_PERCENT, COMPLAINED_PERCENT = 2.0, 0.1
FEWEST_EVENTS = 2
# A list is one row of at most 320 KB, and a wave is opened in one transaction of at most a hundred writes.
LARGEST_LIST = 20_000
_LARGEST_WAVE = 90 * LARGEST_LIST
_SMALLEST_LIST = 250
_MOST_LISTS = 16
# A large wave is judged while it is being sent, by no fewer emails than this.
_ENOUGH_TO_JUDGE = 1_000


class Events(Struct, frozen=True):
    """What SES reported about the emails of one wave."""

    bounced: int = 0
    complained: int = 0


class Waves(Struct, frozen=True):
    """`sizes` of all waves, the `number` of the current one and its `state`. `next_at` is when the next one starts by
    itself, in milliseconds. `excused` is what an editor has seen, by wave, and went on nevertheless."""

    sizes: tuple[int, ...]
    number: int = 1
    state: WaveState = WaveState.SENDING
    next_at: int = 0
    excused: Mapping[int, Events] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return self.sizes[self.number - 1]

    @property
    def is_last(self) -> bool:
        return self.number == len(self.sizes)


def sizes(people: int) -> tuple[int, ...]:
    """50, 200, 1,000 and the rest."""
    found = []
    for largest in (*FIRST_SIZES, *[_LARGEST_WAVE] * (1 + people // _LARGEST_WAVE)):
        if people:
            found.append(min(people, largest))
            people -= found[-1]
    return tuple(found)


def split(newest_first: Sequence[str]) -> Iterator[list[str]]:
    """The people of each wave."""
    start = 0
    for size in sizes(len(newest_first)):
        yield list(newest_first[start : start + size])
        start += size


def lists(people: Sequence[str]) -> list[Sequence[str]]:
    """One wave as lists, each worked through by one worker at a time."""
    size = min(LARGEST_LIST, max(_SMALLEST_LIST, -(-len(people) // _MOST_LISTS)))
    return [people[start : start + size] for start in range(0, len(people), size)]


def count_lists(size: int) -> int:
    return len(lists(range(size)))  # type: ignore[arg-type] # a range can be cut like any list


def following(waves: Waves) -> Waves:
    return replace(waves, number=waves.number + 1, state=WaveState.SENDING, next_at=0)


def waiting(waves: Waves, next_at: int) -> Waves:
    return replace(waves, state=WaveState.WAITING, next_at=next_at)


def stopped(waves: Waves) -> Waves:
    return replace(waves, state=WaveState.STOPPED, next_at=0)


def resumed(waves: Waves) -> Waves:
    return replace(waves, state=WaveState.SENDING, next_at=0)


def excuse(waves: Waves, events: Mapping[int, Events]) -> Waves:
    """What has been reported so far does not stop it again; as much once more does."""
    return replace(waves, excused=dict(events))


def find_over_limit(waves: Waves, events: Mapping[int, Events], sent: Mapping[int, int]) -> int | None:
    """The number of a wave that met with too many bounces or complaints, also if that was reported late."""
    return next((number for number in _with_enough(waves, events) if _is_over(waves, events, sent, number)), None)


def may_be_over(waves: Waves, events: Mapping[int, Events]) -> bool:
    """Whether it is worth counting what was sent."""
    return any(True for _ in _with_enough(waves, events))


def _with_enough(waves: Waves, events: Mapping[int, Events]) -> Iterable[int]:
    for number in events:
        new = _since_excused(waves, events, number)
        if max(new.bounced, new.complained) >= FEWEST_EVENTS:
            yield number


def _is_over(waves: Waves, events: Mapping[int, Events], sent: Mapping[int, int], number: int) -> bool:
    if not 1 <= number <= waves.number:
        return False
    of, new = sent.get(number, 0), _since_excused(waves, events, number)
    if number == waves.number and waves.state is WaveState.SENDING:
        of = max(of, min(waves.size, _ENOUGH_TO_JUDGE))
    return _reaches(new.bounced, of, BOUNCED_PERCENT) or _reaches(new.complained, of, COMPLAINED_PERCENT)


def _reaches(count: int, of: int, percent: float) -> bool:
    return count >= FEWEST_EVENTS and count * 100 >= of * percent


def _since_excused(waves: Waves, events: Mapping[int, Events], number: int) -> Events:
    now, then = events[number], waves.excused.get(number, Events())
    return Events(now.bounced - then.bounced, now.complained - then.complained)

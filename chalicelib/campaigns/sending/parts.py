"""Parts: a delivery is cut into parts, and a part is worked through batch by batch.

A part is a segment of the audience with a cursor in it, or a batch that is owed: people who may not have got their
mail. The worker that holds a part's lease claims a batch on it, sends the batch, and settles it. Knows no table and
no SES.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns.model import Counts, WaveState
from chalicelib.campaigns.sending.waves import Waves
from chalicelib.kernel import ids
from chalicelib.kernel.plurals import count_of

LARGEST_BATCH = 50
_PEOPLE_A_SEGMENT = 1_000
_MOST_SEGMENTS = 16
_SHORTEST_REST, _LONGEST_REST = 5, 900


class Kind(StrEnum):
    """What a part is: the first letter of its name."""

    SEGMENT = "s"
    WAVE = "w"
    UNKNOWN = "u"
    FAILED = "f"


class Progress(StrEnum):
    OPEN = "open"
    OWED = "owed"
    DONE = "done"


class Aside(NamedTuple):
    """Somebody imported, whose wave comes later: when they had joined, in milliseconds, and their id."""

    joined: int
    id: str


class Part(Struct, frozen=True):
    """`claim` has the people of the current batch. While it is `out`, SES may have been given it; otherwise it
    certainly was not, and waits. `cursor` is where reading continues after it. `until` is when the lease ends, in
    milliseconds: before that the part belongs to its `holder`, or to nobody if it rests. `strikes` counts set-backs
    in a row. `wave` is that of its people, 0 for those who were not imported. People a segment has set aside for a
    wave are on the row until there are enough for a list; `aside` counts both, `lists` how many lists there are."""

    delivery_id: str
    name: str
    attempt: int = 0
    wave: int = 0
    progress: Progress = Progress.OPEN
    cursor: str | None = None
    waiting: tuple[Aside, ...] = ()
    aside: int = 0
    lists: int = 0
    claim: tuple[str, ...] = ()
    out: bool = False
    sent: int = 0
    failed: int = 0
    strikes: int = 0
    holder: str = ""
    until: int = 0
    version: int = 0
    expires_at: int | None = None

    @property
    def kind(self) -> Kind:
        return Kind(self.name[0])

    @property
    def segment(self) -> tuple[int, int]:
        """Its number, and how many there are."""
        number, _, total = self.name[1:].partition("/")
        return int(number), int(total)

    @property
    def counts(self) -> Counts:
        """People of an owed batch stay counted as what they are owed for until they are settled."""
        failed = self.failed + (len(self.claim) if self.kind is Kind.FAILED else 0)
        unknown = len(self.claim) if self.kind is Kind.UNKNOWN else 0
        return Counts(self.sent + failed + unknown, self.sent, failed, unknown)

    def is_free(self, now: int) -> bool:
        return self.progress is Progress.OPEN and self.until < now


class Plan(Struct, frozen=True):
    """Records that a delivery was cut into parts. It outlives them, so that a late message cannot start it anew.

    `attempt` is the last attempt whose owed parts were opened; `stopped` says why nothing more is to be sent. `waves`
    is how imported people are written to, None if there are none, or none are known yet."""

    delivery_id: str
    attempt: int = 0
    stopped: str | None = None
    expires_at: int | None = None
    waves: Waves | None = None

    def holds(self, part: Part) -> bool:
        """Whether the part has to wait for an editor, because of what the waves so far met with."""
        return bool(part.wave) and self.waves is not None and self.waves.state is WaveState.STOPPED


def cut(delivery_id: str, people: int) -> list[Part]:
    """A segment for every thousand people: each costs a few requests, and as many workers as segments can send."""
    total = min(_MOST_SEGMENTS, 1 + people // _PEOPLE_A_SEGMENT)
    return [Part(delivery_id, f"{Kind.SEGMENT}{number}/{total}") for number in range(total)]


def owe(part: Part, kind: Kind, people: Sequence[str]) -> Part:
    """A part of their own for people who may not have got their mail; it waits for an editor to press *Retry*."""
    name = f"{kind}{ids.new()}"
    return Part(
        part.delivery_id, name, attempt=part.attempt, wave=part.wave, progress=Progress.OWED, claim=tuple(people)
    )


def next_batch(waiting: Sequence[Recipient], size: int, most_aside: int) -> tuple[list[Recipient], list[Aside]]:
    """The first of those who were read: so many who are sent it now, and the imported people before the last of
    these, who wait for their wave; none with `most_aside` 0, when everybody gets it at once."""
    now: list[Recipient] = []
    aside: list[Aside] = []
    for person in waiting[: size + most_aside]:
        if len(now) == size:
            break
        if most_aside and person.unmailed:
            aside.append(Aside(person.joined, person.id))
        else:
            now.append(person)
    return now, aside


def claim(part: Part, people: Sequence[str], cursor: str | None, aside: Sequence[Aside] = ()) -> Part:
    """The cursor moves with the claim, because the claimed people are stored on the part until it is settled; and
    so are those set aside on the way."""
    return replace(pass_by(part, cursor, aside), claim=tuple(people), out=True)


def pass_by(part: Part, cursor: str | None, aside: Sequence[Aside] = ()) -> Part:
    """Reading goes on after `cursor`. That somebody waits for a wave is stored with that very step, so each person
    is looked at once, and is either sent the campaign or waiting, whatever becomes of their mark meanwhile."""
    if not aside:
        return replace(part, cursor=cursor)
    return replace(part, cursor=cursor, waiting=(*part.waiting, *aside), aside=part.aside + len(aside))


def settle(part: Part, sent: int, failed: int, unsent: Sequence[str] = ()) -> Part:
    """Count what became of the claim; `unsent` were certainly not handed over, and stay claimed."""
    return replace(part, claim=tuple(unsent), out=False, sent=part.sent + sent, failed=part.failed + failed)


def rest(part: Part, until: int) -> Part:
    return replace(part, holder="", until=until)


def done(part: Part) -> Part:
    """Only numbers remain on it, nobody's id."""
    return replace(
        part, progress=Progress.DONE, cursor=None, waiting=(), claim=(), out=False, strikes=0, holder="", until=0
    )


def reopen(part: Part, attempt: int) -> Part:
    return replace(part, progress=Progress.OPEN, attempt=attempt, strikes=0, holder="", until=0, expires_at=None)


def rest_seconds(strikes: int) -> int:
    """How long to leave SES alone after so many set-backs in a row."""
    return int(min(_LONGEST_REST, _SHORTEST_REST * 2 ** min(strikes, 10)))


def total(parts: Iterable[Part]) -> Counts:
    return sum((part.counts for part in parts), Counts())


def describe_owed(found: Sequence[Part]) -> str | None:
    """What is left for a retry, for editors to read."""
    owed = [part for part in found if part.progress is Progress.OWED]
    unknown = sum(len(part.claim) for part in owed if part.kind is Kind.UNKNOWN)
    failed = sum(len(part.claim) for part in owed if part.kind is Kind.FAILED)
    reasons = []
    if unknown:
        reasons.append(
            f"{count_of(unknown, 'email')} may or may not have been sent: a response was lost or a worker stopped"
        )
    if failed:
        reasons.append(f"{count_of(failed, 'email')} could not be sent now, which SES may accept later")
    return "; ".join(reasons) + ". Retry sends exactly these." if reasons else None

"""Working through one part of a delivery: claim a batch, send it, settle it, and again.

Settling a batch and claiming the next is one conditional write. Whatever happens between two of these writes (a
crash, a lost answer, a lost lease) leaves at most one batch unaccounted for, and that batch is *unknown*: counted,
reported, and sent again only when an editor retries the delivery.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience import recipients
from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns.model import Delivery, Resolved
from chalicelib.campaigns.sending import batch, part_store, parts, wave_store
from chalicelib.campaigns.sending.batch import Outcome
from chalicelib.campaigns.sending.pacing import Pace
from chalicelib.campaigns.sending.parts import LARGEST_BATCH, Aside, Kind, Part, Plan
from chalicelib.kernel import clock, log
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail.failures import Failure, QuotaReached, Stopped, Transient, Unanswered

LEASE_MS = 90_000
_CALL_MS = 25_000
_FRESH_SECONDS = 15.0
_CHECK_SECONDS = 5.0
_LONGEST_NAP = 20.0
_PAGE = 2_000
_QUOTA_REST = 3600
_ENOUGH_FOR_A_LIST = 500
FORGOTTEN = "This delivery can no longer be retried: it ended more than thirty days ago"
_BUSY = "SES is slow or busy; sending continues automatically"


class Pause(Exception):
    """Come back to this part in so many seconds; `note` is for editors."""

    def __init__(self, seconds: int, note: str | None = None) -> None:
        super().__init__("pause")
        self.seconds = seconds
        self.note = note


class Halt(Exception):
    """Nothing more of this delivery is to be sent; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("halt")
        self.reason = reason


class Held(Exception):
    """Too much of a wave came back: its people wait until an editor says so."""


class Job(Struct, frozen=True):
    """What a part needs of its delivery. `post` sends the campaign to a batch of a wave (0 if they are in none) and
    returns one result for each person; `refused` records an address that SES will not send to; `is_over_limit` says
    whether what was reported about the waves so far stops them."""

    delivery: Delivery
    targeting: Resolved
    post: Callable[[Sequence[Recipient], int], Sequence[Failure | None]]
    refused: Callable[[str, str], None]
    left_today: Callable[[], float]
    pace: Pace
    time_left: Callable[[], float]
    is_over_limit: Callable[[Plan], bool] = lambda _: False


class PartRun:
    """One worker on one part, from taking it to releasing it. `part` is what is stored, or one settlement ahead of
    it: that is written with the next claim, and at the latest before a wait."""

    def __init__(self, job: Job, part: Part) -> None:
        self._job = job
        self._stored = part
        self.part = part
        self._checked_at = 0.0

    def run(self) -> None:
        """Work until the part is done; raises `Pause`, `Halt`, `Held` or `Lost`. What is known by then is stored."""
        try:
            if self.part.out:
                self._disown()
            self._check_quota()
            if self.part.claim:
                self._resume()
            if self.part.kind is Kind.SEGMENT:
                self._send_segment()
            elif self.part.kind is Kind.WAVE:
                self._send_list()
        except (Pause, Halt, Held, Unavailable):
            self._flush()
            raise
        if self.part.waiting:
            self._keep_aside(parts.done(self.part))
        else:
            self._save(parts.done(self.part))

    def _check_quota(self) -> None:
        try:
            remaining = self._job.left_today()
        except Stopped as why:
            raise Halt(why.reason) from why
        except Transient as why:
            raise Pause(parts.rest_seconds(self.part.strikes), _BUSY) from why
        if remaining <= 0:
            self._react(QuotaReached())

    def _disown(self) -> None:
        """The worker before us claimed a batch and never settled it."""
        log.warning("sending.unknown", delivery_id=self.part.delivery_id, mails=len(self.part.claim))
        log.metric("UnknownMails", len(self.part.claim))
        self._owe(replace(self.part, claim=(), out=False), [parts.owe(self.part, Kind.UNKNOWN, self.part.claim)])

    def _resume(self) -> None:
        """Send a claim that waits, to those who are still subscribed."""
        people = recipients.reload(self.part.claim)
        if people:
            self._send(people, time.monotonic(), self.part.cursor)
        else:
            self.part = parts.settle(self.part, 0, 0)

    def _send_segment(self) -> None:
        waiting: list[Recipient] = []
        read_at = time.monotonic()
        for people, after in self._pages():
            read_at = read_at if waiting else time.monotonic()
            waiting += people
            while len(waiting) >= self._batch_size() or (waiting and not after):
                careful = self._job.delivery.waves
                now, aside = parts.next_batch(waiting, self._batch_size(), _ENOUGH_FOR_A_LIST if careful else 0)
                cursor = waiting[len(now) + len(aside) - 1].id
                waiting = waiting[len(now) + len(aside) :]
                self._send(now, read_at, cursor, aside)
                if len(self.part.waiting) >= _ENOUGH_FOR_A_LIST:
                    self._keep_aside(replace(self.part, waiting=(), until=now_ms() + LEASE_MS))
            if not waiting:
                self.part = replace(self.part, cursor=after or self.part.cursor)

    def _send_list(self) -> None:
        people = wave_store.read_list(self.part.delivery_id, self.part.name)
        if people is None:
            raise Halt(FORGOTTEN)
        rest = people[people.index(self.part.cursor) + 1 :] if self.part.cursor else people
        while rest:
            size = self._batch_size()
            now, rest = rest[:size], rest[size:]
            self._send(recipients.reload(now), time.monotonic(), now[-1])

    def _pages(self) -> Iterator[tuple[list[Recipient], str | None]]:
        delivery = self._job.delivery
        started = delivery.started_at or delivery.created_at
        size = min(_PAGE, max(LARGEST_BATCH, self._batch_size() * 20))
        return recipients.pages(self.part.segment, self.part.cursor, self._job.targeting, started, size)

    def _batch_size(self) -> int:
        # After a lost answer the next mail goes alone: if SES is silent, one more person is unknown, not fifty.
        return 1 if self.part.strikes else self._job.pace.batch_size(LARGEST_BATCH)

    def _send(self, people: list[Recipient], read_at: float, cursor: str | None, aside: Sequence[Aside] = ()) -> None:
        self._check_time()
        if people:
            self._wait(self._job.pace.reserve(len(people)))
        self._check_plan()
        if people and time.monotonic() - read_at > _FRESH_SECONDS:
            people = recipients.reload([person.id for person in people])
        if not people:
            self.part = parts.pass_by(self.part, cursor, aside)
            return
        self._claim([person.id for person in people], cursor, aside)
        outcome = batch.send(self._post, people)
        self._clear_marks(people, outcome)
        self._settle(outcome)

    def _clear_marks(self, people: Sequence[Recipient], outcome: Outcome) -> None:
        """Of imported people who have been sent a campaign now. A mark that stays because of a crash only means that
        the next campaign is careful with them as well."""
        others = (*outcome.given_up, *outcome.unknown, *outcome.unsent, *(person for person, _ in outcome.refused))
        not_sent = {person.id for person in others}
        marked = [person.id for person in people if person.unmailed and person.id not in not_sent]
        try:
            recipients.clear_unmailed(marked)
        except Unavailable as failure:
            log.exception("sending.mark_not_cleared", failure, delivery_id=self.part.delivery_id)

    def _claim(self, people: Sequence[str], cursor: str | None, aside: Sequence[Aside] = ()) -> None:
        """The one write after which mails leave, so it is refused when the part has been recalled: whoever stops a
        delivery waits for the batches at hand and no longer, and it costs no request to find out."""
        while True:
            claimed = replace(parts.claim(self.part, people, cursor, aside), until=now_ms() + LEASE_MS)
            try:
                self.part = self._stored = part_store.save(claimed, unless_recalled=True)
                return
            except part_store.Recalled:
                self._save(self.part)
                self._check_plan()

    def _post(self, people: Sequence[Recipient]) -> Sequence[Failure | None]:
        if now_ms() > self._stored.until - _CALL_MS:
            raise Transient(code="Late")  # our lease may end before SES answers
        return self._job.post(people, self.part.wave)

    def _settle(self, outcome: Outcome) -> None:
        for person, why in outcome.refused:
            self._refuse(person, why.reason)
        before = self.part
        settled = parts.settle(before, outcome.sent, len(outcome.refused), [person.id for person in outcome.unsent])
        self.part = replace(settled, strikes=before.strikes + 1 if outcome.why else 0)
        owed = [
            parts.owe(before, kind, [person.id for person in people])
            for kind, people in ((Kind.UNKNOWN, outcome.unknown), (Kind.FAILED, outcome.given_up))
            if people
        ]
        if owed:
            self._owe(self.part, owed)
        if outcome.why:
            self._react(outcome.why)

    def _refuse(self, person: Recipient, reason: str) -> None:
        try:
            self._job.refused(person.id, reason)
        except Unavailable as failure:
            # It is counted anyway. Failing here would make the whole batch unknown.
            log.exception("sending.refusal_not_kept", failure, delivery_id=self.part.delivery_id)

    def _react(self, why: Failure) -> None:
        log.warning("sending.set_back", delivery_id=self.part.delivery_id, kind=type(why).__name__, code=why.code)
        match why:
            case Stopped():
                raise Halt(why.reason)
            case QuotaReached():
                raise Pause(_QUOTA_REST, why.reason)
            case Unanswered() if self.part.strikes < 2 and not self.part.claim:
                return
            case _:
                raise Pause(parts.rest_seconds(self.part.strikes), _BUSY)

    def _check_time(self) -> None:
        if self._job.time_left() <= 0:
            raise Pause(0)

    def _check_plan(self) -> None:
        """The delivery must not have been stopped. Looked up now and then, in case whoever stopped it died before
        recalling the parts, and after a write that took the mark of a recall away."""
        if self._checked_at and time.monotonic() - self._checked_at <= _CHECK_SECONDS:
            return
        plan = part_store.find_plan(self.part.delivery_id)
        if plan is None or plan.stopped:
            raise Halt(plan.stopped or "" if plan else "")
        if plan.holds(self.part) or (self.part.wave and self._job.is_over_limit(plan)):
            raise Held
        self._checked_at = time.monotonic()

    def _wait(self, seconds: float) -> None:
        if seconds > 0.2:
            self._flush()
        while seconds > 0:
            if seconds > self._job.time_left():
                raise Pause(0)
            nap = min(seconds, _LONGEST_NAP)
            time.sleep(nap)
            seconds -= nap
            if seconds > 0:
                self._save(replace(self.part, until=now_ms() + LEASE_MS))

    def _flush(self) -> None:
        if self.part != self._stored:
            self._save(self.part)

    def _save(self, part: Part) -> None:
        try:
            stored = part_store.save(part, unless_recalled=True)
        except part_store.Recalled:
            self._checked_at = 0.0
            stored = part_store.save(part)
        self.part = self._stored = stored

    def _keep_aside(self, part: Part) -> None:
        """Put those who wait on a list of their own, so that the row stays small."""
        self.part = self._stored = wave_store.save_with_list(part, self.part.waiting)
        self._checked_at = 0.0

    def _owe(self, part: Part, owed: list[Part]) -> None:
        self.part = self._stored = part_store.save_owing(part, owed)
        self._checked_at = 0.0


def now_ms() -> int:
    return int(clock.now().timestamp() * 1000)

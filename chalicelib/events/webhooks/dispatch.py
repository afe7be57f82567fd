"""Sending what a destination is owed: one drain per destination at a time, so that none waits for another.

The events of one aggregate are a lane: they are sent in order, in parallel with other lanes. A failed event holds up
its own lane only; an endpoint that fails for every event is left alone for a while.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.events.model import Event
from chalicelib.events.webhooks import bus, health, model, post, store
from chalicelib.events.webhooks.model import BUS, Attempt, Owed, Result, Webhook
from chalicelib.kernel import clock, ids, locks, log, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws.failures import Stale

AddressOf = Callable[[str], str | None]

# A drain starts nothing new after 30 seconds and waits 15 at most for an answer: the lease outlasts both.
_SECONDS = 30
_LEASE = 60
_LANES_AT_ONCE = 8
_PAGE = 200
_LANE = 50
_FAILURES_IN_A_ROW = 5

# Received events are settled this many at a time, which is one request, or at once where answers come seldom. After a
# crash in between, that many may be sent again.
_SETTLED_AT_ONCE = 12
_SETTLED_WITHIN = 1.0


class Destination(Struct, frozen=True):
    id: str
    webhook: Webhook | None
    at_once: int
    send: Callable[[Sequence[Event]], Result]


def drain(id: str, address_of: AddressOf) -> None:
    """Send what is due. After a crash it is still owed, and is sent again with the same id."""
    with locks.held(f"destination {id}", _LEASE) as ours:
        destination = _find(id, address_of) if ours else None
        if destination is None:
            return
        run = _Drain(destination)
        run.send_all()
        if destination.webhook:
            health.record(destination.webhook, run.sent, run.failed, run.tripped, run.gone)
    if run.soon is not None:
        queues.send("events", {"destination": id}, delay_seconds=run.soon)


def _find(id: str, address_of: AddressOf) -> Destination | None:
    if id == BUS:
        return Destination(BUS, None, bus.AT_ONCE, bus.publish) if settings.current().event_bus else None
    webhook = store.get(id)
    if webhook and webhook.notice_pending:
        health.notify_admin(webhook)
    if webhook is None or not webhook.ready(clock.now()):
        return None
    return Destination(id, webhook, 1, lambda events: send(webhook, events[0], address_of))


def send(webhook: Webhook, event: Event, address_of: AddressOf) -> Result:
    subscriber_id = event.payload.get("subscriber_id")
    asked = webhook.include_address and isinstance(subscriber_id, str)
    return post.post(webhook, event, address_of(str(subscriber_id)) if asked else None)


class _Drain:
    """One run over the lanes of a destination, and its outcome."""

    def __init__(self, destination: Destination) -> None:
        self._to = destination
        self._ends = time.monotonic() + _SECONDS
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._done: list[Owed] = []
        self._tried: list[Attempt] = []
        self._settled = time.monotonic()
        self.sent = 0
        self.failed = 0
        self.gone = False
        self.soon: int | None = None

    @property
    def tripped(self) -> bool:
        return self._in_a_row >= _FAILURES_IN_A_ROW

    @property
    def _over(self) -> bool:
        return self.gone or self.tripped or time.monotonic() > self._ends

    def send_all(self) -> None:
        with ThreadPoolExecutor(_LANES_AT_ONCE) as pool:
            while lanes := store.list_due(self._to.id, clock.now(), _PAGE):
                before = self.sent + self.failed
                try:
                    list(pool.map(self._send_lane, lanes))
                finally:
                    self._settle()
                if self._over or self.sent + self.failed == before:
                    break
        if lanes and not (self.gone or self.tripped):
            self._drain_again(1)

    def _send_lane(self, aggregate_id: str) -> None:
        owed = store.list_owed(self._to.id, aggregate_id, _LANE)
        if owed and owed[0].due_at > clock.text(clock.now()):
            store.hold(self._to.id, aggregate_id, clock.parse(owed[0].due_at))
            return
        for start in range(0, len(owed), self._to.at_once):
            batch = owed[start : start + self._to.at_once]
            if self._over or not self._send_batch(batch):
                return

    def _send_batch(self, batch: Sequence[Owed]) -> bool:
        """True if the rest of the lane may be sent."""
        result = self._to.send([owed.event for owed in batch])
        now = clock.now()
        tried = [
            Attempt(ids.new(), owed.event.id, owed.event.type, clock.text(now), owed.attempts + 1, result)
            for owed in batch
            if self._to.webhook  # the bus has no history to show
        ]
        self._count_result(result)
        wait = None if result.ok else model.next_wait(batch[0].attempts + 1, result.retry_after)
        if wait is None:
            self._add_done(tried, batch)
            if not result.ok:
                log.error("events.given_up", destination=self._to.id, event_id=batch[0].event.id)
                log.metric("EventGivenUp", len(batch))
            return True
        self._put_off(tried, batch, wait)
        return False

    def _add_done(self, tried: Sequence[Attempt], batch: Sequence[Owed]) -> None:
        with self._lock:
            self._tried += tried
            self._done += batch
            waited = time.monotonic() - self._settled
            enough = len(self._done) >= _SETTLED_AT_ONCE or waited > _SETTLED_WITHIN
        if enough:
            self._settle()

    def _settle(self) -> None:
        with self._lock:
            tried, self._tried = self._tried, []
            done, self._done = self._done, []
            self._settled = time.monotonic()
        if done:
            store.settle(self._to.id, tried, done)

    def _put_off(self, tried: Sequence[Attempt], batch: Sequence[Owed], wait: float) -> None:
        due = clock.now() + timedelta(seconds=wait)
        failed = [replace(owed, attempts=owed.attempts + 1) for owed in batch]
        try:
            store.put_off(self._to.id, tried, failed, due)
            store.hold(self._to.id, batch[0].event.aggregate_id, due)
        except Stale:
            return  # no longer owed: the destination was removed meanwhile
        if wait < 60:
            self._drain_again(int(wait) + 1)

    def _count_result(self, result: Result) -> None:
        with self._lock:
            self.sent += result.ok
            self.failed += not result.ok
            self.gone = self.gone or result.gone
            self._in_a_row = 0 if result.ok else self._in_a_row + 1

    def _drain_again(self, seconds: int) -> None:
        """Sooner than the next sweep."""
        self.soon = seconds if self.soon is None else min(self.soon, seconds)

"""A delivery to thousands that an editor stops in the middle, with two workers at it and on real tables and queues:
nothing leaves but the batches at hand, and stop and retry together still reach everybody once."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from chalicelib.campaigns.model import STOPPED, Counts, Delivery, DeliveryState
from chalicelib.campaigns.sending import deliveries, stopping, supervisor
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.kernel.errors import Conflict
from tests.conftest import received
from tests.emulator.sending import addresses, ended, mails, now, sent
from tests.rooms.campaigns.crowd import gather, leave

PEOPLE = 3_000
PARTS_AT_ONCE = 2


class _Workers:
    """Two workers on the parts of a delivery, until there is nothing left to take; `act` runs once, as soon as so
    many batches have been sent."""

    def __init__(self, delivery: Delivery, monkeypatch: Any, after: int, act: Callable[[], Any]) -> None:
        self._delivery = delivery
        self._after = after
        self._act = act
        self._lock = threading.Lock()
        self.batches = 0
        self.late = 0
        self.acted = threading.Event()
        self._monkeypatch = monkeypatch

    def run(self) -> None:
        real = supervisor._job

        def job(delivery: Delivery, time_left: Any) -> Any:
            made = real(delivery, time_left)
            return replace(made, post=lambda people, wave: self._post(made.post, people, wave))

        supervisor.tend(now(self._delivery))
        with self._monkeypatch.context() as changed:
            changed.setattr(supervisor, "_job", job)
            self._drive_all()

    def _drive_all(self) -> None:
        orders = [Order(**message) for message in received("sending")]
        threads = [
            threading.Thread(target=self._drive, args=(orders[n::PARTS_AT_ONCE],)) for n in range(PARTS_AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _drive(self, orders: list[Order]) -> None:
        for order in orders:
            supervisor.drive(order, lambda: 60.0)

    def _post(self, post: Any, people: Any, wave: int) -> Any:
        with self._lock:
            self.batches += 1
            self.late += self.acted.is_set()
            is_mine = self.batches == self._after
        if is_mine:
            self._act()
            self.acted.set()
        return post(people, wave)


def stop(delivery: Delivery) -> Any:
    return stopping.stop(delivery.campaign_id, delivery.id)


def test_a_delivery_stopped_in_the_middle_and_retried_reaches_everybody_once(
    short_leases: None, ses: Any, work: Any, tick: Any, monkeypatch: Any
) -> None:
    everybody = addresses(gather(PEOPLE))
    delivery = sent()
    received("deliveries")
    workers = _Workers(delivery, monkeypatch, 20, lambda: stop(delivery))
    workers.run()
    over = now(delivery)
    assert (over.state, over.error_detail) == (DeliveryState.FAILED, STOPPED)
    assert workers.late < PARTS_AT_ONCE  # a batch that was claimed before, at most
    assert over.counts == Counts(mails(ses).total(), mails(ses).total(), 0, 0)
    assert 900 <= over.counts.sent < PEOPLE
    tick("sweep_deliveries")
    assert work("sending") + work("deliveries") == 0
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert ended(delivery, work, tick).counts == Counts(PEOPLE, PEOPLE, 0, 0)
    assert mails(ses) == Counter(everybody.values())


def test_stopped_again_and_again_it_still_reaches_everybody_once(
    short_leases: None, ses: Any, work: Any, tick: Any, monkeypatch: Any, together: Any
) -> None:
    everybody = addresses(gather(PEOPLE))
    delivery = sent()
    for _ in range(4):
        received("deliveries")
        _Workers(delivery, monkeypatch, 5, lambda: together(*[lambda: stop(delivery)] * 3)).run()
        assert now(delivery).error_detail == STOPPED
        deliveries.retry(delivery.campaign_id, delivery.id)
    assert ended(delivery, work, tick).counts == Counts(PEOPLE, PEOPLE, 0, 0)
    assert mails(ses) == Counter(everybody.values())


def test_a_stop_that_races_the_end_leaves_it_stopped_or_complete(
    short_leases: None, ses: Any, work: Any, tick: Any, together: Any
) -> None:
    everybody = addresses(gather(300))
    seen = set()
    for hurry in (0, 3, 5, 6, 7, 9):
        ses.reset()
        ses.tell(quota={"MaxSendRate": 1e6}, delay_ms=10)
        delivery = sent()
        supervisor.tend(now(delivery))
        begun = threading.Event()

        def late(delivery: Delivery = delivery, pause: float = hurry / 50, begun: threading.Event = begun) -> Any:
            begun.wait(pause)
            return stop(delivery)

        _, answer = together(lambda delivery=delivery: ended(delivery, work, tick), late)
        over = now(delivery)
        seen.add(over.state)
        if over.state is DeliveryState.SENT:
            assert over.counts == Counts(300, 300, 0, 0)
        else:
            assert over.error_detail == STOPPED
            assert not isinstance(answer, Conflict)
            deliveries.retry(delivery.campaign_id, delivery.id)
            assert ended(delivery, work, tick).counts == Counts(300, 300, 0, 0)
        assert mails(ses) == Counter(everybody.values())
    assert DeliveryState.FAILED in seen


def test_who_is_erased_between_stop_and_retry_gets_nothing_more(
    short_leases: None, ses: Any, work: Any, tick: Any, monkeypatch: Any
) -> None:
    people = gather(PEOPLE)
    everybody = addresses(people)
    delivery = sent()
    received("deliveries")
    _Workers(delivery, monkeypatch, 20, lambda: stop(delivery)).run()
    before = mails(ses)
    gone = [person for person in people if everybody[person] not in before][::10]
    for person in gone:
        leave(person)
    deliveries.retry(delivery.campaign_id, delivery.id)
    left = PEOPLE - len(gone)
    assert ended(delivery, work, tick, 60).counts == Counts(left, left, 0, 0)
    assert mails(ses) == Counter(everybody[person] for person in set(people) - set(gone))

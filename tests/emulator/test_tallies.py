"""What became of a delivery, counted by many at once on real tables: everything once, and nobody's leaving fails."""

from typing import Any

import pytest

from chalicelib.audience import erasure, recipients
from chalicelib.bounces import jobs, service, tallies
from chalicelib.bounces.model import Tally
from chalicelib.campaigns.model import STOPPED, Delivery, DeliveryState
from chalicelib.campaigns.sending import deliveries, stopping
from chalicelib.kernel.errors import Unavailable
from tests.conftest import received
from tests.emulator.sending import now, sent
from tests.rooms.bounces.test_service import event
from tests.rooms.campaigns.crowd import gather, write

SECRET = "s" * 32


@pytest.fixture(autouse=True)
def publication(emulator: Any, configure: Any) -> None:
    configure(BOUNCES="keep", FROM_EMAIL="news@example.org")


def readers(people: int) -> list[str]:
    found = gather(people)
    owners = [{"address": one.email, "subscriber_id": one.id} for one in recipients.reload(found)]
    write("emails", owners)
    return found


def tally(delivery: Delivery) -> Tally:
    return tallies.find([delivery.id]).get(delivery.id, Tally())


def report(name: str, delivery: Delivery, address: str = "gone@example.org", wave: int = 0) -> dict[str, Any]:
    found = event(name)
    tags = {"delivery": [delivery.id]} | ({"wave": [str(wave)]} if wave else {})
    found["mail"] |= {"destination": [address], "tags": tags}
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("event_bounce_permanent", Tally(hard_bounced=1)),
        ("event_bounce_transient", Tally(soft_bounced=1)),
        ("event_complaint", Tally(complaints=1)),
    ],
)
def test_the_same_event_ten_times_at_once_counts_once(name: str, expected: Tally, together: Any) -> None:
    delivery = sent()
    again = report(name, delivery, wave=1)
    assert together(*[lambda: jobs.handle(again)] * 10) == [None] * 10
    assert tally(delivery) == expected
    waves = tallies.count_by_wave(delivery.id)
    assert waves == ({} if expected.soft_bounced else {1: (expected.hard_bounced, expected.complaints)})


def test_fifty_who_leave_at_once_are_counted_fifty_times_and_none_fails(http: Any, together: Any) -> None:
    people = readers(50)
    first, second = sent(), sent()
    leave = [lambda id=id: http.get(f"/api/unsubscribe?token={id}.{SECRET}").status for id in people]
    assert together(*leave) == [200] * 50
    assert recipients.look_up(people) == {}
    assert (tally(first).left, tally(second).left) == (50, 50)


@pytest.mark.parametrize("attempt", range(3))
def test_one_click_and_the_link_at_once_count_once(http: Any, together: Any, attempt: int) -> None:
    (id,) = readers(1)
    delivery = sent()
    path = f"/api/unsubscribe?token={id}.{SECRET}"
    link = lambda: http.get(path).status  # noqa: E731
    one_click = lambda: http.post(path, form={"List-Unsubscribe": "One-Click"}).status  # noqa: E731
    assert together(link, one_click, link, one_click) == [200] * 4
    assert tally(delivery).left == 1


def test_who_leaves_while_an_editor_removes_them_is_counted_at_most_once(http: Any, together: Any) -> None:
    people = readers(10)
    delivery = sent()
    for id in people:
        together(lambda id=id: http.get(f"/api/unsubscribe?token={id}.{SECRET}"), lambda id=id: erasure.remove(id))
    assert recipients.look_up(people) == {}
    assert 0 <= tally(delivery).left <= 10
    assert tally(delivery) == Tally(left=tally(delivery).left)


def test_a_worker_that_dies_after_counting_counts_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    (id,) = readers(1)
    delivery = sent()
    again = report("event_bounce_permanent", delivery, recipients.look_up([id])[id].email)

    def die(*_: Any) -> None:
        raise Unavailable

    with monkeypatch.context() as dying:
        dying.setattr(service, "_record_bounce", die)
        with pytest.raises(Unavailable):
            jobs.handle(again)
    jobs.handle(again)  # the queue brings it again
    assert tally(delivery) == Tally(hard_bounced=1)
    assert service.list_page(1, 10).total == 1


def test_a_request_that_dies_after_erasing_counts_nothing_twice(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (id,) = readers(1)
    delivery = sent()

    def die(*_: Any) -> None:
        raise Unavailable

    with monkeypatch.context() as dying:
        dying.setattr(erasure.outbox, "relay_soon", die)
        assert http.get(f"/api/unsubscribe?token={id}.{SECRET}").status == 503
    assert http.get(f"/api/unsubscribe?token={id}.{SECRET}").status == 200
    assert tally(delivery).left == 1


def test_a_stop_while_bounces_come_in_keeps_both(together: Any) -> None:
    readers(20)
    delivery = sent()
    received("deliveries")
    reports = [report("event_bounce_permanent", delivery, f"gone{number % 12}@example.org") for number in range(24)]
    stop = lambda: stopping.stop(delivery.campaign_id, delivery.id)  # noqa: E731
    answers = together(stop, stop, *[lambda each=each: jobs.handle(each) for each in reports])
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    over = now(delivery)
    assert (over.state, over.error_detail) == (DeliveryState.FAILED, STOPPED)
    assert tally(delivery) == Tally(hard_bounced=12)
    deliveries.retry(delivery.campaign_id, delivery.id)
    jobs.handle(reports[0])
    assert tally(delivery) == Tally(hard_bounced=12)

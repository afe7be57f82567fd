"""What became of a delivery, in numbers: every report of SES counts once for its delivery, kind and address."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.bounces import jobs, service, tallies, tally_store
from chalicelib.bounces.model import Tally
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.errors import Unavailable
from tests.rooms.bounces.test_service import EVENTS, event

DELIVERY = "0193a5c4-9e2d-7f10-a3b4-c5d6e7f80910"
NOTHING = Tally()
COUNTED = {
    "event_bounce_permanent": Tally(hard_bounced=1),
    "event_bounce_suppressed": Tally(hard_bounced=1),
    "event_bounce_transient": Tally(soft_bounced=1),
    "event_complaint": Tally(complaints=1),
}
TAGLESS = {"notification_bounce", "notification_complaint"}


@pytest.fixture(autouse=True)
def tables_only(aws: None) -> None:
    """Nobody is subscribed: it counts whether or not the person is still here."""


def tally(delivery_id: str = DELIVERY) -> Tally:
    return tallies.find([delivery_id]).get(delivery_id, NOTHING)


def report(name: str, **mail: Any) -> dict[str, Any]:
    found = event(name)
    found["mail"]["tags"] = {"delivery": [DELIVERY]}
    found["mail"] |= mail
    return found


@pytest.mark.parametrize("name", sorted(path.stem for path in EVENTS.glob("*.json")))
def test_what_ses_can_say_counts_for_its_delivery_if_it_is_about_a_bounce_or_a_complaint(name: str) -> None:
    jobs.handle(event(name))
    assert tally() == (NOTHING if name in TAGLESS else COUNTED.get(name, NOTHING))


@pytest.mark.parametrize("name", sorted(COUNTED))
def test_a_report_counts_once_however_often_it_comes_and_in_however_many_events(name: str) -> None:
    for number in range(3):
        jobs.handle(report(name))
        again = report(name, messageId=f"another-{number}", destination=["Reader@EXAMPLE.org"])
        for detail in ("bounce", "complaint"):
            if detail in again:
                again[detail] |= {"feedbackId": f"another-{number}", "timestamp": clock.text(clock.now())}
        jobs.handle(again)
    assert tally() == COUNTED[name]


def test_everybody_counts_for_themselves_in_each_kind_and_each_delivery() -> None:
    other = ids.new()
    for address in ("ann@example.org", "bob@example.org", "ann@example.org"):
        for name in ("event_bounce_transient", "event_bounce_permanent", "event_complaint"):
            jobs.handle(report(name, destination=[address]))
    jobs.handle(report("event_bounce_permanent", tags={"delivery": [other]}, destination=["ann@example.org"]))
    assert (tally(), tally(other)) == (Tally(2, 2, 2), Tally(hard_bounced=1))


def test_a_second_hard_bounce_that_ses_suppressed_after_the_first_is_the_same_address() -> None:
    jobs.handle(report("event_bounce_permanent"))
    jobs.handle(report("event_bounce_suppressed"))  # of a retry
    assert tally() == Tally(hard_bounced=1)


@pytest.mark.parametrize("tag", [None, "", "x", DELIVERY.upper(), f"{DELIVERY}/1", "~", 7, [DELIVERY]])
def test_a_report_without_a_delivery_of_ours_counts_for_none(tag: Any) -> None:
    jobs.handle(report("event_bounce_permanent", tags={"delivery": [tag]} if tag else {}))
    assert _shelves() <= {"bounces"}


def test_an_email_that_ses_did_not_send_because_of_an_earlier_complaint_is_no_complaint() -> None:
    again = report("event_complaint")
    again["complaint"]["complaintSubType"] = "OnAccountSuppressionList"
    jobs.handle(again)
    assert tally() == NOTHING


def test_what_ses_refused_at_once_is_a_failure_of_the_delivery_and_no_bounce() -> None:
    service.record_refusal(ids.new(), DELIVERY, "Invalid address")
    assert tally() == NOTHING


def test_waves_are_counted_by_the_same_report_and_only_what_ses_holds_against_the_account() -> None:
    tags = {"delivery": [DELIVERY], "wave": ["2"]}
    for _ in range(2):
        jobs.handle(report("event_bounce_permanent", tags=tags))
        jobs.handle(report("event_complaint", tags=tags))
        jobs.handle(report("event_bounce_transient", tags=tags))
        suppressed = report("event_bounce_suppressed", tags=tags, destination=["bob@example.org"])
        suppressed["bounce"]["bounceSubType"] = "OnAccountSuppressionList"
        jobs.handle(suppressed)
    assert tally() == Tally(soft_bounced=1, hard_bounced=2, complaints=1)
    assert tallies.count_by_wave(DELIVERY) == {2: (1, 1)}


def test_a_report_whose_count_was_cut_short_is_counted_when_it_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*writes: tables.Write) -> None:
        raise Unavailable

    with monkeypatch.context() as broken:
        broken.setattr(tables, "transact", crash)
        with pytest.raises(Unavailable):
            jobs.handle(report("event_bounce_permanent"))
    assert tally() == NOTHING
    jobs.handle(report("event_bounce_permanent"))
    assert tally() == Tally(hard_bounced=1)


def test_counts_stay_and_name_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs.handle(report("event_bounce_transient"))
    rows = raw.dynamodb("Scan", {"TableName": tables.name("bounces")})["Items"]
    assert "example.org" not in str(rows)
    assert "reader" not in str(rows)
    (kept,) = (row for row in rows if row["shelf"]["S"] == "tallies")
    assert "expires_at" not in kept
    (counted,) = (row for row in rows if row["shelf"]["S"] == "counted")
    assert int(counted["expires_at"]["N"]) > clock.epoch(clock.now() + timedelta(days=13))


def test_many_deliveries_are_looked_up_by_one_query_without_those_in_between() -> None:
    deliveries = [ids.new() for _ in range(30)]
    for delivery in deliveries:
        for _ in range(3):
            tables.transact(*tally_store.tally_writes([delivery], "left"))
    wanted = [*deliveries[:5], deliveries[-1], ids.new()]
    assert tallies.find(wanted) == dict.fromkeys(wanted[:-1], Tally(left=3))
    assert tallies.find([]) == {}


def _shelves() -> set[str]:
    return {row["shelf"]["S"] for row in raw.dynamodb("Scan", {"TableName": tables.name("bounces")})["Items"]}

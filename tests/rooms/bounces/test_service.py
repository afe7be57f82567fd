"""Every event SES can send, as recorded, and what it does to the subscriber and to the list of bounces."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chalicelib.audience import recipients
from chalicelib.bounces import jobs, service, store
from chalicelib.events import store as events_store
from chalicelib.kernel import addresses, clock
from chalicelib.kernel.aws import tables
from tests.rooms.campaigns.crowd import write

pytestmark = pytest.mark.usefixtures("aws")

EVENTS = Path(__file__).parent / "events"
READER = "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e"
BOUNCES = {"event_bounce_permanent", "event_bounce_suppressed", "event_reject", "notification_bounce"}
COMPLAINTS = {"event_complaint", "notification_complaint"}
NOTHING = {path.stem for path in EVENTS.glob("*.json")} - BOUNCES - COMPLAINTS


@pytest.fixture(autouse=True)
def reader(aws: None) -> None:
    at = clock.text(clock.now())
    person = {"id": READER, "email": "Reader@example.org", "nickname": "Ann", "status": "activated"}
    more = {"unsubscribe_secret": "s" * 32, "created_at": at, "activated_at": at}
    write("subscribers", [person | more])
    write("emails", [{"address": "reader@example.org", "subscriber_id": READER}])


def event(name: str, *, recent: bool = True) -> dict[str, Any]:
    """As recorded, but dated a moment ago: bounces older than a week are not listed."""
    text = (EVENTS / f"{name}.json").read_text()
    found: dict[str, Any] = json.loads(text)
    if recent:
        for part in found.values():
            if isinstance(part, dict) and "timestamp" in part:
                part["timestamp"] = clock.text(clock.now() - timedelta(minutes=5))
    return found


def is_subscribed() -> bool:
    return bool(recipients.reload([READER]))


def reasons() -> list[str]:
    return [known.bounce.reason for known in service.list_page(1, 20).items]


@pytest.mark.parametrize("name", sorted(BOUNCES))
def test_a_permanent_bounce_is_kept_and_the_subscriber_stays(name: str) -> None:
    jobs.handle(event(name))
    assert len(reasons()) == 1
    assert is_subscribed()


@pytest.mark.parametrize("name", sorted(COMPLAINTS))
def test_who_complains_is_removed_and_never_mailed_again(name: str) -> None:
    jobs.handle(event(name))
    assert not is_subscribed()
    assert recipients.find_id(addresses.parse("reader@example.org")) is None
    assert len(list(tables.scan(_suppressions()))) == 1


@pytest.mark.parametrize("name", sorted(NOTHING))
def test_every_other_event_changes_nothing(name: str) -> None:
    jobs.handle(event(name))
    assert reasons() == []
    assert is_subscribed()


def test_the_same_event_twice_is_recorded_once() -> None:
    bounce = event("event_bounce_permanent")
    jobs.handle(bounce)
    jobs.handle(bounce)
    assert reasons() == ["permanent"]
    assert len(_events("BOUNCE_RECORDED")) == 1
    complaint = event("event_complaint")
    jobs.handle(complaint)
    jobs.handle(complaint)
    assert len(_events("DO_NOT_CONTACT_SET")) == 1


def test_an_event_is_recorded_once_even_if_the_clock_of_ses_is_ahead_of_ours() -> None:
    bounce = event("event_bounce_permanent")
    bounce["bounce"]["timestamp"] = clock.text(clock.now() + timedelta(seconds=30))
    jobs.handle(bounce)
    jobs.handle(bounce)
    assert reasons() == ["permanent"]
    bounce["bounce"]["timestamp"] = clock.text(clock.now() + timedelta(days=300))
    jobs.handle(bounce)
    assert max(row.expires_at for row in tables.query(store.BounceRow, "bounces")) < clock.epoch(
        clock.now() + timedelta(days=8)
    )


def test_the_reason_is_a_keyword_of_ses_and_not_what_a_stranger_s_server_wrote() -> None:
    bounce = event("notification_bounce")
    jobs.handle(bounce)
    assert reasons() == ["permanent: NoEmail"]


def test_a_row_names_the_subscriber_only_by_id() -> None:
    jobs.handle(event("event_bounce_permanent"))
    (row,) = tables.query(store.BounceRow, "bounces")
    assert "example.org" not in json.dumps(row.serialize())
    assert row.delivery_id == "0193a5c4-9e2d-7f10-a3b4-c5d6e7f80910"


def test_an_event_in_sns_s_envelope_is_handled_the_same() -> None:
    jobs.handle({"Type": "Notification", "Message": json.dumps(event("event_bounce_permanent"))})
    assert reasons() == ["permanent"]


def test_an_expired_bounce_is_not_listed_though_the_table_still_has_it() -> None:
    jobs.handle(event("event_bounce_permanent", recent=False))
    assert list(tables.query(store.BounceRow, "bounces"))
    assert reasons() == []


def test_bounces_of_people_who_have_left_are_not_listed() -> None:
    jobs.handle(event("event_bounce_permanent"))
    jobs.handle(event("event_complaint"))
    assert reasons() == []


def test_a_forged_or_broken_message_does_nothing() -> None:
    about_another_sender = event("event_complaint")
    about_another_sender["mail"]["source"] = "somebody@else.example"
    about_somebody_who_was_not_written_to = event("event_complaint")
    about_somebody_who_was_not_written_to["mail"]["destination"] = ["other@example.org"]
    without_mail = {"eventType": "Complaint", "complaint": {"complainedRecipients": ["reader@example.org"]}}
    odd = {"eventType": "Complaint", "mail": {"source": "news@example.org"}, "complaint": {"complainedRecipients": 3}}
    for message in (
        about_another_sender,
        about_somebody_who_was_not_written_to,
        without_mail,
        odd,
        {"eventType": ["Bounce"]},
        {"Type": "Notification", "Message": "Successfully validated SNS topic for Amazon SES event publishing."},
        {"Type": "SubscriptionConfirmation", "SubscribeURL": "https://example.org"},
        [],
        None,
        "text",
    ):
        jobs.handle(message)
    assert is_subscribed()
    assert reasons() == []


def test_the_admin_sees_who_bounced_and_why(admin: Any) -> None:
    jobs.handle(event("event_bounce_suppressed"))
    service.record_refusal(READER, "0193a5c4-9e2d-7f10-a3b4-c5d6e7f80910", "SES rejected the message")
    answer = admin.get("/admin/api/bounces?per_page=1")
    assert answer.status == 200
    assert (answer.json["total"], answer.json["page"], answer.json["per_page"]) == (2, 1, 1)
    (bounce,) = answer.json["items"]
    assert bounce["email"] == "Reader@example.org"
    assert bounce["reason"] == "refused: SES rejected the message"


def _events(type: str) -> list[Any]:
    return [row for row in tables.scan(events_store.EventRow) if row.type == type]


def _suppressions() -> Any:
    from chalicelib.audience.stores.suppressions import SuppressionRow

    return SuppressionRow

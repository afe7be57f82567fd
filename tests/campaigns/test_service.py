"""Campaigns and deliveries through their whole life, on real tables."""

import random
import string
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from chalicelib.campaigns import deliveries, service, store
from chalicelib.campaigns.model import Aim, Counts, DeliveryState, Format, State, Terms, Whole
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids, tables
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, Unavailable
from tests.conftest import received

pytestmark = pytest.mark.usefixtures("aws")


def soon() -> str:
    return clock.text(clock.now() + timedelta(hours=1))


def made(**changes: Any) -> Whole:
    return service.create(Draft(**{"subject": "Hello", "body": "<p>Hi</p>", **changes}))


def in_state(state: State) -> Whole:
    """A campaign brought there by the way every campaign takes."""
    whole = made()
    if state is State.SCHEDULED:
        return service.schedule(whole.campaign.id, soon())
    if state in (State.PUBLISHING, State.PUBLISHED):
        whole = service.send_now(whole.campaign.id)
    if state is State.PUBLISHED:
        whole = deliveries.finish(whole.deliveries[0], Counts(2, 2))
    return whole


def failed() -> Whole:
    sending = in_state(State.PUBLISHING)
    return deliveries.finish(sending.deliveries[0], Counts(2, 1, 0, 1))


def events() -> list[str]:
    items = boto3.client("dynamodb").scan(TableName=tables.name("events"))["Items"]
    return sorted(item["type"]["S"] for item in items)


def test_a_new_campaign_is_a_draft_with_one_pending_email_delivery():
    aim = Aim(tags=Terms(any=("news",)))
    whole = made(text="Hi", preheader="Psst", format=Format.MARKDOWN, aim=aim)
    read = service.view(whole.campaign.id)
    assert read.campaign.state is State.DRAFT
    assert (read.content.body, read.content.text, read.campaign.preheader) == ("<p>Hi</p>", "Hi", "Psst")
    assert (read.campaign.format, read.campaign.aim) == (Format.MARKDOWN, aim)
    assert [(one.channel_type, one.state) for one in read.deliveries] == [("email", "pending")]


def test_an_update_changes_words_and_keeps_the_state():
    for state in (State.DRAFT, State.SCHEDULED):
        whole = in_state(state)
        service.update(whole.campaign.id, {"subject": "Better"}, {"body": "<p>New</p>"})
        read = service.view(whole.campaign.id)
        assert (read.campaign.subject, read.content.body, read.campaign.state) == ("Better", "<p>New</p>", state)


def test_a_deleted_draft_leaves_nothing():
    service.delete(in_state(State.DRAFT).campaign.id)
    for table in ("deliveries", "campaign-contents"):
        assert boto3.client("dynamodb").scan(TableName=tables.name(table))["Count"] == 0
    assert service.page(None, 1, 20).total == 0


def test_sending_starts_the_delivery_and_tells_the_engine():
    for state in (State.DRAFT, State.SCHEDULED):
        whole = in_state(state)
        service.send_now(whole.campaign.id)
        read = service.view(whole.campaign.id)
        assert read.campaign.state is State.PUBLISHING
        assert read.deliveries[0].state is DeliveryState.SENDING
        assert received("deliveries") == [{"campaign_id": read.campaign.id, "delivery_id": read.deliveries[0].id}]


def test_a_schedule_is_kept_in_utc_with_its_zone_and_told():
    for state in (State.DRAFT, State.SCHEDULED):
        whole = in_state(state)
        at = clock.now().replace(microsecond=0) + timedelta(days=3)
        service.schedule(whole.campaign.id, at.isoformat(), "Asia/Tokyo")
        read = service.view(whole.campaign.id).campaign
        assert (read.state, read.scheduled_at, read.time_zone) == (State.SCHEDULED, at, "Asia/Tokyo")
    assert events() == ["CAMPAIGN_SCHEDULED"] * 3


def test_cancelling_makes_a_scheduled_campaign_a_draft_again():
    whole = in_state(State.SCHEDULED)
    service.cancel(whole.campaign.id)
    read = service.view(whole.campaign.id)
    assert (read.campaign.state, read.campaign.scheduled_at) == (State.DRAFT, None)
    assert read.deliveries[0].state is DeliveryState.PENDING


def test_a_time_in_the_past_is_refused_and_changes_nothing():
    whole = made()
    with pytest.raises(Invalid, match="future"):
        service.schedule(whole.campaign.id, "2020-01-01T00:00:00Z")
    assert service.view(whole.campaign.id).campaign.version == 1


def test_a_retry_starts_a_failed_delivery_again():
    whole = failed()
    received("deliveries")
    deliveries.retry(whole.campaign.id, whole.deliveries[0].id)
    read = service.view(whole.campaign.id)
    assert (read.campaign.state, read.deliveries[0].state) == (State.PUBLISHING, DeliveryState.SENDING)
    assert read.deliveries[0].attempt == 1
    assert len(received("deliveries")) == 1
    with pytest.raises(Conflict, match="Operation not allowed in current state"):
        deliveries.retry(whole.campaign.id, whole.deliveries[0].id)


def test_an_unknown_delivery_is_not_found():
    with pytest.raises(NotFound, match="Delivery"):
        deliveries.retry(made().campaign.id, ids.new())


def test_the_end_of_the_last_delivery_publishes_the_campaign_and_tells_so():
    sending = in_state(State.PUBLISHING)
    deliveries.finish(sending.deliveries[0], Counts(10, 9, 1))
    read = service.view(sending.campaign.id)
    assert read.campaign.state is State.PUBLISHED
    assert read.campaign.published_at
    assert read.campaign.counts == read.deliveries[0].counts == Counts(10, 9, 1)
    assert events() == ["CAMPAIGN_PUBLISHED", "DELIVERY_FINISHED"]


def test_a_stopped_delivery_says_why():
    sending = in_state(State.PUBLISHING)
    deliveries.finish(sending.deliveries[0], Counts(10, 3), "Sending is paused in SES")
    delivery = service.view(sending.campaign.id).deliveries[0]
    assert (delivery.state, delivery.error_detail) == (DeliveryState.FAILED, "Sending is paused in SES")


def test_finishing_twice_is_finishing_once():
    sending = in_state(State.PUBLISHING)
    deliveries.finish(sending.deliveries[0], Counts(2, 2))
    first = service.view(sending.campaign.id)
    deliveries.finish(sending.deliveries[0], Counts(2, 0, 2))
    assert service.view(sending.campaign.id) == first
    assert events() == ["CAMPAIGN_PUBLISHED", "DELIVERY_FINISHED"]


def test_a_late_worker_of_the_last_attempt_cannot_finish_the_next():
    whole = failed()
    deliveries.retry(whole.campaign.id, whole.deliveries[0].id)
    again = service.view(whole.campaign.id)
    deliveries.finish(whole.deliveries[0], Counts(2, 2))
    assert service.view(whole.campaign.id) == again


def test_a_note_is_shown_while_sending_and_gone_after():
    delivery = in_state(State.PUBLISHING).deliveries[0]
    deliveries.annotate(delivery, "Continuing tomorrow: daily quota", recipients=5)
    read = deliveries.get(delivery.campaign_id, delivery.id)
    assert (read.note, read.counts.recipients) == ("Continuing tomorrow: daily quota", 5)
    assert [one.id for one in deliveries.under_way()] == [delivery.id]
    deliveries.finish(delivery, Counts(5, 5))
    deliveries.annotate(delivery, "too late")
    assert deliveries.get(delivery.campaign_id, delivery.id).note is None
    assert deliveries.under_way() == []


def test_of_two_who_press_send_one_starts_the_delivery(monkeypatch):
    """A concurrent twin: the other admin's send commits between our read and our write."""
    whole = made()
    real = tables.transact
    beaten = []

    def slow(*writes):
        if not beaten:
            beaten.append(True)
            service.send_now(whole.campaign.id)
        real(*writes)

    monkeypatch.setattr(tables, "transact", slow)
    with pytest.raises(Conflict, match="Operation not allowed in current state"):
        service.send_now(whole.campaign.id)
    assert len(received("deliveries")) == 1


def test_an_edit_based_on_an_old_reading_is_refused_when_it_says_which():
    whole = made()
    service.update(whole.campaign.id, {"subject": "Mine"}, {}, version=1)
    with pytest.raises(Conflict, match="meanwhile"):
        service.update(whole.campaign.id, {"subject": "Theirs"}, {}, version=1)
    assert service.view(whole.campaign.id).campaign.subject == "Mine"


def test_an_edit_may_set_move_and_take_away_the_time():
    id = made().campaign.id
    at = clock.now() + timedelta(days=1)
    assert service.update(id, {"scheduled_at": at}, {}).campaign.state is State.SCHEDULED
    assert service.update(id, {"scheduled_at": None}, {}).campaign.state is State.DRAFT


def test_a_duplicate_is_a_new_draft_with_the_same_words():
    old = in_state(State.PUBLISHED)
    new = service.duplicate(old.campaign.id)
    assert new.campaign.id != old.campaign.id
    assert (new.campaign.state, new.campaign.counts, new.content) == (State.DRAFT, Counts(), old.content)


def test_a_large_body_is_kept_compressed():
    body = "<p>All work and no play makes Jack a dull boy</p>" * 10_000
    assert service.view(made(body=body).campaign.id).content.body == body


def test_a_body_that_will_not_compress_is_refused_clearly():
    noise = "".join(random.Random(1).choices(string.printable, k=499_000))
    with pytest.raises(Invalid, match="too large"):
        made(body=noise)


def test_the_list_is_newest_first_in_pages_with_totals():
    subjects = [made(subject=f"No {number}").campaign.subject for number in range(5)]
    first, second = service.page(None, 1, 3), service.page(None, 2, 3)
    assert [one.subject for one in first.items + second.items] == subjects[::-1]
    assert (first.total, second.total, service.page(None, 9, 3).items) == (5, 5, [])


def test_the_list_filters_by_state_and_shows_the_delivery_summary():
    for state in State:
        in_state(state)
    in_state(State.PUBLISHED)
    assert service.page(None, 1, 20).total == 5
    for state, total in (("draft", 1), ("scheduled", 1), ("publishing", 1), ("published", 2)):
        page = service.page(State(state), 1, 1)
        assert (page.total, [one.state for one in page.items]) == (total, [state])
    assert service.page(State.PUBLISHED, 1, 20).items[0].counts == Counts(2, 2)


@pytest.fixture
def calls(monkeypatch) -> list[str]:
    """What is asked of the tables from here on."""
    service.page(None, 1, 1)
    asked: list[str] = []
    connection = tables._connection()
    real = connection.dispatch
    monkeypatch.setattr(connection, "dispatch", lambda name, kwargs: asked.append(name) or real(name, kwargs))
    return asked


def test_a_page_costs_two_requests_and_reads_no_body(calls):
    for _ in range(21):
        made(body="x" * 5000)
    calls.clear()
    assert len(service.page(None, 1, 20).items) == 20
    assert sorted(calls) == ["GetItem", "Query"]


def test_opening_a_campaign_costs_two_requests(calls):
    id = made().campaign.id
    calls.clear()
    service.view(id)
    assert calls == ["TransactGetItems", "Query"]


def test_one_campaign_that_cannot_be_started_does_not_hold_up_the_others(monkeypatch):
    first, second = (in_state(State.SCHEDULED).campaign.id for _ in range(2))
    real = service.send_now

    def send(id: str, due: datetime) -> Whole:
        if id == first:
            raise Unavailable
        return real(id, due)

    monkeypatch.setattr(service, "send_now", send)
    started = service.start_due(clock.now() + timedelta(hours=2))
    assert [one.campaign.id for one in started] == [second]
    assert service.view(first).campaign.state is State.SCHEDULED


def test_what_is_due_starts_and_what_is_not_waits():
    now = clock.now()
    soonest, sooner, later = (made(subject=subject).campaign.id for subject in ("a", "b", "c"))
    for id, minutes in ((sooner, 2), (soonest, 1), (later, 60)):
        service.schedule(id, (now + timedelta(minutes=minutes)).isoformat())
    at = now + timedelta(minutes=5)
    assert [one.id for one in service.due(at)] == [soonest, sooner]
    started = service.start_due(at)
    assert [one.campaign.id for one in started] == [soonest, sooner]
    assert service.view(later).campaign.state is State.SCHEDULED
    assert service.start_due(at) == []


@pytest.mark.parametrize("meanwhile", [service.cancel, lambda id: service.schedule(id, soon())])
def test_what_was_cancelled_or_put_off_a_moment_ago_does_not_start(monkeypatch, meanwhile):
    """The list of what is due is read first, and from an index that may be late."""
    now, id = clock.now(), made().campaign.id
    service.schedule(id, (now + timedelta(minutes=1)).isoformat())
    at = now + timedelta(minutes=5)
    listed = service.due(at)
    monkeypatch.setattr(service, "due", lambda now: listed)
    meanwhile(id)
    assert service.start_due(at) == []
    assert service.view(id).deliveries[0].state is DeliveryState.PENDING


def test_a_schedule_missed_by_more_than_six_hours_is_held_as_a_draft_with_a_notice(monkeypatch):
    from chalicelib.mail import notices

    told = []
    monkeypatch.setattr(notices, "notify_admin", lambda subject, text: told.append(subject))
    at = clock.now() + timedelta(minutes=1)
    id = made().campaign.id
    service.schedule(id, at.isoformat())
    assert service.start_due(at + timedelta(hours=6, minutes=1)) == []
    held = service.view(id).campaign
    assert (held.state, held.scheduled_at) == (State.DRAFT, None)
    assert "six hours" in (held.notice or "")
    assert told == ["A campaign was held back"]
    assert service.send_now(id).campaign.notice is None


def test_a_prepared_campaign_exists_only_if_the_callers_transaction_went_through():
    whole, writes = service.prepare(Draft("From the feed", "<p>New</p>"), send=True)
    assert service.page(None, 1, 20).total == 0
    tables.transact(*writes)
    deliveries.wake(whole)
    read = service.view(whole.campaign.id)
    assert (read.campaign.state, read.campaign.origin) == (State.PUBLISHING, "feed")
    assert [one.id for one in deliveries.under_way()] == [read.deliveries[0].id]
    assert len(received("deliveries")) == 1


def test_a_prepared_draft_waits_for_a_person():
    whole, writes = service.prepare(Draft("Many entries", "<p>New</p>"), send=False)
    tables.transact(*writes)
    assert service.view(whole.campaign.id).campaign.state is State.DRAFT


def test_times_are_kept_to_the_millisecond_in_utc():
    id = made().campaign.id
    service.schedule(id, "2030-05-01T10:00:00.123+02:00")
    assert store.campaign(id).scheduled_at == datetime(2030, 5, 1, 8, 0, 0, 123000, UTC)

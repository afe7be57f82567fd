"""Deliveries from their start to their end, and tried again."""

import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts, DeliveryState, State
from chalicelib.campaigns.sending import deliveries
from chalicelib.kernel import ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Conflict, NotFound
from tests.conftest import received
from tests.rooms.campaigns.examples import events, failed, in_state, new_campaign

pytestmark = pytest.mark.usefixtures("aws")


def test_sending_starts_the_delivery_and_wakes_the_worker():
    for state in (State.DRAFT, State.SCHEDULED):
        detail = in_state(state)
        service.send_now(detail.campaign.id)
        read = service.view(detail.campaign.id)
        assert read.campaign.state is State.PUBLISHING
        assert read.deliveries[0].state is DeliveryState.SENDING
        assert received("deliveries") == [{"campaign_id": read.campaign.id, "delivery_id": read.deliveries[0].id}]


def test_a_retry_starts_a_failed_delivery_again():
    detail = failed()
    received("deliveries")
    deliveries.retry(detail.campaign.id, detail.deliveries[0].id)
    read = service.view(detail.campaign.id)
    assert (read.campaign.state, read.deliveries[0].state) == (State.PUBLISHING, DeliveryState.SENDING)
    assert read.deliveries[0].attempt == 1
    assert len(received("deliveries")) == 1
    with pytest.raises(Conflict, match="Operation not allowed in current state"):
        deliveries.retry(detail.campaign.id, detail.deliveries[0].id)


def test_an_unknown_delivery_is_not_found():
    with pytest.raises(NotFound, match="Delivery"):
        deliveries.retry(new_campaign().campaign.id, ids.new())


def test_the_end_of_the_last_delivery_publishes_the_campaign_and_announces_it():
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
    detail = failed()
    deliveries.retry(detail.campaign.id, detail.deliveries[0].id)
    again = service.view(detail.campaign.id)
    deliveries.finish(detail.deliveries[0], Counts(2, 2))
    assert service.view(detail.campaign.id) == again


def test_a_note_is_shown_while_sending_and_gone_after():
    delivery = in_state(State.PUBLISHING).deliveries[0]
    deliveries.annotate(delivery, "Continuing tomorrow: daily quota")
    deliveries.expect(delivery, 5)
    read = deliveries.get(delivery.campaign_id, delivery.id)
    assert (read.note, read.counts.recipients) == ("Continuing tomorrow: daily quota", 5)
    assert [sending.id for sending in deliveries.list_sending()] == [delivery.id]
    deliveries.finish(delivery, Counts(5, 5))
    deliveries.annotate(delivery, "too late")
    deliveries.expect(delivery, 7)
    after = deliveries.get(delivery.campaign_id, delivery.id)
    assert (after.note, after.counts.recipients) == (None, 5)
    assert deliveries.list_sending() == []


def test_of_two_who_press_send_one_starts_the_delivery(monkeypatch):
    """A concurrent twin: the other admin's send commits between our read and our write."""
    detail = new_campaign()
    real = tables.transact
    beaten = []

    def slow(*writes):
        if not beaten:
            beaten.append(True)
            service.send_now(detail.campaign.id)
        real(*writes)

    monkeypatch.setattr(tables, "transact", slow)
    with pytest.raises(Conflict, match="Operation not allowed in current state"):
        service.send_now(detail.campaign.id)
    assert len(received("deliveries")) == 1

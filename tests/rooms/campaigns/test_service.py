"""What can be done with campaigns, on real tables."""

import random
import string

import boto3
import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts, Format, State, Targeting, Terms
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.aws import connection, tables
from chalicelib.kernel.errors import Conflict, Invalid
from tests.conftest import received
from tests.rooms.campaigns.examples import in_state, new_campaign

pytestmark = pytest.mark.usefixtures("aws")


def test_a_new_campaign_is_a_draft_with_one_pending_email_delivery():
    aim = Targeting(tags=Terms(any=("news",)))
    detail = new_campaign(text="Hi", preheader="Psst", format=Format.MARKDOWN, targeting=aim)
    read = service.view(detail.campaign.id)
    assert read.campaign.state is State.DRAFT
    assert (read.content.body, read.content.text, read.campaign.preheader) == ("<p>Hi</p>", "Hi", "Psst")
    assert (read.campaign.format, read.campaign.targeting) == (Format.MARKDOWN, aim)
    assert [(delivery.channel_type, delivery.state) for delivery in read.deliveries] == [("email", "pending")]


def test_an_update_changes_words_and_keeps_the_state():
    for state in (State.DRAFT, State.SCHEDULED):
        detail = in_state(state)
        service.update(detail.campaign.id, {"subject": "Better"}, {"body": "<p>New</p>"})
        read = service.view(detail.campaign.id)
        assert (read.campaign.subject, read.content.body, read.campaign.state) == ("Better", "<p>New</p>", state)


def test_a_deleted_draft_leaves_nothing():
    service.delete(in_state(State.DRAFT).campaign.id)
    for table in ("deliveries", "campaign-contents"):
        assert boto3.client("dynamodb").scan(TableName=tables.name(table))["Count"] == 0
    assert service.list_page(None, 1, 20).total == 0


def test_an_edit_based_on_an_old_reading_is_refused_when_it_says_which():
    detail = new_campaign()
    service.update(detail.campaign.id, {"subject": "Mine"}, {}, version=1)
    with pytest.raises(Conflict, match="has changed"):
        service.update(detail.campaign.id, {"subject": "Theirs"}, {}, version=1)
    assert service.view(detail.campaign.id).campaign.subject == "Mine"


def test_a_duplicate_is_a_new_draft_with_the_same_words():
    old = in_state(State.PUBLISHED)
    new = service.duplicate(old.campaign.id)
    assert new.campaign.id != old.campaign.id
    assert (new.campaign.state, new.campaign.counts, new.content) == (State.DRAFT, Counts(), old.content)


def test_a_large_body_is_kept_compressed():
    body = "<p>All work and no play makes Jack a dull boy</p>" * 10_000
    assert service.view(new_campaign(body=body).campaign.id).content.body == body


def test_a_body_that_will_not_compress_is_refused_clearly():
    noise = "".join(random.Random(1).choices(string.printable, k=499_000))
    with pytest.raises(Invalid, match="too large"):
        new_campaign(body=noise)


def test_the_list_is_newest_first_in_pages_with_totals():
    subjects = [new_campaign(subject=f"No {number}").campaign.subject for number in range(5)]
    first, second = service.list_page(None, 1, 3), service.list_page(None, 2, 3)
    assert [campaign.subject for campaign in first.items + second.items] == subjects[::-1]
    assert (first.total, second.total, service.list_page(None, 9, 3).items) == (5, 5, [])


def test_the_list_filters_by_state_and_shows_the_delivery_summary():
    for state in State:
        in_state(state)
    in_state(State.PUBLISHED)
    assert service.list_page(None, 1, 20).total == 5
    for state, total in (("draft", 1), ("scheduled", 1), ("publishing", 1), ("published", 2)):
        page = service.list_page(State(state), 1, 1)
        assert (page.total, [campaign.state for campaign in page.items]) == (total, [state])
    assert service.list_page(State.PUBLISHED, 1, 20).items[0].counts == Counts(2, 2)


@pytest.fixture
def calls(monkeypatch) -> list[str]:
    """What is asked of the tables from here on."""
    service.list_page(None, 1, 1)
    asked: list[str] = []
    shared = connection.patient()
    real = shared.dispatch
    monkeypatch.setattr(shared, "dispatch", lambda name, kwargs: asked.append(name) or real(name, kwargs))
    return asked


def test_a_page_costs_two_requests_and_reads_no_body(calls):
    for _ in range(21):
        new_campaign(body="x" * 5000)
    calls.clear()
    assert len(service.list_page(None, 1, 20).items) == 20
    assert sorted(calls) == ["GetItem", "Query"]


def test_opening_a_campaign_costs_two_requests(calls):
    id = new_campaign().campaign.id
    calls.clear()
    service.view(id)
    assert calls == ["TransactGetItems", "Query"]


def test_a_prepared_campaign_exists_only_if_the_callers_transaction_went_through():
    detail, writes = service.create_writes(Draft("From the feed", "<p>New</p>"), send=True)
    assert service.list_page(None, 1, 20).total == 0
    tables.transact(*writes)
    deliveries.wake(detail)
    read = service.view(detail.campaign.id)
    assert (read.campaign.state, read.campaign.origin) == (State.PUBLISHING, "feed")
    assert [delivery.id for delivery in deliveries.list_sending()] == [read.deliveries[0].id]
    assert len(received("deliveries")) == 1


def test_a_prepared_draft_waits_for_a_person():
    detail, writes = service.create_writes(Draft("Many entries", "<p>New</p>"), send=False)
    tables.transact(*writes)
    assert service.view(detail.campaign.id).campaign.state is State.DRAFT

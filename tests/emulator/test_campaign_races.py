"""Two people at one campaign in the same moment, on real conditions and transactions."""

import pytest
from msgspec.structs import replace

from chalicelib.campaigns import changes, service
from chalicelib.campaigns.model import Counts, State
from chalicelib.campaigns.sending import deliveries, part_store, parts, supervisor
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import settings
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.errors import Conflict, NotFound, Unavailable
from tests.conftest import received

pytestmark = pytest.mark.usefixtures("emulator")


def outcomes(results):
    return sorted("done" if not isinstance(result, Exception) else type(result).__name__ for result in results)


def test_of_eight_who_press_send_at_once_one_starts_the_delivery(together):
    id = service.create(Draft("Hello", "<p>Hi</p>")).campaign.id
    results = together(*[lambda: service.send_now(id)] * 8)
    assert outcomes(results) == ["Conflict"] * 7 + ["done"]
    assert len(received("deliveries")) == 1
    assert service.list_page(State.PUBLISHING, 1, 20).total == service.list_page(None, 1, 20).total == 1


def test_send_and_delete_and_cancel_at_once_leave_a_campaign_that_is_one_thing(together):
    for _ in range(5):
        id = service.create(Draft("Hello", "<p>Hi</p>")).campaign.id
        sent, deleted = together(lambda id=id: service.send_now(id), lambda id=id: service.delete(id))
        assert isinstance(sent, Conflict | NotFound) != isinstance(deleted, Conflict)
        try:
            assert service.view(id).campaign.state is State.PUBLISHING
        except NotFound:
            assert not isinstance(deleted, Exception)


@pytest.fixture
def send_reviewed(http, configure):
    """Press *Send* on the page of a version, as the form of that page does."""
    configure(DISABLE_AUTH="true", GNA_LOCAL="true")
    origin = settings.current().site_url

    def send(id: str, version: int) -> int:
        return http.post(f"/admin/campaigns/{id}/send", form={"version": str(version)}, Origin=origin).status

    return send


def test_an_edit_between_review_and_send_is_never_sent_unreviewed(send_reviewed, monkeypatch):
    """The edit is committed at the worst moment: after the page was submitted, before the delivery is started."""
    id = service.create(Draft("Reviewed", "<p>Hi</p>")).campaign.id
    send_now = service.send_now

    def edit_first(*args, **kwargs):
        service.update(id, {"subject": "Not reviewed"}, {})
        return send_now(*args, **kwargs)

    monkeypatch.setattr(service, "send_now", edit_first)
    assert send_reviewed(id, 1) == 409
    kept = service.view(id).campaign
    assert (kept.state, kept.subject, kept.version) == (State.DRAFT, "Not reviewed", 2)
    assert not received("deliveries")


def test_an_edit_while_a_reviewed_version_is_being_sent_makes_the_send_look_again(monkeypatch):
    """The edit is committed after the campaign was read and before the transaction that starts its delivery."""
    id = service.create(Draft("Reviewed", "<p>Hi</p>")).campaign.id
    begin_writes, edits = changes.begin_writes, iter(["Not reviewed"])

    def edit_meanwhile(detail, waves=None):
        for subject in edits:
            service.update(id, {"subject": subject}, {})
        return begin_writes(detail, waves)

    monkeypatch.setattr(changes, "begin_writes", edit_meanwhile)
    with pytest.raises(Conflict, match="The campaign has changed since you reviewed it"):
        service.send_now(id, version=1)
    assert service.view(id).campaign.state is State.DRAFT
    assert not received("deliveries")


def test_of_a_send_and_an_edit_at_once_one_loses(send_reviewed, together):
    for _ in range(8):
        id = service.create(Draft("Reviewed", "<p>Hi</p>")).campaign.id
        status, edited = together(
            lambda id=id: send_reviewed(id, 1),
            lambda id=id: service.update(id, {"subject": "Not reviewed"}, {"body": "<p>Not reviewed</p>"}),
        )
        after = service.view(id)
        if isinstance(edited, Exception):
            assert isinstance(edited, Conflict)
            assert (status, after.campaign.state) == (303, State.PUBLISHING)
            assert (after.campaign.subject, after.content.body) == ("Reviewed", "<p>Hi</p>")
        else:
            assert (status, after.campaign.state) == (409, State.DRAFT)
            assert (after.campaign.subject, after.content.body) == ("Not reviewed", "<p>Not reviewed</p>")


def test_a_delivery_finished_by_several_workers_is_finished_and_announced_once(together, capsys):
    detail = service.send_now(service.create(Draft("Hello", "<p>Hi</p>")).campaign.id)
    delivery = detail.deliveries[0]
    supervisor.tend(delivery)
    for part in part_store.list_parts(delivery.id):
        part_store.save(parts.done(replace(part, sent=5)))
    results = together(*[lambda: supervisor.tend(delivery)] * 6)
    assert not [result for result in results if isinstance(result, Exception) and not isinstance(result, Unavailable)]
    read = service.view(detail.campaign.id)
    assert (read.campaign.state, read.campaign.version, read.campaign.counts.sent) == (State.PUBLISHED, 3, 5)
    assert sorted(row["type"]["S"] for row in _rows("events")) == ["CAMPAIGN_PUBLISHED", "DELIVERY_FINISHED"]
    assert capsys.readouterr().out.count('"delivery.finished"') == 1


def test_of_four_who_press_retry_at_once_one_starts_it_again(together):
    delivery = service.send_now(service.create(Draft("Hello", "<p>Hi</p>")).campaign.id).deliveries[0]
    deliveries.finish(delivery, Counts(5, 4, 0, 1))
    received("deliveries")
    results = together(*[lambda: deliveries.retry(delivery.campaign_id, delivery.id)] * 4)
    assert outcomes(results) == ["Conflict"] * 3 + ["done"]
    assert len(received("deliveries")) == 1
    assert deliveries.get(delivery.campaign_id, delivery.id).attempt == 1


def _rows(table):
    return raw.dynamodb("Scan", {"TableName": tables.name(table)})["Items"]


def test_totals_hold_after_many_at_once(together):
    together(*[lambda: service.create(Draft("Hello", "<p>Hi</p>"))] * 12)
    assert service.list_page(None, 1, 20).total == len(service.list_page(None, 1, 20).items) == 12

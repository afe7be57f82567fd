"""Two people at one campaign in the same moment, on real conditions and transactions."""

import pytest
from msgspec.structs import replace

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts, State
from chalicelib.campaigns.sending import deliveries, part_store, parts, supervisor
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.errors import Conflict, NotFound, Unavailable
from tests.conftest import received

pytestmark = pytest.mark.usefixtures("emulator")


def outcomes(results):
    return sorted("done" if not isinstance(one, Exception) else type(one).__name__ for one in results)


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


def test_a_delivery_finished_by_several_workers_is_finished_and_told_once(together, capsys):
    whole = service.send_now(service.create(Draft("Hello", "<p>Hi</p>")).campaign.id)
    delivery = whole.deliveries[0]
    supervisor.tend(delivery)
    for part in part_store.list_parts(delivery.id):
        part_store.save(parts.done(replace(part, sent=5)))
    results = together(*[lambda: supervisor.tend(delivery)] * 6)
    assert not [one for one in results if isinstance(one, Exception) and not isinstance(one, Unavailable)]
    read = service.view(whole.campaign.id)
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

"""What became of campaigns, over the API: in every answer with a delivery, and for the whole year."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.bounces import tallies, tally_store
from chalicelib.campaigns import results, service
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw, tables
from tests.rooms.campaigns.api import API, created, in_state

NUMBERS = {"soft_bounced": 3, "hard_bounced": 2, "complaints": 1, "left": 4}
NOTHING = dict.fromkeys(NUMBERS, 0)


def happen(delivery_id: str, numbers: dict[str, int] = NUMBERS) -> None:
    for name, number in numbers.items():
        for _ in range(number):
            tables.transact(*tally_store.tally_writes([delivery_id], name))


def shown(delivery: dict[str, Any]) -> dict[str, Any]:
    return {name: delivery[name] for name in NUMBERS}


def test_every_answer_with_a_delivery_has_the_numbers(admin: Any) -> None:
    campaign = in_state(admin, "failed")
    url, delivery = f"{API}/{campaign['id']}", campaign["deliveries"][0]["id"]
    assert shown(campaign["deliveries"][0]) == NOTHING
    happen(delivery)
    correction = {"body": "<p>Better</p>", "note": "A typo"}
    for answer in (
        admin.get(url),
        admin.get(f"{url}/progress"),
        admin.request("PATCH", url, json={"hidden": True}),
        admin.post(f"{url}/correction", json=correction),
        admin.request("DELETE", f"{url}/correction"),
    ):
        assert (answer.status, shown(answer.json["deliveries"][0])) == (200, NUMBERS)
    for path in ("retry", "stop"):
        answer = admin.post(f"{url}/deliveries/{delivery}/{path}", json={})
        assert (answer.status, shown(answer.json)) == (200, NUMBERS)


def test_a_draft_has_zeros_and_nothing_is_read_for_it(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_store, "find_tallies", lambda ids: {} if not ids else pytest.fail("read"))
    draft = created(admin)
    assert shown(draft["deliveries"][0]) == NOTHING
    assert shown(admin.get(f"{API}/{draft['id']}").json["deliveries"][0]) == NOTHING


def test_one_query_more_is_made_for_a_delivery(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, asked = in_state(admin, "published"), []
    real = tallies.find
    monkeypatch.setattr(tallies, "find", lambda ids: asked.append(ids) or real(ids))
    admin.get(f"{API}/{campaign['id']}")
    assert asked == [[campaign["deliveries"][0]["id"]]]


def publish(subject: str, *counts: int) -> str:
    detail = service.send_now(service.create(Draft(subject, "<p>Hi</p>")).campaign.id)
    deliveries.finish(detail.deliveries[0], Counts(*counts or (10, 9, 1)))
    return detail.campaign.id


def change(campaign_id: str, **values: Any) -> None:
    """As it would be if it had been sent at another time, or by another version."""
    for name, value in values.items():
        update = {
            "TableName": tables.name("campaigns"),
            "Key": {"shelf": {"S": "campaign"}, "id": {"S": campaign_id}},
            "UpdateExpression": f"SET {name} = :value" if value else f"REMOVE {name}",
        }
        if value:
            update["ExpressionAttributeValues"] = {":value": {"S": value}}
        raw.dynamodb("UpdateItem", update)


def test_the_year_is_newest_first_with_its_numbers(admin: Any) -> None:
    first, second = publish("First"), publish("Second", 100, 98, 1, 1)
    happen(service.view(first).deliveries[0].id)
    draft, scheduled = created(admin), in_state(admin, "scheduled")
    in_state(admin, "publishing")
    answer = admin.get(f"{API}/results")
    assert answer.status == 200
    page = answer.json
    assert [item["campaign_id"] for item in page["items"]] == [second, first]
    assert not {draft["id"], scheduled["id"]} & {item["campaign_id"] for item in page["items"]}
    assert (page["total"], page["page"], page["per_page"]) == (2, 1, 20)
    one = page["items"][1]
    assert (one["subject"], one["recipients"], one["sent_count"], one["failure_count"]) == ("First", 10, 9, 1)
    assert (shown(one), one["counted"]) == (NUMBERS, True)
    assert shown(page["items"][0]) == NOTHING


def test_it_is_the_last_twelve_months_by_when_it_was_sent_and_not_written(admin: Any) -> None:
    new, old = publish("New"), publish("Old")
    change(old, published_at=clock.text(clock.now() - results.YEAR - timedelta(minutes=1)))
    change(new, published_at=clock.text(clock.now() - results.YEAR + timedelta(minutes=1)))
    assert [item["campaign_id"] for item in admin.get(f"{API}/results").json["items"]] == [new]


def test_what_an_earlier_version_sent_was_not_counted(admin: Any) -> None:
    old = publish("Old")
    change(old, delivery_ids=None)
    (item,) = admin.get(f"{API}/results").json["items"]
    assert (item["counted"], shown(item), item["sent_count"]) == (False, NOTHING, 9)


def test_pages_of_the_year(admin: Any) -> None:
    for number in range(5):
        publish(str(number))
    pages = [admin.get(f"{API}/results?per_page=2&page={number}").json for number in (1, 2, 3, 4)]
    assert [[item["subject"] for item in page["items"]] for page in pages] == [["4", "3"], ["2", "1"], ["0"], []]
    assert {page["total"] for page in pages} == {5}
    assert admin.get(f"{API}/results?per_page=101").status == 400
    assert admin.get(f"{API}/results?page=x").status == 400


def test_an_empty_year(admin: Any) -> None:
    assert admin.get(f"{API}/results").json == {"page": 1, "per_page": 20, "total": 0, "items": []}


def test_a_thousand_campaigns_are_two_queries(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    publish("One")
    (row,) = (
        row
        for row in raw.dynamodb("Scan", {"TableName": tables.name("campaigns")})["Items"]
        if row["shelf"]["S"] == "campaign"
    )
    puts = [{"PutRequest": {"Item": row | {"id": {"S": ids.new()}}}} for _ in range(1_000)]
    for first in range(0, len(puts), 25):
        raw.dynamodb("BatchWriteItem", {"RequestItems": {tables.name("campaigns"): puts[first : first + 25]}})
    asked = []
    real = tables.query
    monkeypatch.setattr(tables, "query", lambda kind, *rest, **more: asked.append(kind) or real(kind, *rest, **more))
    assert len(results.look_up(results.list_year())) == 1_001
    assert len(asked) == 2

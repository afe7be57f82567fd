"""What the JSON API says of a campaign while it is sent and afterwards."""

from typing import Any

from chalicelib.audience import recipients
from chalicelib.campaigns.model import STOPPED, Counts
from chalicelib.campaigns.sending import deliveries, supervisor
from tests.rooms.campaigns.api import API, UNKNOWN, in_state


def test_while_it_is_sent_the_counts_are_those_of_its_parts(admin, monkeypatch):
    campaign = in_state(admin, "publishing")
    monkeypatch.setattr(supervisor, "view_parts", lambda delivery: (Counts(7, 5, 1, 1), None))
    look = admin.get(f"{API}/{campaign['id']}/progress").json
    assert (look["state"], look["expected"], look["deliveries"][0]["sent_count"]) == ("publishing", 0, 5)
    detail = admin.get(f"{API}/{campaign['id']}").json
    assert detail["delivery"]["recipients"] == detail["deliveries"][0]["recipients"] == 7
    assert admin.get(f"{API}/{UNKNOWN}/progress").status == 404


def test_once_it_is_sent_the_counts_are_those_it_ended_with(admin):
    campaign = in_state(admin, "published")
    look = admin.get(f"{API}/{campaign['id']}/progress").json
    assert (look["state"], look["expected"], look["deliveries"][0]["sent_count"]) == ("published", None, 3)


def test_a_retry_of_what_was_stopped_early_expects_everybody(admin, monkeypatch):
    for error, expected in ((STOPPED, 269), (None, 60)):
        campaign = in_state(admin, "publishing")
        delivery = deliveries.get(campaign["id"], campaign["deliveries"][0]["id"])
        deliveries.finish(delivery, Counts(60, 50, 0, 10), error)
        monkeypatch.setattr(recipients, "count_everybody", lambda: 269)
        admin.post(f"{API}/{campaign['id']}/deliveries/{delivery.id}/retry")
        assert admin.get(f"{API}/{campaign['id']}/progress").json["expected"] == expected


def test_who_watches_while_somebody_counts_does_not_count_too(admin, monkeypatch):
    campaign = admin.post(API, json={"subject": "Hi", "body": "<p>x</p>", "aim": {"tags": {"any": ["tea"]}}}).json
    admin.post(f"{API}/{campaign['id']}/send")
    seen = []

    def count(targeting: Any, by: Any) -> int:
        seen.append(admin.get(f"{API}/{campaign['id']}/progress").json["expected"])
        return 7

    monkeypatch.setattr(recipients, "count", count)
    assert [admin.get(f"{API}/{campaign['id']}/progress").json["expected"] for _ in range(2)] == [7, 7]
    assert seen == [None]

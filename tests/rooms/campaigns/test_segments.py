"""Segments: saved, counted, changed, deleted; what is refused; and that campaigns keep their copy."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.audience import recipients
from chalicelib.audience.stores import recipients as recipient_store
from chalicelib.campaigns import segments, service
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Conflict
from tests.rooms.campaigns.api import UNKNOWN, created
from tests.rooms.campaigns.crowd import gather

API = "/admin/api/segments"
NO_TERMS: dict[str, list[str]] = {"any": [], "all": [], "none": []}


def saved(admin: Any, name: str = "Readers", **fields: Any) -> dict[str, Any]:
    answer = admin.post(API, json={"name": name, **fields})
    assert answer.status == 201, answer.json
    return answer.json


def test_a_segment_is_saved_and_counted_as_people_join(admin):
    made = saved(admin, " Tea drinkers ", tags={"any": [" Tea "]}, joined_after="2026-01-31")
    assert made["name"] == "Tea drinkers"
    assert made["tags"] == {**NO_TERMS, "any": ["tea"]}
    assert (made["sources"], made["joined_after"], made["joined_before"]) == (NO_TERMS, "2026-01-31", None)
    assert (made["count"], set(made)) == (0, {*made, "id", "updated_at"})
    gather(3, tags={"tea"}, activated_at=clock.now())
    gather(2, tags={"coffee"}, activated_at=clock.now())
    gather(1, tags={"tea"}, activated_at=clock.now(), paused_at=clock.text(clock.now()))
    (item,) = admin.get(API).json["items"]
    assert item == {**made, "count": 3}


def test_counts_can_be_left_out(admin):
    saved(admin)
    (item,) = admin.get(f"{API}?count=false").json["items"]
    assert "count" not in item
    assert admin.get(f"{API}?count=maybe").status == 400


def test_a_campaigns_aim_is_understood_as_well(admin):
    assert saved(admin, aim={"tags": {"all": ["a"]}})["tags"]["all"] == ["a"]
    both = admin.post(API, json={"name": "x", "aim": {}, "tags": {}})
    assert (both.status, both.json["error"]) == (400, "Send either aim or its fields, not both")


def test_segments_are_listed_by_name_and_not_among_campaigns(admin):
    for name in ("zebra", "Apple", "épée", "banana"):
        saved(admin, name)
    assert [item["name"] for item in admin.get(API).json["items"]] == ["Apple", "banana", "zebra", "épée"]
    assert admin.get("/admin/api/campaigns").json == {"page": 1, "per_page": 20, "total": 0, "items": []}
    assert admin.get("/admin/campaigns").status == 200


@pytest.mark.parametrize(
    ("first", "second"),
    [("Readers", "readers"), ("Straße", "STRASSE"), ("ÉPÉE", "e\u0301pe\u0301e"), ("ﬁne", "FINE"), ("ΣΑΣ", "σας")],
)
def test_names_are_unique_whatever_their_case(admin, first, second):
    saved(admin, first)
    answer = admin.post(API, json={"name": second})
    assert (answer.status, answer.json["error"]) == (409, "Another segment has this name")
    other = saved(admin, "Other")
    assert admin.patch(f"{API}/{other['id']}", json={"name": second}).status == 409


def test_a_segment_may_change_the_case_of_its_own_name_and_gives_its_old_one_free(admin):
    made = saved(admin, "readers")
    assert admin.patch(f"{API}/{made['id']}", json={"name": "Readers"}).json["name"] == "Readers"
    assert admin.patch(f"{API}/{made['id']}", json={"name": "People"}).json["name"] == "People"
    saved(admin, "READERS")
    assert admin.patch(f"{API}/{made['id']}", json={"name": "readers"}).status == 409


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": None},
        {"name": 5},
        {"name": "x" * 65},
        {"name": " "},
        {"name": "x", "sources": None},
        {"name": "x", "sources": []},
        {"name": "x", "sources": {"some": []}},
        {"name": "x", "tags": {"any": "tea"}},
        {"name": "x", "tags": {"any": [5]}},
        {"name": "x", "joined_after": 5},
        {"name": "x", "joined_after": "2026-02-30"},
        {"name": "x", "joined_before": "0001-01-01"},
        {"name": "x", "joined_after": "2026-02-02", "joined_before": "2026-02-01"},
        {"name": "x", "aim": 5},
        {"name": "x", "aim": {"who": 1}},
    ],
)
def test_what_cannot_be_saved(admin, body):
    answer = admin.post(API, json=body)
    assert (answer.status, set(answer.json)) == (400, {"error"})
    assert admin.get(API).json == {"items": []}


def test_a_change_leaves_the_rest_as_it_is(admin):
    made = saved(admin, tags={"any": ["tea"]}, joined_after="2026-01-01")
    url = f"{API}/{made['id']}"
    changed = admin.patch(url, json={"joined_before": "2026-02-01"}).json
    assert (changed["tags"], changed["joined_after"]) == (made["tags"], "2026-01-01")
    assert changed["updated_at"] > made["updated_at"]
    # Judged together with what is stored:
    assert admin.patch(url, json={"joined_after": "2026-02-01"}).status == 400
    assert admin.patch(url, json={"joined_after": None}).json["joined_after"] is None
    assert admin.patch(url, json={"aim": {}}).json["tags"] == NO_TERMS
    for bad in ({"name": None}, {"tags": None}, {"joined_before": ""}, {"name": ""}):
        assert admin.patch(url, json=bad).status == 400, bad


def test_nothing_is_found_that_is_not_there(admin):
    for id in (UNKNOWN, "names", "all", "../x"):
        assert admin.patch(f"{API}/{id}", json={"name": "x"}).status == 404
        assert admin.delete(f"{API}/{id}").status == 404


def test_a_deleted_segment_is_gone_and_its_name_free(admin):
    made = saved(admin)
    assert admin.delete(f"{API}/{made['id']}").status == 204
    assert admin.delete(f"{API}/{made['id']}").status == 404
    assert admin.get(API).json == {"items": []}
    saved(admin)


def test_there_are_at_most_fifty(admin, monkeypatch):
    monkeypatch.setattr(segments, "count", lambda found: [0] * len(found))
    made = [saved(admin, f"Segment {number}") for number in range(50)]
    answer = admin.post(API, json={"name": "One more"})
    assert (answer.status, answer.json["error"]) == (409, "At most 50 segments can be saved")
    assert admin.patch(f"{API}/{made[0]['id']}", json={"name": "Renamed"}).status == 200
    admin.delete(f"{API}/{made[1]['id']}")
    saved(admin, "One more")


def test_a_campaign_keeps_its_copy(admin):
    made = saved(admin, tags={"any": ["tea"]})
    aim = {name: made[name] for name in ("sources", "tags", "joined_after", "joined_before")}
    campaign = created(admin, aim=aim)
    assert campaign["aim"] == aim
    admin.patch(f"{API}/{made['id']}", json={"tags": {"any": ["coffee"]}})
    admin.delete(f"{API}/{made['id']}")
    assert service.view(campaign["id"]).campaign.targeting == Targeting(tags=Terms(any=("tea",)))


def test_an_edit_of_what_changed_since_is_refused(aws):
    made = segments.create("Readers", Targeting())
    segments.change(made.id, "People", {}, seen=1)
    with pytest.raises(Conflict):
        segments.change(made.id, "Others", {}, seen=1)


def test_all_segments_are_counted_in_one_reading(aws, monkeypatch):
    gather(30, tags={"tea"})
    made = [segments.create(f"s{number}", Targeting(tags=Terms(any=("tea",)))) for number in range(10)]
    calls = _requests(monkeypatch)
    assert segments.count(made) == [30] * 10
    assert calls.count("Scan") == 1


def test_a_large_audience_is_read_in_segments(aws, monkeypatch):
    gather(40, tags={"tea"}, sources={"blog"})
    monkeypatch.setattr(recipients, "_PEOPLE_A_SEGMENT", 1)
    monkeypatch.setattr("chalicelib.audience.counts.total", lambda: 40)
    made = segments.create("s", Targeting(tags=Terms(any=("tea",))))
    taken = segments.take_survey([made])
    assert (taken.reached, taken.tags) == ((40,), {"tea": 40})


def test_no_segment_and_nobody(aws):
    assert segments.count([]) == []
    assert segments.take_survey([]).tags == {}


def _requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    call: Callable[..., Any] = recipient_store.raw.dynamodb

    def counted(operation: str, parameters: Any) -> Any:
        calls.append(operation)
        return call(operation, parameters)

    monkeypatch.setattr(recipient_store.raw, "dynamodb", counted)
    return calls

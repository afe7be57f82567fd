"""Changing a sighting: only as it was read, and what was not sent stays."""

import pytest

from chalicelib.kernel import clock
from chalicelib.sightings.store import SightingRow

CHANGED = (409, {"error": "Sighting was changed meanwhile"})


def refused(answer):
    return answer.status, answer.json["error"]


def test_what_was_not_sent_stays(ada):
    seen = ada.see("Fox", "Park")
    first = ada.change(seen, animal_name=" Badger ")
    assert (first.status, first.json["animal_name"], first.json["location"]) == (200, "Badger", "Park")
    second = ada.change(first.json, location="Forest")
    assert (second.json["animal_name"], second.json["location"]) == ("Badger", "Forest")
    assert ada.read(seen) == second.json


def test_a_change_needs_the_version_that_was_read(ada):
    seen = ada.see()
    for body in ({"animal_name": "x"}, {}, {"updated_at": None, "location": "y"}):
        answer = ada.ask("PATCH", f"/api/sightings/{seen['id']}", json=body)
        assert refused(answer) == (400, "updated_at is required")
    assert ada.read(seen) == seen


@pytest.mark.parametrize("value", ["1", "", 1.5, True, [1], {}, "1794902400"])
def test_a_version_is_a_whole_number(ada, value):
    answer = ada.change(ada.see(), updated_at=value)
    assert refused(answer) == (400, "updated_at must be a whole number")


@pytest.mark.parametrize("value", [0, -1, 1, 10**18, 10**60, -(10**400)])
def test_any_other_number_is_another_version(ada, value):
    seen = ada.see()
    answer = ada.change(seen, updated_at=value, animal_name="Badger")
    assert (answer.status, answer.json) == CHANGED
    assert ada.read(seen) == seen


def test_the_second_edit_of_one_version_is_refused(ada):
    seen = ada.see()
    assert ada.change(seen, animal_name="First").status == 200
    answer = ada.change(seen, animal_name="Second")
    assert (answer.status, answer.json) == CHANGED
    assert ada.read(seen)["animal_name"] == "First"


def test_two_edits_in_one_second_are_two_versions(ada, still):
    seen = ada.see()
    versions = [seen["updated_at"]]
    for number in range(3):
        seen = ada.change(seen, animal_name=f"Fox {number}").json
        versions.append(seen["updated_at"])
    assert versions == [versions[0] + number for number in range(4)]
    for stale in versions[:-1]:
        assert ada.change(seen, updated_at=stale).status == 409


def test_the_version_is_the_time_again_as_soon_as_it_can(ada, later):
    seen = ada.see()
    later(hours=1)
    assert ada.change(seen, animal_name="Fox").json["updated_at"] == clock.epoch(clock.now())


def test_a_change_of_nothing_is_a_change(ada):
    seen = ada.see()
    answer = ada.change(seen)
    assert answer.status == 200
    assert answer.json == seen | {"updated_at": answer.json["updated_at"]}
    assert answer.json["updated_at"] > seen["updated_at"]
    assert ada.change(seen).status == 409


def test_times_are_the_servers_and_never_change(ada, later):
    seen = ada.see()
    later(days=2)
    claimed = {"timestamp_sighted": 1, "created_at": 2, "id": "0" * 32, "deleted_at": 3, "shared": None, "what": []}
    changed = ada.change(seen, animal_name="Fox", **claimed)
    assert changed.status == 200
    assert [changed.json[name] for name in ("id", "timestamp_sighted", "created_at")] == [
        seen[name] for name in ("id", "timestamp_sighted", "created_at")
    ]
    (row,) = SightingRow.scan()
    assert (row.deleted_at, clock.epoch(clock.parse(row.sighted_at))) == (None, seen["timestamp_sighted"])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"animal_name": ""}, "Animal name is required"),
        ({"animal_name": None}, "Animal name is required"),
        ({"animal_name": "x" * 201}, "Animal name too long (max 200 chars)"),
        ({"animal_name": 1}, "animal_name must be text"),
        ({"location": " "}, "Location is required"),
        ({"location": None}, "Location is required"),
        ({"location": "x" * 501}, "Location too long (max 500 chars)"),
        ({"upload_id": 1}, "upload_id must be text"),
        ({"upload_id": "nothing"}, "Upload not found"),
        ({"photo": "https://example.org/x.png"}, "photo can only be null: send upload_id for a new one"),
        ({"photo": False}, "photo can only be null: send upload_id for a new one"),
        ({"photo": None, "upload_id": "x"}, "Send upload_id or photo, not both"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_of_it_stored(ada, fields, reason):
    seen = ada.see()
    assert refused(ada.change(seen, **({"animal_name": "Other", "location": "Other"} | fields))) == (400, reason)
    assert ada.read(seen) == seen


@pytest.mark.parametrize("body", ["[]", "null", "{", "\xff", "[" * 5000])
def test_no_shape_of_body_breaks_anything(ada, body):
    path = f"/api/sightings/{ada.see()['id']}"
    assert ada.ask("PATCH", path, body=body, Content_Type="application/json").status == 400


def test_another_site_cannot_change_or_delete_anything(ada):
    seen = ada.see()
    for method in ("PATCH", "DELETE"):
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "same-site"}):
            body = {"json": {"updated_at": seen["updated_at"]}} if method == "PATCH" else {}
            assert ada.ask(method, f"/api/sightings/{seen['id']}", headers=headers, **body).status == 403
    assert ada.read(seen) == seen

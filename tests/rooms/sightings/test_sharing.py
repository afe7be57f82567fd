"""Sharing: the member's own act, with exactly what they chose, until they take it back."""

import base64
import json

import pytest

from chalicelib.kernel import clock
from chalicelib.kernel.aws import raw, tables
from tests.rooms.sightings.person import Person, jpeg, prepare_photos

ENTRY = {"id", "animal_name", "shown_location", "credit", "photo_url", "photo_state", "shared_at"}


def refused(answer):
    return answer.status, answer.json["error"]


def listed(desk, query=""):
    answer = desk(query)
    assert answer.status == 200
    return answer.json["items"]


def test_what_is_shared_is_what_was_chosen(ada, desk, still):
    seen = ada.see("Red Fox", "My garden, 5 Elm Street")
    answer = ada.share(seen, shown_location=" Elm Town ", credit=" A. L. ")
    now = clock.epoch(clock.now())
    assert answer.status == 200
    assert answer.json == seen | {"shared": {"shown_location": "Elm Town", "credit": "A. L.", "shared_at": now}}
    assert ada.read(seen) == ada.get().json["items"][0] == answer.json
    [entry] = desk().json["items"]
    assert seen["id"] not in desk().text, "when it was seen could be read from it"
    assert desk().json == {
        "items": [
            {
                "id": entry["id"],
                "animal_name": "Red Fox",
                "shown_location": "Elm Town",
                "credit": "A. L.",
                "photo_url": None,
                "photo_state": "none",
                "shared_at": now,
            }
        ],
        "next_cursor": None,
        "has_more": False,
    }


@pytest.mark.parametrize(
    "fields", [{}, {"shown_location": None, "credit": None}, {"shown_location": " ", "credit": ""}]
)
def test_missing_is_empty(ada, desk, fields):
    shared = ada.share(ada.see(), **fields).json["shared"]
    assert (shared["shown_location"], shared["credit"]) == ("", "")
    (entry,) = listed(desk)
    assert (entry["shown_location"], entry["credit"]) == ("", "")


def test_a_body_may_be_missing(ada):
    assert ada.post(f"/{ada.see()['id']}/share").status == 200


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"shown_location": "x" * 201}, "Shown location too long (max 200 chars)"),
        ({"credit": "x" * 101}, "Credit too long (max 100 chars)"),
        ({"shown_location": "a\x07b"}, "Shown location must not contain control characters"),
        ({"credit": "a\nb"}, "Credit must not contain control characters"),
        ({"credit": "\u202eb.A"}, "Credit must not contain control characters"),
        ({"shown_location": 5}, "shown_location must be text"),
        ({"credit": ["x"]}, "credit must be text"),
    ],
)
def test_what_is_wrong_is_refused(ada, desk, fields, reason):
    seen = ada.see()
    assert refused(ada.share(seen, **fields)) == (400, reason)
    assert ada.read(seen)["shared"] is None
    assert listed(desk) == []


@pytest.mark.parametrize("character", ["x", "🦊", "e\u0301"])
def test_lengths_are_in_code_points(ada, character):
    place, credit = (character * 200)[:200], (character * 100)[:100]
    shared = ada.share(ada.see(), shown_location=place, credit=credit).json["shared"]
    assert (shared["shown_location"], shared["credit"]) == (place, credit)


def test_only_verified_members_share(http, desk):
    eve = Person(http, "eve", verified=False)
    seen = eve.see()
    assert refused(eve.share(seen)) == (403, "Verify your email address first")
    assert eve.read(seen)["shared"] is None
    assert listed(desk) == []
    assert eve.counts() == (1, 0)


def test_not_yours_is_not_found_before_it_is_forbidden(http, ada):
    eve = Person(http, "eve", verified=False)
    assert refused(eve.share(ada.see())) == (404, "No such sighting")


def test_sharing_again_replaces(ada, desk, later):
    seen = ada.see()
    first = ada.share(seen, shown_location="Here", credit="Ada").json
    later(minutes=1)
    second = ada.share(seen, credit="A.").json["shared"]
    assert (second["shown_location"], second["credit"]) == ("", "A.")
    assert second["shared_at"] > first["shared"]["shared_at"]
    (entry,) = listed(desk)
    assert (entry["shown_location"], entry["credit"], entry["shared_at"]) == ("", "A.", second["shared_at"])
    assert ada.counts() == (1, 1)


def test_sharing_and_withdrawing_leave_the_version_as_it_is(ada, later):
    seen = ada.see()
    later(minutes=1)
    assert ada.share(seen).json["updated_at"] == seen["updated_at"]
    assert ada.change(seen, animal_name="Badger").status == 200
    changed = ada.read(seen)
    later(minutes=1)
    ada.withdraw(seen)
    assert ada.read(seen) == changed | {"shared": None}


def test_the_desks_entry_follows_the_animals_name_and_photo(ada, desk):
    seen = ada.see("Fox", "Secret place", upload_id=ada.upload())
    ada.share(seen, shown_location="Town")
    assert listed(desk)[0]["photo_state"] == "processing"
    prepare_photos()
    first = listed(desk)[0]
    assert (first["photo_state"], first["animal_name"]) == ("ready", "Fox")
    seen = ada.change(seen, animal_name="Red Fox", location="Other place", upload_id=ada.upload(jpeg())).json
    prepare_photos()
    (second,) = listed(desk)
    assert (second["animal_name"], second["shown_location"], second["photo_state"]) == ("Red Fox", "Town", "ready")
    assert second["photo_url"].partition("?")[0] != first["photo_url"].partition("?")[0]
    assert second["shared_at"] == first["shared_at"]
    ada.change(seen, photo=None)
    assert (listed(desk)[0]["photo_state"], listed(desk)[0]["photo_url"]) == ("none", None)


def test_the_desk_learns_nothing_else(ada, desk, http):
    secret, uploads = "The den behind 5 Elm Street", [ada.upload() for _ in range(3)]
    seen = [ada.see("Fox", secret, upload_id=upload_id) for upload_id in uploads]
    for sighting in seen:
        ada.share(sighting, shown_location="Town")
    prepare_photos()
    answer = desk("?limit=2")
    assert {frozenset(entry) for entry in answer.json["items"]} == {frozenset(ENTRY)}
    place = base64.urlsafe_b64decode(answer.json["next_cursor"].partition(".")[0] + "==").decode()
    for text in (answer.text, place):
        for hidden in (secret, "Elm", ada.id, ada.id.replace("-", ""), "ada@example.net", "example.net"):
            assert hidden not in text
        for dated in (*uploads, *(sighting["id"] for sighting in seen)):
            # Its first twelve digits are the moment it was made at.
            assert dated.replace("-", "")[:12] not in text.replace("-", "")


def test_the_index_behind_it_has_no_real_place(ada):
    """So that no mistake in a page can show it."""
    ada.share(ada.see("Fox", "Secret"), shown_location="Town", credit="A.")
    described = raw.dynamodb("DescribeTable", {"TableName": tables.name("sightings")})["Table"]
    projections = {
        index["IndexName"]: set(index["Projection"]["NonKeyAttributes"])
        for index in described["GlobalSecondaryIndexes"]
        if index["Projection"]["ProjectionType"] == "INCLUDE"
    }
    assert projections == {"shared": {"animal_name", "shown_location", "credit", "picture_id"}}


def test_withdrawing_takes_it_back(ada, desk):
    seen = ada.see("Fox", "Here")
    shared = ada.share(seen, shown_location="Town", credit="A.").json
    answer = ada.withdraw(shared)
    assert (answer.status, answer.body) == (204, b"")
    assert ada.read(seen) == seen
    assert listed(desk) == []
    assert ada.counts() == (1, 0)
    rows = json.dumps(raw.dynamodb("Scan", {"TableName": tables.name("sightings")})["Items"])
    assert "Town" not in rows
    assert "A." not in rows


def test_withdrawing_twice_or_before_sharing_changes_nothing(ada):
    seen = ada.see()
    assert ada.withdraw(seen).status == 204
    ada.share(seen)
    assert [ada.withdraw(seen).status for _ in range(2)] == [204, 204]
    assert ada.counts() == (1, 0)


def test_it_can_be_shared_again_afterwards(ada, desk):
    seen = ada.see()
    for place in ("One", "Two"):
        ada.share(seen, shown_location=place)
        assert [entry["shown_location"] for entry in listed(desk)] == [place]
        ada.withdraw(seen)
    assert listed(desk) == []


def test_an_unverified_member_may_withdraw(http, desk, ada):
    eve = Person(http, "eve", verified=False)
    assert eve.withdraw(eve.see()).status == 204


def test_deleting_withdraws(ada, desk):
    seen, other = ada.see(), ada.see("Badger")
    ada.share(seen), ada.share(other)
    ada.delete(seen)
    assert [entry["animal_name"] for entry in listed(desk)] == ["Badger"]
    assert ada.counts() == (1, 1)


def test_last_shared_first_in_pages_of_all_members(http, ada, bob, desk, later):
    expected, by_name = [], {}
    for number in range(25):
        person = (ada, bob)[number % 2]
        seen = person.see(f"Animal {number}")
        later(seconds=number % 3)  # some are shared in the same moment
        person.share(seen)
        expected.insert(0, seen["animal_name"])
        by_name[seen["animal_name"]] = seen
    found, query = [], "?limit=4"
    while True:
        page = desk(query).json
        found += [entry["animal_name"] for entry in page["items"]]
        if not page["has_more"]:
            break
        query = f"?limit=4&cursor={page['next_cursor']}"
        ada.withdraw(by_name[found[-1]])
    assert sorted(found) == sorted(expected)
    assert len(set(found)) == 25


def test_bad_limits_and_cursors_are_refused(ada, desk):
    for _ in range(3):
        ada.share(ada.see())
    for limit in ("0", "101", "x"):
        assert refused(desk(f"?limit={limit}")) == (400, "limit must be a whole number from 1 to 100")
    hers = ada.get("?limit=1").json["next_cursor"]
    for cursor in ("x", hers, desk("?limit=1").json["next_cursor"] + "0"):
        assert refused(desk(f"?cursor={cursor}")) == (400, "cursor is not valid")


def test_the_list_is_for_editors(http, ada, configure):
    configure(DISABLE_AUTH="false")
    assert http.get("/admin/api/sightings").status == 401
    assert ada.ask("GET", "/admin/api/sightings").status == 401


def test_another_site_cannot_share(ada):
    seen = ada.see()
    assert ada.post(f"/{seen['id']}/share", json={}, Origin="https://evil.example").status == 403
    assert ada.read(seen)["shared"] is None

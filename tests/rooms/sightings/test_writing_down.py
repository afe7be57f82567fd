"""Writing a sighting down: what it must say, what it may not, and whose times count."""

import unicodedata

import pytest

from chalicelib.kernel import clock, limits
from chalicelib.sightings import service
from chalicelib.sightings.store import SightingRow

FIELDS = {
    "id",
    "animal_name",
    "location",
    "timestamp_sighted",
    "photo_url",
    "photo_format",
    "photo_size_bytes",
    "photo_uploaded_at",
    "photo_state",
    "photo_error",
    "created_at",
    "updated_at",
    "shared",
}
FOX = {"animal_name": "Red Fox", "location": "Central Park"}


def test_a_sighting_is_answered_with_everything_about_it(ada, still):
    answer = ada.post(json=FOX)
    now = clock.epoch(clock.now())
    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert set(answer.json) == FIELDS
    assert len(answer.json.pop("id")) == 32
    assert answer.json == FOX | {
        "timestamp_sighted": now,
        "created_at": now,
        "updated_at": now,
        "photo_url": None,
        "photo_format": None,
        "photo_size_bytes": None,
        "photo_uploaded_at": None,
        "photo_state": "none",
        "photo_error": None,
        "shared": None,
    }


def test_it_is_read_as_it_was_answered(ada):
    seen = ada.see()
    assert ada.read(seen) == seen
    assert ada.get().json == {"items": [seen], "next_cursor": None, "has_more": False}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"animal_name": None}, "Animal name is required"),
        ({"animal_name": ""}, "Animal name is required"),
        ({"animal_name": " \t\u3000\n "}, "Animal name is required"),
        ({"animal_name": "\u200b\u200d\ufeff"}, "Animal name is required"),
        ({"animal_name": "\u2800 \u2800"}, "Animal name is required"),
        ({"animal_name": "\u3164\u115f\u1160\uffa0"}, "Animal name is required"),
        ({"animal_name": "\ufe0f\U000e0100\u180b"}, "Animal name is required"),
        ({"animal_name": "\u202e"}, "Animal name is required"),
        ({"animal_name": "\u202exof"}, "Animal name must not contain control characters"),
        ({"animal_name": "x" * 201}, "Animal name too long (max 200 chars)"),
        ({"animal_name": "Fox\x00"}, "Animal name must not contain control characters"),
        ({"animal_name": "{\ufdd0{nickname}}"}, "Animal name must not contain control characters"),
        ({"animal_name": "Fox\u2028Fox"}, "Animal name must not contain control characters"),
        ({"animal_name": 5}, "animal_name must be text"),
        ({"animal_name": ["Fox"]}, "animal_name must be text"),
        ({"animal_name": {}}, "animal_name must be text"),
        ({"animal_name": True}, "animal_name must be text"),
        ({"location": None}, "Location is required"),
        ({"location": "  "}, "Location is required"),
        ({"location": "x" * 501}, "Location too long (max 500 chars)"),
        ({"location": "\u3164"}, "Location is required"),
        ({"location": "here\nthere"}, "Location must not contain control characters"),
        ({"location": "here \u2067there\u2069"}, "Location must not contain control characters"),
        ({"location": 0}, "location must be text"),
        ({"upload_id": 5}, "upload_id must be text"),
        ({"upload_id": ["x"]}, "upload_id must be text"),
        ({"upload_id": ""}, "Upload not found"),
        ({"upload_id": "\x00"}, "Upload not found"),
    ],
)
def test_what_is_missing_or_wrong_is_refused_by_name(ada, fields, reason):
    answer = ada.post(json=FOX | fields)
    assert (answer.status, answer.json) == (400, {"error": reason})
    assert ada.get().json["items"] == []
    assert ada.counts() == (0, 0)


def test_a_field_that_is_not_sent_is_required_too_and_the_name_is_asked_for_first(ada):
    assert ada.post(json={}).json == {"error": "Animal name is required"}
    assert ada.post(body=b"").json == {"error": "Animal name is required"}
    assert ada.post(json={"animal_name": "Fox"}).json == {"error": "Location is required"}


@pytest.mark.parametrize("body", ["[]", "null", "5", '"text"', "{", "{}}", "\xff", "[" * 5000, '{"a": ' * 3000])
def test_no_shape_of_body_breaks_anything(ada, body):
    assert ada.post(body=body, Content_Type="application/json").status == 400


def test_half_a_surrogate_pair_is_refused(ada):
    body = '{"animal_name": "Fox \\ud83e", "location": "here"}'
    assert ada.post(body=body, Content_Type="application/json").json == {"error": "The body is not valid Unicode"}


@pytest.mark.parametrize("character", ["x", "é", "🦊", "e\u0301", "👩\u200d🔬"])
def test_lengths_are_in_code_points(ada, character):
    name, place = (character * 500)[:200], (character * 500)[:500]
    assert (ada.see(name, place)["animal_name"], len(place)) == (name, 500)
    assert ada.post(json={"animal_name": (character * 500)[:201], "location": place}).status == 400
    assert ada.post(json={"animal_name": name, "location": (character * 600)[:501]}).status == 400


def test_text_is_trimmed_before_it_is_measured_and_otherwise_kept(ada):
    decomposed = unicodedata.normalize("NFD", "Écureuil  roux")
    seen = ada.see(f" \u3000{decomposed}\t", "  " + "x" * 500 + "\n")
    assert seen["animal_name"] == decomposed
    assert seen["location"] == "x" * 500


def test_markup_is_text(ada):
    text = "<script>alert(1)</script> & \"' {{ 7*7 }} ${x}"
    assert ada.see(text, text)["animal_name"] == text


def test_times_and_ids_of_a_client_are_never_stored(ada, bob, still):
    claimed = {
        "timestamp_sighted": 1,
        "created_at": 2,
        "updated_at": 3,
        "deleted_at": 4,
        "id": "0" * 32,
        "owner": bob.id,
        "member_id": bob.id,
        "photo_url": "https://evil.example",
        "photo_size_bytes": -1,
        "shared": {"shown_location": "x", "credit": "y"},
        "anything": {"else": []},
    }
    seen = ada.see(**claimed)
    now = clock.epoch(clock.now())
    assert [seen[name] for name in ("timestamp_sighted", "created_at", "updated_at")] == [now] * 3
    assert (seen["photo_url"], seen["shared"]) == (None, None)
    (row,) = SightingRow.scan()
    assert row.owner == ada.id
    assert clock.epoch(clock.parse(row.sighted_at)) == clock.epoch(clock.parse(row.created_at)) == now
    assert bob.get().json["items"] == []


def test_without_a_session_nothing_is_written(ada, http):
    answer = http.post("/api/sightings", json=FOX)
    assert (answer.status, answer.json) == (401, {"error": "Authentication required"})
    assert list(SightingRow.scan()) == []


def test_another_site_cannot_write_one_down(ada):
    assert ada.post(json=FOX, Origin="https://evil.example").status == 403
    assert ada.post(json=FOX, Sec_Fetch_Site="cross-site").status == 403
    assert ada.get().json["items"] == []


def test_each_is_counted_once(ada):
    for _ in range(3):
        ada.see()
    assert ada.counts() == (3, 0)


def test_more_than_a_thousand_an_hour_are_too_many(ada, still, monkeypatch):
    monkeypatch.setattr(service, "_NEW_PER_HOUR", 2)
    ada.see(), ada.see()
    answer = ada.post(json=FOX)
    assert (answer.status, answer.json) == (429, {"error": "Too many requests"})
    assert 0 < int(answer.headers["Retry-After"]) <= 3600
    assert ada.counts() == (2, 0)
    assert limits.count("sightings", ada.id, 3600) == 3

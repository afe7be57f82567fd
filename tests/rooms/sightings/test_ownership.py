"""Ownership is the key: what is not yours is not there, on every route and whatever is sent."""

import pytest

from tests.rooms.sightings.person import Person

NOBODYS = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"
NOT_FOUND = (404, {"error": "No such sighting"})
CALLS = [
    ("GET", "", None),
    ("PATCH", "", {"updated_at": 1, "animal_name": "Mine"}),
    ("PATCH", "", {}),
    ("PATCH", "", {"updated_at": "x", "animal_name": ""}),
    ("DELETE", "", None),
    ("POST", "/share", {"shown_location": "here"}),
    ("POST", "/share", {"shown_location": "x" * 201}),
    ("POST", "/share", {}),
    ("DELETE", "/share", None),
]


def ask(person, method, id, rest, body):
    answer = person.ask(method, f"/api/sightings/{id}{rest}", **({} if body is None else {"json": body}))
    return answer.status, answer.json


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
def test_somebody_elses_is_not_found(ada, bob, method, rest, body):
    hers = ada.see()
    ada.share(hers, shown_location="Park", credit="Ada")
    before = ada.read(hers)
    sent = body | {"updated_at": hers["updated_at"]} if body and body.get("updated_at") == 1 else body
    assert ask(bob, method, hers["id"], rest, sent) == NOT_FOUND
    assert ada.read(hers) == before


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
def test_an_unverified_member_learns_no_more(http, ada, method, rest, body):
    eve = Person(http, "eve", verified=False)
    assert ask(eve, method, ada.see()["id"], rest, body) == NOT_FOUND


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
@pytest.mark.parametrize(
    "id",
    [
        NOBODYS.replace("-", ""),
        NOBODYS,
        "0" * 32,
        "x",
        "%00",
        "..",
        "%E0%A4%A",
        "a" * 1000,
        NOBODYS.replace("-", "").upper(),
        "deleted",
    ],
)
def test_what_is_no_id_is_not_found(ada, method, rest, body, id):
    assert ask(ada, method, id, rest, body) == NOT_FOUND


def test_an_id_in_another_spelling_is_another_id(ada):
    seen = ada.see()
    id = seen["id"]
    dashed = "-".join((id[:8], id[8:12], id[12:16], id[16:20], id[20:]))
    for other in (dashed, id.upper(), f"{id}0", f" {id}".replace(" ", "%20")):
        assert ada.get(f"/{other}").status == 404 or other == id


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
def test_without_a_session_it_is_asked_for(ada, http, method, rest, body):
    options = {} if body is None else {"json": body}
    answer = http.request(method, f"/api/sightings/{ada.see()['id']}{rest}", **options)
    assert (answer.status, answer.json) == (401, {"error": "Authentication required"})


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
def test_without_members_there_are_no_sightings(ada, configure, method, rest, body):
    id = ada.see()["id"]
    configure(MEMBERS="off")
    assert ask(ada, method, id, rest, body) == (404, {"error": "Not found"})

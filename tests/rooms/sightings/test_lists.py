"""A member's list: newest first, in pages without gap or double, and what a search finds."""

import base64
import unicodedata
from datetime import timedelta
from urllib.parse import quote

import pytest

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.sightings import model, store
from chalicelib.sightings.model import Sighting
from tests.fixtures.emitters import all_emitters
from tests.rooms.sightings.person import Person, prepare_photos


@pytest.fixture
def many(ada):
    """`many(105)` sightings, oldest first; `many(5, "Fox {}")` names them."""

    def add(count, name="Animal {}"):
        now, made = clock.now(), []
        for number in range(count):
            id = _id_at(now - timedelta(seconds=count - number))
            made.append(Sighting(id, ada.id, name.format(number), "Somewhere", now, now, clock.epoch(now)))
        rows = [store.create_write(sighting).row for sighting in made]
        tables.write_all(store.SightingRow, put=rows)
        return [model.wire_id(sighting.id) for sighting in made]

    return add


def _id_at(moment):
    fresh = ids.new()
    return ids.since(moment) + fresh[13:]


def names(items):
    return [item["animal_name"] for item in items]


def test_newest_first(ada):
    written = [ada.see(f"Animal {number}") for number in range(3)]
    assert ada.get().json["items"] == written[::-1]


def test_nobody_elses_are_in_it(ada, bob):
    ada.see("Hers")
    bob.see("His")
    assert names(ada.get().json["items"]) == ["Hers"]


def test_an_empty_list_is_a_list(ada):
    assert ada.get().json == {"items": [], "next_cursor": None, "has_more": False}


@pytest.mark.parametrize(("query", "count"), [("", 20), ("?limit=", 20), ("?limit=1", 1), ("?limit=100", 100)])
def test_a_page_has_twenty_unless_asked(ada, many, query, count):
    many(101)
    page = ada.get(query).json
    assert (len(page["items"]), page["has_more"]) == (count, True)
    assert isinstance(page["next_cursor"], str)


@pytest.mark.parametrize("limit", ["0", "101", "-1", "x", "1.5", "1e1", "%2B5", "%205", "٥", "99999999999", "20,20"])
def test_any_other_limit_is_refused(ada, limit):
    answer = ada.get(f"?limit={quote(limit, safe='%')}")
    assert (answer.status, answer.json) == (400, {"error": "limit must be a whole number from 1 to 100"})


@pytest.mark.parametrize("count", [19, 20, 21, 40])
def test_the_last_page_says_so(ada, many, count):
    expected = many(count)[::-1]
    pages = ada.pages("limit=20")
    assert [item["id"] for page in pages for item in page] == expected
    assert len(pages) == -(-count // 20)


@pytest.mark.parametrize("limit", [1, 7, 20, 100])
def test_pages_have_no_gap_and_nothing_twice(ada, many, limit):
    expected = many(105)[::-1]
    assert [item["id"] for page in ada.pages(f"limit={limit}") for item in page] == expected


def test_they_have_none_while_others_are_added_and_deleted(ada, many):
    """Also the one at which a page ended is deleted: the next begins after the place where it was."""
    expected = many(105)[::-1]
    seen, deleted, cursor = [], set(), ""
    while True:
        page = ada.get(f"?limit=10{cursor}").json
        seen += [item["id"] for item in page["items"]]
        if not page["has_more"]:
            break
        cursor = f"&cursor={page['next_cursor']}"
        ada.see("Later")
        ahead = next(id for id in expected if id not in seen and id not in deleted)
        for id in (seen[-1], ahead):
            assert ada.delete({"id": id}).status == 204
        deleted.add(ahead)
    assert seen == [id for id in expected if id not in deleted]
    assert len(deleted) >= 9


def test_a_cursor_is_good_for_its_own_list_only(ada, bob, many):
    many(30)
    for number in range(3):
        bob.see(f"Animal {number}")
    hers = ada.get("?limit=1").json["next_cursor"]
    his = bob.get("?limit=1").json["next_cursor"]
    of_search = ada.get("?limit=1&q=animal").json["next_cursor"]
    for person, query in ((ada, his), (bob, hers), (ada, f"{hers}&q=animal"), (ada, of_search)):
        answer = person.get(f"?cursor={query}")
        assert (answer.status, answer.json) == (400, {"error": "cursor is not valid"})
    assert ada.get(f"?cursor={of_search}&q=ANIMAL").status == 200


def test_an_altered_cursor_is_refused(ada, many):
    many(30)
    cursor = ada.get("?limit=1").json["next_cursor"]
    place, _, signature = cursor.partition(".")
    forged = base64.urlsafe_b64encode(ids.new().encode()).decode().rstrip("=")
    altered = [f"{forged}.{signature}", f"{place}.{'0' * 32}", place, f".{signature}", f"{cursor}0", cursor[:-1], "."]
    altered += ["x", "%00", "🦊", "a" * 5000, f"{place}.é", "..", f"{place}.{signature.upper()}"]
    for text in altered:
        assert ada.get(f"?cursor={quote(text, safe='%')}").status == 400, text
    assert ada.get(f"?cursor={cursor}").status == 200
    assert ada.get("?cursor=").status == 200


@pytest.mark.parametrize(
    ("name", "place", "search"),
    [
        ("Red Fox", "Park", "fox"),
        ("Red Fox", "Park", "d f"),
        ("Red Fox", "Central Park, NYC", "PARK, n"),
        ("Red Fox", "Park", "  fox  "),
        ("Großer Fuchs", "Straße", "GROSSER"),
        ("GROSSER FUCHS", "x", "großer"),
        ("Weißstorch", "STRASSE 5", "straße"),
        ("Kedi", "İstanbul", "istanbul"),
        ("Kedi", "İstanbul", "İSTANBUL"),
        ("Kedi", "istanbul", "İst"),
        ("Kedi", "İSTANBUL", "i\u0307stanbul"),
        ("ΓΆΤΟΣ", "x", "γάτος"),
        ("γάτος", "x", "ΓΆΤΟΣ"),
        ("κόκορας", "x", "ΚΌΚΟΡΑΣ"),
        ("Écureuil", "x", unicodedata.normalize("NFD", "éCUREUIL")),
        (unicodedata.normalize("NFD", "Écureuil"), "x", "écur"),
        ("Ånd", "x", "a\u030and"),
        ("ﬁsh", "x", "FISH"),
        ("Ʞ 🦊", "x", "🦊"),
        ("キツネ", "公園", "ツネ"),
        ("100% sure", "a_b", "% s"),
        ("Fox (red)", "x", "(red)"),
    ],
)
def test_a_search_finds_parts_in_any_case(ada, name, place, search):
    ada.see("Nothing alike", "Nowhere")
    ada.see(name, place)
    assert names(ada.get(f"?q={quote(search)}").json["items"]) == [name]


@pytest.mark.parametrize("search", ["fix", "fox park", "xcentral", ".*", "%"])
def test_what_is_in_neither_is_not_found(ada, search):
    ada.see("Red Fox", "Central Park")
    assert ada.get(f"?q={quote(search)}").json["items"] == []


def test_a_search_does_not_reach_from_the_name_into_the_place(ada):
    ada.see("Red Fox", "Central Park")
    assert ada.get("?q=fox%0Acentral").json == {"error": "Search must not contain control characters"}
    assert ada.get("?q=foxcentral").json["items"] == []


@pytest.mark.parametrize("search", ["", "%20", "%09%20"])
def test_a_blank_search_finds_everything(ada, search):
    ada.see()
    assert len(ada.get(f"?q={search}").json["items"]) == 1


def test_a_search_longer_than_any_text_is_refused(ada):
    assert ada.get(f"?q={'x' * 500}").status == 200
    assert ada.get(f"?q={'x' * 501}").status == 400


def test_a_search_follows_edits(ada):
    seen = ada.see("Red Fox", "Park")
    assert ada.change(seen, animal_name="Badger").status == 200
    assert ada.get("?q=fox").json["items"] == []
    assert names(ada.get("?q=badger").json["items"]) == ["Badger"]
    assert names(ada.get("?q=park").json["items"]) == ["Badger"]


def test_pages_of_a_search_may_be_short_and_miss_nothing(ada, many, monkeypatch):
    monkeypatch.setattr(store, "_LOOKED_AT", 5)
    monkeypatch.setattr(store, "_REQUESTS", 2)
    many(40)
    wanted = ada.see("Unicorn")["id"]
    rare = many(1, "Unicorn")  # a moment before the one that was just seen
    many(3, "Zebra")
    pages = ada.pages("q=UNICORN&limit=2")
    found = [item["id"] for page in pages for item in page]
    assert sorted(found) == sorted([wanted, *rare])
    assert found[0] == wanted
    assert len(pages) > 2
    assert [] in pages


@pytest.mark.parametrize("limit", [1, 3, 10, 100])
def test_pages_of_a_search_have_no_gap_and_nothing_twice(ada, many, limit, monkeypatch):
    monkeypatch.setattr(store, "_LOOKED_AT", 4)
    expected = [id for number, id in enumerate(many(60)) if "3" in str(number)][::-1]
    pages = ada.pages(f"q=3&limit={limit}")
    assert [item["id"] for page in pages for item in page] == expected
    assert all(len(page) <= limit for page in pages)


@pytest.fixture
def calls(monkeypatch):
    """Operations that were asked of AWS."""
    made = []

    def note(model, **_):
        made.append(model.name)

    for emitter in all_emitters():
        emitter.register("before-call", note)
    yield made
    for emitter in all_emitters():
        emitter.unregister("before-call", note)


@pytest.mark.parametrize("count", [20, 300])
def test_a_list_of_twenty_is_the_session_one_query_and_the_photos(ada, many, calls, count):
    many(count)
    for _ in range(3):
        ada.see(upload_id=ada.upload())
    prepare_photos()
    calls.clear()
    page = ada.get("?limit=20").json
    assert sum(item["photo_url"] is not None for item in page["items"]) == 3
    assert calls == ["TransactGetItems", "Query", "BatchGetItem"]


def test_a_list_without_photos_asks_for_none(ada, many, calls):
    many(25)
    calls.clear()
    ada.get()
    assert calls == ["TransactGetItems", "Query"]


def test_a_search_looks_at_a_bounded_number(ada, many, calls):
    many(1300)
    calls.clear()
    page = ada.get("?q=unicorn").json
    assert (page["items"], page["has_more"]) == ([], True)
    assert calls == ["TransactGetItems", *["Query"] * 4]
    assert [item for page in ada.pages("q=unicorn") for item in page] == []


def test_one_sighting_is_the_session_a_read_and_its_photo(ada, calls):
    seen = ada.see(upload_id=ada.upload())
    calls.clear()
    ada.read(seen)
    assert calls == ["TransactGetItems", "GetItem", "BatchGetItem"]


def test_a_cursor_says_nothing_about_the_member(http, ada):
    Person(http, "eve").see()
    ada.see(), ada.see()
    cursor = ada.get("?limit=1").json["next_cursor"]
    place = base64.urlsafe_b64decode(cursor.partition(".")[0] + "==").decode()
    assert ada.id not in place

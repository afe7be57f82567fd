"""Words in title, creator and note, in any case; and everything that was ever received, whatever became of it."""

import pytest
from msgspec.structs import replace

from chalicelib.inbox import departures, expiry, listing_store, search, service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import State
from tests.rooms.inbox.things import NOON, article, receive, row, states, to, video

BIRDS = video("birds", title="Who is eating the BUDS?", creator="The Hedge Birds")
FROST = replace(article("frost"), title="Frost in İstanbul: Größe", creator="Ａｄａ’s Garden")


@pytest.fixture
def found(box):
    """The ids that a search finds, newest first."""
    box.receive(BIRDS, FROST)
    return lambda query: box.ids(f"?q={query}")


@pytest.mark.parametrize(
    "query", ["buds", "Eating", "WHO", "hedge", "birds%20buds", "buds+THE", "ing", "%20buds%20%20who%20", "buds?"]
)
def test_every_word_is_in_title_or_creator_in_any_case(found, query):
    assert found(query.replace("?", "%3F")) == [BIRDS.id]


@pytest.mark.parametrize(
    "query", ["istanbul", "%C4%B0STANBUL", "GR%C3%96SSE", "gr%C3%B6%C3%9Fe", "gro%CC%88sse", "ada"]
)
def test_however_letters_are_written(found, query):
    assert found(query) == [FROST.id]


@pytest.mark.parametrize("query", ["bud%20frost", "nothing", "birds%0Afrost", "what+it+is+about"])
def test_all_words_must_match_and_only_there(found, query):
    assert found(query) == []


def test_nothing_asked_for_is_everything(found):
    assert found("") == found("%20") == [FROST.id, BIRDS.id]


def test_words_of_the_note(box, found):
    assert box.write(BIRDS.id, {"note": "For the WINTER issue,\nask Bob"}).status == 200
    assert found("winter") == found("bob+buds") == [BIRDS.id]
    box.write(BIRDS.id, {"note": "Spring"})
    assert found("winter") == []
    assert found("spring") == [BIRDS.id]
    box.write(BIRDS.id, {"note": None})
    assert found("spring") == []
    assert "folded_note" not in row(box.owner, BIRDS.id)


def test_each_list_is_searched_by_itself(box, found):
    box.act(BIRDS.id, "archive")
    assert found("buds") == []
    assert box.ids("?state=ARCHIVED&q=buds") == [BIRDS.id]
    assert box.ids("?state=ARCHIVED&q=buds&provider=RSS") == []


def test_nobody_finds_what_is_somebody_else_s(desk, ada):
    ada.receive(BIRDS)
    ada.write(BIRDS.id, {"note": "secret"})
    desk.receive(BIRDS)
    assert desk.ids("?q=secret") == desk.ids("?state=ALL&q=secret") == []


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("x" * 201, "q must be at most 200 characters"),
        ("+".join("abcdefghijk"), "q must have at most 10 words"),
    ],
)
def test_what_cannot_be_searched(box, query, reason):
    answer = box.get(f"?q={query}")
    assert (answer.status, answer.json) == (400, {"error": reason})


def test_a_cursor_is_for_one_search(box):
    box.receive(*(video(f"number {number}") for number in range(3)))
    cursor = box.get("?q=number&limit=1").json["next_cursor"]
    assert box.get(f"?q=NUMBER&limit=1&cursor={cursor}").status == 200
    for other in ("q=first", "q=", "q=number&state=ALL"):
        assert box.get(f"?{other}&limit=1&cursor={cursor}").status == 400


def test_a_search_looks_at_so_many_and_goes_on(box, monkeypatch):
    monkeypatch.setattr(listing_store, "_LOOKED_AT", 2)
    monkeypatch.setattr(listing_store, "_REQUESTS", 2)
    ids = box.receive(BIRDS, *(video(f"number {number}") for number in range(9)))
    assert box.pages("q=buds") == [[], [], [BIRDS.id]]
    assert [id for page in box.pages("q=number&limit=2") for id in page] == ids[:0:-1]


def test_everything_ever_received_can_be_searched(box):
    ids = box.receive(*(video(f"number {number}", title=f"Buds {number}") for number in range(5)))
    box.act(ids[1], "bookmark")
    box.act(ids[2], "archive")
    box.dismiss(ids[3])
    box.receive(article())
    listed = box.entries("?state=ALL&q=buds")
    assert [(entry["id"], entry["state"]) for entry in listed] == [
        (ids[4], "INBOX"),
        (ids[3], "DISMISSED"),
        (ids[2], "ARCHIVED"),
        (ids[1], "BOOKMARKED"),
        (ids[0], "INBOX"),
    ]
    assert len(box.entries("?state=ALL")) == 6
    gone = listed[1]
    assert (gone["title"], gone["canonical_url"]) == ("Buds 3", "https://www.youtube.com/watch?v=number 3")
    assert (gone["note"], gone["follow_id"]) == (None, None)


@pytest.mark.parametrize("query", ["", "&q=buds", "&provider=YOUTUBE&q=buds"])
@pytest.mark.parametrize("looked_at", [1, 3, 250])
def test_everything_page_by_page_in_one_order(box, monkeypatch, query, looked_at):
    monkeypatch.setattr(listing_store, "_LOOKED_AT", looked_at)
    monkeypatch.setattr(listing_store, "_REQUESTS", 2)
    ids = box.receive(*(video(f"{number}", title=f"Buds {number}") for number in range(13)))
    for number, id in enumerate(ids):
        if number % 4 == 1:
            box.act(id, "bookmark")
        if number % 4 == 2:
            box.act(id, "archive")
        if number in (3, 4, 8, 12):
            box.dismiss(id)
    assert [id for page in box.pages(f"state=ALL&limit=3{query}") for id in page] == ids[::-1]


def test_a_note_is_not_found_after_its_entry_was_dismissed(box):
    box.receive(BIRDS)
    box.write(BIRDS.id, {"note": "winter"})
    box.dismiss(BIRDS.id)
    assert box.ids("?state=ALL&q=winter") == []
    assert box.ids("?state=ALL&q=buds") == [BIRDS.id]
    assert box.ids("?q=buds") == []


def test_what_has_come_back_is_found_once(desk, ada):
    ada.receive(BIRDS)
    desk.receive(BIRDS)
    desk.dismiss(BIRDS.id)
    ada.suggest(BIRDS.id, note="again")
    assert desk.ids("?state=ALL&q=buds+again") == desk.ids("?q=buds") == [BIRDS.id]


def test_what_was_seen_is_not_counted_and_not_held(box):
    box.receive(BIRDS)
    box.dismiss(BIRDS.id)
    assert listing_store.count(box.owner, State.INBOX, 9) == 0
    assert not listing_store.is_held(BIRDS.id)
    assert list(listing_store.list_holders(BIRDS.id)) == []


@pytest.mark.usefixtures("aws")
def test_when_an_item_is_deleted_nothing_is_found_of_it_any_more():
    """What YouTube told is deleted within 30 days, also its words."""
    service.deliver(BIRDS, to("desk", "ada"), NOON)
    service.dismiss("desk", BIRDS.id)
    service.dismiss("ada", BIRDS.id)
    assert service.forget_item_if_unheld(BIRDS.id) is True
    for owner in ("desk", "ada"):
        assert service.list_whole_page(owner, words=("buds",)).entries == ()
        assert states(owner) == {BIRDS.id: None}
        assert "folded" not in row(owner, BIRDS.id)
    assert receive("desk", BIRDS) == [BIRDS.id]
    assert states() == {BIRDS.id: None}


@pytest.mark.usefixtures("aws")
def test_where_many_have_seen_it_it_is_deleted_in_steps(monkeypatch):
    monkeypatch.setattr(expiry, "_WORDS_AT_ONCE", 3)
    owners = [f"member-{number}" for number in range(7)]
    service.deliver(BIRDS, to(*owners), NOON)
    for owner in owners:
        service.dismiss(owner, BIRDS.id)
    assert [service.forget_item_if_unheld(BIRDS.id) for _ in range(3)] == [False, False, True]
    assert not [found for found in EntryRow.scan() if found.folded]


@pytest.mark.usefixtures("aws")
def test_when_the_last_one_who_has_it_leaves_others_find_nothing_of_it():
    service.deliver(FROST, to("ada", "bob"), NOON)
    service.dismiss("bob", FROST.id)
    departures.forget("ada", lambda: True)
    assert service.find_item(FROST.id) is None
    assert service.list_whole_page("bob", words=("frost",)).entries == ()


def test_words_are_kept_short():
    assert search.fold_item("Title", "Creator") == "title\ncreator"
    assert len(search.fold_item("題" * 300, "ä" * 200).encode()) <= 601
    assert search.fold_item("題" * 300, "x").startswith("題" * 160)
    assert search.fold_item("", "x") == "x"


@pytest.mark.usefixtures("aws")
def test_a_row_stays_below_a_kilobyte_whatever_the_title():
    long = video("long", title="題" * 300, creator="造" * 200)
    service.deliver(
        long, to("0193a5c4-11f0-7a6b-8c01-2d3e4f506172", follow_id="f" * 36, state=State.BOOKMARKED), NOON
    )
    (stored,) = EntryRow.scan()
    size = sum(len(name) + len(value["S"].encode()) for name, value in stored.serialize().items())
    assert size <= 1024

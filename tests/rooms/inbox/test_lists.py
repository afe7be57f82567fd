"""What is in the inbox, bookmarked or archived: newest first, filtered, page by page, and only one's own."""

import pytest
from msgspec.structs import replace

from chalicelib.inbox import item_store, listing_store, model
from chalicelib.inbox.item_row_store import ItemRow
from tests.rooms.inbox.things import NOON, article, video

NOON_MS = 1794830400000


def videos(many):
    return [video(f"number {number}") for number in range(many)]


def test_an_entry_has_every_field(box):
    (id,) = box.receive(video())
    assert box.get().json == {
        "items": [
            {
                "id": id,
                "state": "INBOX",
                "provider": "YOUTUBE",
                "content_type": "VIDEO",
                "title": "The first video",
                "creator": "The Channel",
                "canonical_url": "https://www.youtube.com/watch?v=first",
                "image_url": None,
                "excerpt": "What it is about.",
                "duration_seconds": 754,
                "published_at": NOON_MS - 3_600_000,
                "received_at": NOON_MS,
                "follow_id": "follow-1",
                "note": None,
                "used_in": [],
                "problem": None,
                "available": True,
            }
        ],
        "next_cursor": None,
        "has_more": False,
    }


def test_what_is_not_known_is_null(box):
    box.receive(article(), follow_id="")
    (entry,) = box.entries()
    empty = ("creator", "excerpt", "duration_seconds", "published_at", "follow_id", "note")
    assert {entry[name] for name in empty} == {None}
    assert (entry["provider"], entry["content_type"]) == ("RSS", "ARTICLE")


def test_times_are_exact_to_the_millisecond(box):
    box.receive(video(), at=NOON.replace(microsecond=123_000))
    assert box.entries()[0]["received_at"] == NOON_MS + 123


def test_an_empty_inbox(box):
    assert box.get().json == {"items": [], "next_cursor": None, "has_more": False}


def test_newest_first_whatever_their_ids(box):
    ids = box.receive(*videos(5))
    assert box.ids() == ids[::-1]


def test_each_state_has_its_list(box):
    first, second, third = box.receive(*videos(3))
    box.act(first, "bookmark")
    box.act(second, "archive")
    assert box.ids("?state=BOOKMARKED") == [first]
    assert box.ids("?state=ARCHIVED") == [second]
    assert box.ids("?state=INBOX") == box.ids("?state=") == [third]


def test_by_provider_and_type(box):
    seen, read = box.receive(video(), article())
    heard = box.receive(
        replace(article("episode"), content_type=model.ContentType.PODCAST), at=NOON.replace(hour=13)
    )[0]
    assert box.ids("?provider=YOUTUBE") == [seen]
    assert box.ids("?provider=RSS") == [heard, read]
    assert box.ids("?type=PODCAST") == [heard]
    assert box.ids("?provider=RSS&type=ARTICLE") == [read]
    assert box.ids("?provider=YOUTUBE&type=ARTICLE") == []
    assert box.ids("?provider=&type=") == [heard, read, seen]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("state=inbox", "state must be one of: INBOX, BOOKMARKED, ARCHIVED, ALL"),
        ("state=DISMISSED", "state must be one of: INBOX, BOOKMARKED, ARCHIVED, ALL"),
        ("provider=VIMEO", "provider must be one of: YOUTUBE, SPOTIFY, RSS, LINK, SIGHTING"),
        ("type=SONG", "type must be one of: VIDEO, PODCAST, ARTICLE, LINK, SIGHTING"),
        ("limit=0", "limit must be a whole number from 1 to 100"),
        ("limit=101", "limit must be a whole number from 1 to 100"),
        ("cursor=forged", "cursor is not valid"),
    ],
)
def test_what_cannot_be_asked_for(box, query, reason):
    answer = box.get(f"?{query}")
    assert (answer.status, answer.json) == (400, {"error": reason})


def test_page_by_page(box):
    ids = box.receive(*videos(7))[::-1]
    assert box.pages("limit=3") == [ids[:3], ids[3:6], ids[6:]]
    assert box.pages("limit=7") == [ids]


def test_what_arrives_meanwhile_moves_nothing(box):
    ids = box.receive(*videos(4))[::-1]
    cursor = box.get("?limit=2").json["next_cursor"]
    box.receive(video("late"), at=NOON.replace(hour=14))
    box.dismiss(ids[1])
    assert box.ids(f"?limit=2&cursor={cursor}") == ids[2:]


def test_entries_of_the_same_moment_are_all_listed(box):
    ids = [box.receive(item)[0] for item in videos(5)]
    assert sorted(id for page in box.pages("limit=2") for id in page) == sorted(ids)


def test_a_cursor_is_for_one_list_of_one_owner(desk, ada, bob):
    for owner in (desk, ada, bob):
        owner.receive(*videos(3))
    cursor = ada.get("?limit=1").json["next_cursor"]
    assert ada.get(f"?limit=1&cursor={cursor}").status == 200
    for refused in (
        bob.get(f"?cursor={cursor}"),
        desk.get(f"?cursor={cursor}"),
        ada.get(f"?state=ARCHIVED&cursor={cursor}"),
        ada.get(f"?provider=YOUTUBE&cursor={cursor}"),
        ada.get(f"?type=VIDEO&cursor={cursor}"),
    ):
        assert (refused.status, refused.json) == (400, {"error": "cursor is not valid"})


def test_a_filtered_page_may_be_short_and_yet_not_be_the_last(box, monkeypatch):
    monkeypatch.setattr(listing_store, "_LOOKED_AT", 2)
    monkeypatch.setattr(listing_store, "_REQUESTS", 2)
    wanted = [video(f"wanted {number}") for number in range(3)]
    items = [wanted[0], *(article(f"other {number}") for number in range(9)), wanted[1], wanted[2]]
    box.receive(*items)
    pages = box.pages("provider=YOUTUBE&limit=2")
    assert pages == [[wanted[2].id, wanted[1].id], [], [wanted[0].id]]


def test_a_full_filtered_page_goes_on_where_it_ended(box, monkeypatch):
    monkeypatch.setattr(listing_store, "_LOOKED_AT", 3)
    ids = box.receive(*videos(5))[::-1]
    assert box.pages("provider=YOUTUBE&limit=2")[:2] == [ids[:2], ids[2:4]]


def test_owners_share_an_item_and_nothing_else(desk, ada, bob):
    desk.receive(video())
    ada.receive(video())
    ada.act(video().id, "archive")
    ada.write(video().id, {"note": "Hers"})
    assert [(entry["state"], entry["note"]) for entry in desk.entries()] == [("INBOX", None)]
    assert bob.get().json["items"] == []
    assert len(list(ItemRow.scan())) == 1


def test_an_entry_whose_item_is_gone_can_still_be_seen_and_dismissed(box):
    (id,) = box.receive(video())
    item_store.delete(item_store.find_versions([id])[id])
    (entry,) = box.entries()
    assert (entry["id"], entry["title"], entry["available"]) == (id, "", False)
    assert box.dismiss(id).status == 204


def test_a_stranger_gets_nothing(http, configure):
    configure(MEMBERS="open")
    assert http.get("/api/inbox").status == 401
    assert http.get("/admin/api/inbox").status == 401
    configure(MEMBERS="off")
    assert http.get("/api/inbox").status == 404

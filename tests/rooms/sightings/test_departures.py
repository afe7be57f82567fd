"""A member who leaves, and one who downloads what is stored about them."""

import json
from itertools import islice
from types import GeneratorType

import pytest

from chalicelib.campaigns.content import blocks
from chalicelib.inbox import offers, recalls
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK
from chalicelib.kernel.aws import tables
from chalicelib.media.store import PictureRow
from chalicelib.members import member_data
from chalicelib.members import service as members
from chalicelib.sightings import departures, jobs, store
from chalicelib.sightings.store import SightingRow
from tests.conftest import received
from tests.rooms.sightings.person import has_files, prepare_photos


def leave(person):
    members.close(person.id)


def visible(person):
    return list(store.list_all(person.id))


def test_everything_of_the_member_is_deleted_and_nothing_of_others(ada, bob, desk):
    for person in (ada, bob):
        for number in range(3):
            seen = person.see(f"Fox {number}", upload_id=person.upload())
            person.share(seen)
    prepare_photos()
    hers = [row.id for row in PictureRow.scan() if row.owner == ada.id]
    leave(ada)
    assert departures.forget(ada.id, lambda: True) is True
    assert visible(ada) == []
    assert len(visible(bob)) == 3
    assert bob.counts() == (3, 3)
    assert len(desk().json["items"]) == 3
    assert {PictureRow.get(id).state for id in hers} == {"deleted"}
    prepare_photos()
    assert not any(map(has_files, hers))
    assert all(item["photo_state"] == "ready" for item in bob.get().json["items"])


def test_it_is_the_usual_soft_deletion(ada, later):
    ada.see("Fox", "Park")
    leave(ada)
    departures.forget(ada.id, lambda: True)
    (row,) = SightingRow.scan()
    assert (row.owner, row.animal_name) == (f"{ada.id} deleted", "Fox")
    later(days=30)
    jobs.clean_up(lambda: True)
    (row,) = SightingRow.scan()
    assert (row.animal_name, row.location) == (None, None)
    assert row.deleted_at


@pytest.fixture
def many(ada):
    for number in range(60):
        ada.see(f"Fox {number}")
    leave(ada)


def test_it_goes_on_where_time_ended(ada, many):
    def once():
        turns = iter([True, False])
        return departures.forget(ada.id, lambda: next(turns))

    results = []
    while not results or not results[-1]:
        results.append(once())
    assert results == [False, False, False, True]
    assert visible(ada) == []
    assert len(list(store.list_deleted(ada.id))) == 60


def test_what_was_shared_leaves_the_publication_s_inbox_and_drafts(ada, bob, admin, monkeypatch):
    """More than fit into one transaction, all with photos and some of them dismissed."""
    monkeypatch.setattr(offers, "_SURELY_COMMITTED", 0)
    for number in range(30):
        ada.share(ada.see(f"Fox {number}", upload_id=ada.upload() if number % 2 else None), credit="A. L.")
    bob.share(bob.see("Owl"))
    prepare_photos()
    entries = admin.get("/admin/api/inbox?limit=100").json["items"]
    for entry in entries[5:10]:
        admin.delete(f"/admin/api/inbox/{entry['id']}")
    ids = [entry["id"] for entry in entries[:5]]
    body = {"sections": [{"ids": ids}]}
    draft = admin.post("/admin/api/inbox/compose", json=body).json
    assert len(blocks.items(draft["body"])) == 5
    leave(ada)
    assert departures.forget(ada.id, lambda: True) is True
    assert [entry["title"] for entry in admin.get("/admin/api/inbox?state=ALL").json["items"]] == ["Owl"]
    assert [row.title for row in ItemRow.scan()] == ["Owl"]
    assert {row.item_id for row in EntryRow.scan() if row.owner == DESK} == {bob_entry(admin)}
    messages = [message for message in received("feed") if message.get("kind") == offers.RECALL]
    assert {id for message in messages for id in message["items"]} >= set(ids) - {bob_entry(admin)}
    for message in messages:
        assert set(message) == {"kind", "items"}
        recalls.handle(message)
    after = admin.get(f"/admin/api/campaigns/{draft['id']}").json
    assert [item.title for item in blocks.items(after["body"])] == ["Owl"]
    assert "taken out" in after["notice"]


def bob_entry(admin):
    (entry,) = admin.get("/admin/api/inbox").json["items"]
    return entry["id"]


def test_without_time_nothing_is_done(ada, many):
    assert departures.forget(ada.id, lambda: False) is False
    assert len(visible(ada)) == 60


def test_it_goes_on_after_a_crash(ada, many, monkeypatch):
    transact, turns = tables.transact, iter(range(10))

    def crash(*writes):
        transact(*writes)
        if next(turns) == 1:
            raise RuntimeError

    monkeypatch.setattr(tables, "transact", crash)
    with pytest.raises(RuntimeError):
        departures.forget(ada.id, lambda: True)
    assert len(visible(ada)) == 10
    assert departures.forget(ada.id, lambda: True) is True
    assert visible(ada) == []


def test_a_photo_is_erased_even_if_the_worker_died_before_saying_so(ada, monkeypatch, later):
    from chalicelib.media import jobs as media_jobs
    from chalicelib.media import service as media

    ada.see(upload_id=ada.upload())
    prepare_photos()
    (picture,) = PictureRow.scan()
    leave(ada)

    def die(_):
        raise RuntimeError

    with monkeypatch.context() as dying:
        dying.setattr(media, "erase_soon", die)
        with pytest.raises(RuntimeError):
            departures.forget(ada.id, lambda: True)
    assert departures.forget(ada.id, lambda: True) is True
    assert has_files(picture.id)
    later(minutes=1)
    media_jobs.clean_up(lambda: True)
    assert not has_files(picture.id)


def test_twice_is_as_good_as_once(ada, many):
    assert departures.forget(ada.id, lambda: True) is True
    assert departures.forget(ada.id, lambda: True) is True
    assert departures.forget("nobody", lambda: True) is True


def test_an_edit_at_that_moment_is_found_by_the_next_look(ada, monkeypatch):
    from chalicelib.sightings import service
    from chalicelib.sightings.model import Changes

    seen = ada.see()
    leave(ada)
    look, edits = store.list_page, iter([seen])

    def edit_meanwhile(*args):
        found = look(*args)
        for sighting in edits:
            id = found[0][0].id
            service.change(ada.id, id, Changes(sighting["updated_at"], animal_name="Late"))
        return found

    monkeypatch.setattr(store, "list_page", edit_meanwhile)
    assert departures.forget(ada.id, lambda: True) is True
    (row,) = SightingRow.scan()
    assert (row.owner, row.animal_name) == (f"{ada.id} deleted", "Late")


def test_after_leaving_nothing_new_can_be_written_down(ada):
    """A request that had passed the session's check before the member left."""
    from chalicelib.kernel.errors import Unauthenticated
    from chalicelib.sightings import service

    seen = ada.see()
    member = members.find(ada.id)
    leave(ada)
    calls = [
        lambda: service.create(ada.id, "Fox", "Park"),
        lambda: service.share(member, visible(ada)[0].id, "", ""),
        lambda: service.delete(ada.id, visible(ada)[0].id),
    ]
    for call in calls:
        with pytest.raises(Unauthenticated, match="Authentication required"):
            call()
    assert [sighting.id.replace("-", "") for sighting in visible(ada)] == [seen["id"]]


def test_the_download_has_every_sighting_and_no_link(ada, bob):
    bob.see("His")
    plain = ada.see("Fox", "Park")
    pictured = ada.see("Owl", "Forest", upload_id=ada.upload())
    ada.share(pictured, shown_location="Town", credit="A.")
    gone = ada.see("Badger", "Den")
    ada.delete(gone)
    prepare_photos()
    about = departures.about(ada.id)
    assert isinstance(about, GeneratorType)
    newest, oldest, deleted = about
    for found, written in ((newest, pictured), (oldest, plain)):
        read = ada.read(written)
        del read["photo_url"]
        assert found == read | {"deleted_at": None}
    assert newest["photo_state"] == "ready"
    assert newest["shared"]["shown_location"] == "Town"
    assert (deleted["id"], deleted["animal_name"], deleted["location"]) == (gone["id"], "Badger", "Den")
    assert deleted["deleted_at"] >= deleted["created_at"]
    text = json.dumps([newest, oldest, deleted])
    assert "X-Amz" not in text
    assert "His" not in text


def test_the_download_shows_a_scrubbed_one_without_its_text(ada, later):
    ada.delete(ada.see())
    later(days=30)
    jobs.clean_up(lambda: True)
    (deleted,) = departures.about(ada.id)
    assert (deleted["animal_name"], deleted["location"]) == (None, None)


def test_the_download_is_read_piece_by_piece(ada, monkeypatch):
    monkeypatch.setattr(departures, "_READ_TOGETHER", 2)
    written = [ada.see(f"Fox {number}")["id"] for number in range(5)]
    assert [found["id"] for found in islice(departures.about(ada.id), 3)] == written[:1:-1]
    assert [found["id"] for found in departures.about(ada.id)] == written[::-1]


def test_members_know_this_room(ada):
    seen = ada.see()
    import app  # noqa: F401 - registers it

    stored = {room: list(all) for room, all in member_data.about(ada.id)}
    assert [found["id"] for found in stored["sightings"]] == [seen["id"]]
    leave(ada)
    assert member_data.forget(ada.id, lambda: True) is True
    assert visible(ada) == []

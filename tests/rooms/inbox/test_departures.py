"""A member who leaves, and one who downloads what is stored about them."""

import json
from types import GeneratorType

import pytest

from chalicelib.inbox import departures, entry_store, item_store, service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import DESK, State
from tests.rooms.inbox.things import NOON, article, receive, states, to, video

pytestmark = pytest.mark.usefixtures("aws")


def always():
    return True


def test_everything_of_the_member_is_deleted_and_nothing_of_others():
    shared, kept, seen = receive("ada", video("shared"), video("kept"), video("seen"))
    service.deliver(video("shared"), to(DESK, "bob"), NOON)
    service.bookmark("ada", kept)
    service.set_note("ada", kept, "Private")
    service.dismiss("ada", seen)
    assert departures.forget("ada", always) is True
    assert states("ada") == {}
    assert states() == states("bob") == {shared: "INBOX"}
    assert service.find_items([shared, kept, seen]) == {shared: video("shared")}
    assert departures.forget("ada", always) is True


def test_it_goes_on_where_time_ended(monkeypatch):
    monkeypatch.setattr(departures, "_TOGETHER", 4)
    receive("ada", *(video(f"number {number}") for number in range(10)))

    def once():
        turns = iter([True, False])
        return departures.forget("ada", lambda: next(turns))

    assert departures.forget("ada", lambda: False) is False
    assert len(states("ada")) == 10
    assert [once() for _ in range(4)] == [False, False, False, True]
    assert not list(EntryRow.scan())


@pytest.mark.parametrize("step", [(item_store, "delete"), (entry_store, "delete_all")])
def test_it_goes_on_after_a_crash(monkeypatch, step):
    receive("ada", video("a"), video("b"))

    def crash(*_):
        raise RuntimeError

    with monkeypatch.context() as crashing:
        crashing.setattr(*step, crash)
        with pytest.raises(RuntimeError):
            departures.forget("ada", always)
    assert departures.forget("ada", always) is True
    assert not list(EntryRow.scan())
    assert service.find_items([video("a").id, video("b").id]) == {}


def test_the_download_has_every_entry_and_what_was_seen():
    kept, noted, seen = receive("ada", video("kept"), article("noted"), video("seen"))
    receive("bob", video("his"))
    service.archive("ada", kept)
    service.set_note("ada", noted, "For later")
    service.dismiss("ada", seen)
    about = departures.about("ada")
    assert isinstance(about, GeneratorType)
    found = {one["id"]: one for one in about}
    assert set(found) == {kept, noted, seen}
    assert (found[kept]["state"], found[kept]["title"]) == ("ARCHIVED", "The kept video")
    assert found[noted]["note"] == "For later"
    assert found[seen] == {
        "id": seen,
        "state": None,
        "provider": "YOUTUBE",
        "content_type": "VIDEO",
        "received_at": 1794830402000,
        "words": "the seen video\nthe channel",
    }
    assert "his" not in json.dumps(found)


def test_the_download_is_read_piece_by_piece(monkeypatch):
    monkeypatch.setattr(departures, "_TOGETHER", 2)
    ids = receive("ada", *(video(f"number {number}") for number in range(5)), state=State.BOOKMARKED)
    assert sorted(one["id"] for one in departures.about("ada")) == sorted(ids)
    assert list(departures.about("nobody")) == []

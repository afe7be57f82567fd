"""The number beside *Inbox* in the navigation of every page: the desk's, and a member's own."""

import re

from chalicelib.inbox import listing_store, waiting
from chalicelib.kernel.errors import Unavailable
from tests.rooms.inbox.test_pages import path, press
from tests.rooms.inbox.things import video
from tests.rooms.inbox.web import page as html


def shown(box, elsewhere=False):
    """What the navigation says, on the list or on a page of another room."""
    other = "/admin/subscribers" if box.owner == "desk" else "/account"
    answer = box.ask("GET", other if elsewhere else path(box))
    assert answer.status == 200
    found = re.search(r"<span data-waiting>([^<]+)</span>", answer.text)
    return found[1] if found else ""


def test_the_navigation_says_how_many_wait(box):
    box.receive(video("first"), video("second"))
    assert shown(box) == shown(box, elsewhere=True) == "2"


def test_nothing_is_said_of_an_empty_inbox(box):
    assert shown(box) == ""


def test_it_is_counted_anew_after_half_a_minute(box, later):
    assert shown(box, elsewhere=True) == ""
    box.receive(video("first"))
    assert shown(box, elsewhere=True) == ""
    later(seconds=31)
    assert shown(box, elsewhere=True) == "1"


def test_beside_the_list_it_is_always_that_of_the_list(box):
    assert shown(box) == ""
    box.receive(video("first"))
    assert shown(box) == "1"


def test_whoever_moves_something_sees_it_at_once(box, web):
    ids = box.receive(*(video(str(number)) for number in range(3)))
    assert shown(box) == "3"
    press(box, archive=ids[0])
    assert shown(box) == "2"
    box.ask("POST", f"{path(box)}/{ids[1]}", form={"archive": "yes"}, Origin="https://news.example.org")
    assert shown(box) == "1"
    web.says["https://example.org/frost"] = html("Frost")
    form = {"text": "https://example.org/frost", "note": "", "section": ""}
    box.ask("POST", f"{path(box)}/add", form=form, Origin="https://news.example.org")
    assert shown(box) == "2"


def test_many_are_not_all_counted(box, monkeypatch):
    monkeypatch.setattr(waiting, "MOST", 2)
    box.receive(*(video(str(number)) for number in range(2)))
    assert shown(box) == "2"
    waiting.forget(box.owner)
    box.receive(video("further"))
    assert shown(box) == "2+"


def test_everybody_has_their_own_number(ada, bob):
    ada.receive(video("first"))
    assert (shown(ada), shown(bob)) == ("1", "")


def test_no_page_fails_because_they_cannot_be_counted(box, monkeypatch):
    def fail(*asked):
        raise Unavailable("Busy")

    monkeypatch.setattr(listing_store, "count", fail)
    assert shown(box, elsewhere=True) == ""


def test_a_page_counts_with_one_request_and_the_next_one_with_none(ada, monkeypatch):
    count, asked = listing_store.count, []
    monkeypatch.setattr(listing_store, "count", lambda *wanted: asked.append(wanted) or count(*wanted))
    for _ in range(3):
        shown(ada, elsewhere=True)
    assert len(asked) == 1

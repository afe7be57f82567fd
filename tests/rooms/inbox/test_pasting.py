"""Many links at once: found in whatever was pasted, read side by side, in the time of a request."""

import threading
import time
from types import SimpleNamespace

import pytest

from chalicelib.inbox import clipping, links, page_reading
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import ContentType, Item, Provider, Trust
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.inbox.things import events, receive
from tests.rooms.inbox.web import page


def url(name: object) -> str:
    return f"https://example.org/{name}"


def identified(link: str) -> str:
    return links.item_id(links.identify(link))


@pytest.fixture
def site(web):
    for number in range(60):
        web.says[url(number)] = page(f"Number {number}")
    return web


def test_every_line_becomes_an_entry(box, site):
    answer = box.paste(f"{url(1)}\n{url(2)}\r\n\r\n  {url(3)}  ")
    assert answer.status == 200
    results = [{"url": url(number), "ok": True, "id": identified(url(number))} for number in (1, 2, 3)]
    assert answer.json == {"results": results}
    assert {entry["title"] for entry in box.entries()} == {"Number 1", "Number 2", "Number 3"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://example.org/1, and https://example.org/2.", [url(1), url(2)]),
        ("[A page](https://example.org/1) and <https://example.org/2>", [url(1), url(2)]),
        ("(https://example.org/1) “https://example.org/2”!", [url(1), url(2)]),
        ("https://en.wikipedia.org/wiki/Frost_(weather)", ["https://en.wikipedia.org/wiki/Frost_(weather)"]),
        ("(see https://en.wikipedia.org/wiki/Frost_(weather))", ["https://en.wikipedia.org/wiki/Frost_(weather)"]),
        ("* example.org/1\nexample.org/2", ["example.org/1", "example.org/2"]),
        ("www.example.org/1 is it", ["www.example.org/1"]),
        ("- HTTPS://example.org/1?a=b&c=d#e", ["HTTPS://example.org/1?a=b&c=d#e"]),
        ('<a href="https://example.org/1">One</a>', [url(1)]),
        ("https://example.org/1\nhttps://example.org/1", [url(1)]),
        ("https://example.org/1?utm_source=a\nhttps://example.org/1", [f"{url(1)}?utm_source=a", url(1)]),
        ("ada@example.org\nhttps://example.org/1", [url(1)]),
        ("v1.2\nhttps://example.org/1", [url(1)]),
    ],
)
def test_links_are_found_in_any_text(text, found):
    assert list(dict.fromkeys(clipping.find_links(text))) == found


@pytest.mark.parametrize("text", ["", "No links here.", "ftp://example.org/x", "\n\n", "mailto:ada@example.org"])
def test_without_links_there_is_nothing_to_do(box, text):
    answer = box.paste(text)
    assert (answer.status, answer.json) == (400, {"error": "text must contain 1 to 50 links"})


@pytest.mark.parametrize(("body", "reason"), [(None, "text must contain 1 to 50 links"), (7, "text must be text")])
def test_what_is_no_text(box, body, reason):
    answer = box.paste(body)
    assert (answer.status, answer.json) == (400, {"error": reason})


def test_fifty_at_once_and_not_one_more(ada, site):
    fifty = "\n".join(url(number) for number in range(50))
    answer = ada.paste(f"{fifty}\n{url(50)}")
    assert (answer.status, answer.json) == (400, {"error": "text must contain 1 to 50 links"})
    assert not site.asked
    assert all(result["ok"] for result in ada.paste(fifty).json["results"])
    assert len(list(EntryRow.scan())) == 50


def test_one_that_is_refused_does_not_keep_the_others_from_being_saved(box, site):
    site.says[url("inside")] = FetchFailed("refused", "the host is not on the public internet")
    site.says[url("down")] = FetchFailed("timeout", "no complete response in time")
    results = box.paste(f"{url('inside')} {url(1)} {url('down')} https://a:b@example.org/x http://").json["results"]
    assert [(result["url"], result["ok"], result.get("error")) for result in results] == [
        (url("inside"), False, "This link cannot be saved: the host is not on the public internet"),
        (url(1), True, None),
        (url("down"), True, None),
        ("https://a:b@example.org/x", False, "url must be an http or https link"),
    ]
    problems = {entry["title"]: entry["problem"] for entry in box.entries()}
    assert problems == {
        "Number 1": None,
        "example.org/down": "The page could not be read: no complete response in time",
    }


def test_what_is_there_is_answered_and_what_is_known_is_not_read(box, site):
    id = identified(url(1))
    told = {"creator_id": "feed", "trust": Trust.READ}
    receive(box.owner, Item(id, Provider.RSS, "1", ContentType.ARTICLE, "Known", url(1), clock.now(), **told))
    results = box.paste(f"{url(1)} {url(2)} https://www.example.org/2/").json["results"]
    assert [result["id"] for result in results] == [id, identified(url(2)), identified(url(2))]
    assert url(1) not in site.asked
    assert len(box.entries()) == 2


def test_the_desk_s_are_told_one_by_one(desk, site):
    desk.paste(f"{url(1)} {url(2)}")
    assert len(events()) == 2


def test_pages_are_read_side_by_side(ada, site, monkeypatch):
    together, most, lock = 0, 0, threading.Lock()

    def slow():
        nonlocal together, most
        with lock:
            together += 1
            most = max(most, together)
        time.sleep(0.05)
        with lock:
            together -= 1
        return page("Slow")

    site.says |= {url(number): slow for number in range(30)}
    started = time.monotonic()
    ada.paste("\n".join(url(number) for number in range(30)))
    assert 2 <= most <= 10
    assert time.monotonic() - started < 10


def test_what_there_is_no_time_for_becomes_an_entry_that_says_so(box, site, monkeypatch):
    monkeypatch.setattr(page_reading, "_SECONDS_ALL", 10)
    monkeypatch.setattr(page_reading, "_LEAST_SECONDS", 8)
    monkeypatch.setattr(page_reading, "_TOGETHER", 2)
    watch, both = [0.0], threading.Barrier(2)
    monkeypatch.setattr(page_reading, "time", SimpleNamespace(monotonic=lambda: watch[0]))

    def slow():
        both.wait(10)
        watch[0] = 5.0
        return page("Slow")

    site.says |= {url(number): slow for number in range(6)}
    results = box.paste("\n".join(url(number) for number in range(6))).json["results"]
    assert all(result["ok"] for result in results)
    entries = box.entries()
    assert sorted(entry["problem"] or "" for entry in entries) == ["", "", *["Not read yet"] * 4]
    late = next(entry for entry in entries if entry["problem"])
    assert late["title"].startswith("example.org/")
    site.says[late["canonical_url"]] = page("In time")
    assert box.clip(late["canonical_url"]).json["title"] == "In time"


def test_one_that_never_answers_is_not_waited_for(box, site, monkeypatch):
    monkeypatch.setattr(page_reading, "_SECONDS_ALL", 1.5)
    monkeypatch.setattr(page_reading, "_LEAST_SECONDS", 0.2)
    hanging = threading.Event()
    site.says[url("hangs")] = lambda: hanging.wait(20) and page()
    started = time.monotonic()
    try:
        results = box.paste(f"{url('hangs')} {url(1)}").json["results"]
    finally:
        hanging.set()
    assert time.monotonic() - started < 15
    assert all(result["ok"] for result in results)
    assert {entry["problem"] for entry in box.entries()} == {None, "Not read yet"}


def test_the_time_for_all_fits_into_a_request():
    """29 seconds, of which storing fifty entries takes its part."""
    assert page_reading._SECONDS_ALL + page_reading._LEAST_SECONDS < 20
    assert page_reading._SECONDS_EACH < page_reading._SECONDS_ALL


def test_each_gets_no_more_time_than_is_left(box, site):
    box.paste(f"{url(1)} {url(2)}")
    assert {bounds.seconds for bounds in site.bounds} == {5.0}


def test_one_that_cannot_be_stored_says_so(box, site, monkeypatch):
    deliver = clipping.delivery.deliver

    def fail_once(item, *args):
        if item.title == "Number 1":
            raise Unavailable("The database is busy")
        return deliver(item, *args)

    monkeypatch.setattr(clipping.delivery, "deliver", fail_once)
    first, second = box.paste(f"{url(1)} {url(2)}").json["results"]
    assert first == {"url": url(1), "ok": False, "error": "The database is busy"}
    assert second["ok"] is True


@pytest.mark.usefixtures("still")
def test_ten_pastes_an_hour(ada, bob, site):
    for number in range(10):
        assert ada.paste(url(number)).status == 200
    assert ada.paste(url(11)).status == 429
    assert ada.clip(url(11)).status == 201
    assert bob.paste(url(11)).status == 200

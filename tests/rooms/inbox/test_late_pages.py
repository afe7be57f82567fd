"""A page that there was no time for when it was pasted is read by the worker, a little later."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

import app
from chalicelib.inbox import links, page_reading, service
from chalicelib.inbox.model import DESK, Trust
from chalicelib.kernel.aws import queues
from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.inbox.web import page

FROST = "https://example.org/frost"
FROST_ID = links.item_id("example.org/frost")


class Queue:
    """What was sent, with its delay."""

    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, Any], int]] = []

    def send(self, queue: str, message: dict[str, Any], delay: int = 0) -> None:
        assert queue == "feed"
        self.sent.append((message, delay))

    def work(self) -> None:
        """Everything that is there now, as the function takes it."""
        taken, self.sent = self.sent, []
        for message, _ in taken:
            record = {"messageId": "1", "body": json.dumps(message)}
            context = SimpleNamespace(get_remaining_time_in_millis=lambda: 60_000)
            assert app.poll_sources({"Records": [record]}, context) == {"batchItemFailures": []}


@pytest.fixture
def queue(monkeypatch):
    found = Queue()
    monkeypatch.setattr(queues, "send", found.send)
    return found


@pytest.fixture
def in_a_hurry(monkeypatch, queue, web):
    """No time to read what is pasted."""
    with monkeypatch.context() as patch:
        patch.setattr(page_reading, "_SECONDS_ALL", 0.0)
        patch.setattr(page_reading, "_LEAST_SECONDS", 0.5)
        yield web


def paste(box: Any) -> None:
    assert box.paste(FROST).json["results"] == [{"url": FROST, "ok": True, "id": FROST_ID}]
    assert box.entries()[0]["problem"] == "Not read yet"


def test_it_is_read_by_the_worker(box, queue, in_a_hurry):
    paste(box)
    assert queue.sent == [({"kind": "read_page", "item": FROST_ID, "tries": 0}, 15)]
    in_a_hurry.says[FROST] = page("Frost at last", '<meta property="og:image" content="/frost.jpg">')
    queue.work()
    (found,) = box.entries("?q=frost+last")
    assert (found["title"], found["problem"], found["canonical_url"]) == ("Frost at last", None, FROST)
    assert [message for message, _ in queue.sent] == [{"kind": "copy", "item": FROST_ID}]
    assert service.find_item(FROST_ID).trust is (Trust.DESK_READ if box.owner == DESK else Trust.READ)


def test_one_that_does_not_answer_is_tried_three_times(box, queue, in_a_hurry):
    paste(box)
    in_a_hurry.says[FROST] = (503, b"")
    for tries in (1, 2):
        queue.work()
        assert queue.sent == [({"kind": "read_page", "item": FROST_ID, "tries": tries}, 900)]
        assert box.entries()[0]["problem"] == "The page could not be read: the site answered 503"
    queue.work()
    assert queue.sent == []
    assert len(in_a_hurry.asked) == 3


def test_one_that_we_will_not_connect_to_says_so(box, queue, in_a_hurry):
    paste(box)
    in_a_hurry.says[FROST] = FetchFailed("refused", "the host is not on the public internet")
    queue.work()
    problem = "This link cannot be saved: the host is not on the public internet"
    assert box.entries()[0]["problem"] == problem


def test_wherever_it_leads_the_entry_is_the_same(box, queue, in_a_hurry):
    paste(box)
    in_a_hurry.moved[FROST] = "https://example.org/2026/frost"
    in_a_hurry.says["https://example.org/2026/frost"] = page("Frost, moved")
    queue.work()
    (found,) = box.entries()
    assert (found["id"], found["title"], found["canonical_url"]) == (FROST_ID, "Frost, moved", FROST)


def test_one_that_was_read_meanwhile_is_not_read_again(box, queue, in_a_hurry, monkeypatch):
    paste(box)
    in_a_hurry.says[FROST] = page("Frost")
    box.clip(FROST)
    queue.work()
    assert len(in_a_hurry.asked) == 1


def test_one_that_is_gone_is_left(queue, in_a_hurry, ada):
    queue.sent.append(({"kind": "read_page", "item": "0" * 32, "tries": 0}, 15))
    queue.work()
    assert in_a_hurry.asked == queue.sent == []

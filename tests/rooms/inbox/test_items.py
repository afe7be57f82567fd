"""Items: stored once, brought up to date, refreshed or deleted within their provider's time."""

from datetime import timedelta

import boto3
import pytest
from msgspec.structs import replace

from chalicelib.inbox import listing_store, model, service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK, ContentType, Item, Provider, State
from tests.rooms.inbox.things import NOON, article, receive, to, video

pytestmark = pytest.mark.usefixtures("aws")

HOUR = timedelta(hours=1)


def store(item: Item) -> None:
    """As a poll does that finds it, and nobody to give it to."""
    service.deliver(item, [], NOON)


def test_an_item_is_found_as_it_was_stored():
    bare = Item(
        model.item_id(Provider.SPOTIFY, "x"),
        Provider.SPOTIFY,
        "x",
        ContentType.PODCAST,
        "Title",
        "https://x.example",
        NOON,
    )
    for item in (video(), article(), bare, replace(video("gone"), available=False, duration_seconds=0)):
        store(item)
        assert service.find_item(item.id) == item
    assert service.find_item("0" * 32) is None


def test_many_are_found_at_once():
    items = [video(f"number {number}") for number in range(120)]
    for item in items:
        store(item)
    assert service.find_items([item.id for item in items] + ["0" * 32]) == {item.id: item for item in items}
    assert service.find_items([]) == {}


def test_the_same_item_has_the_same_id_whoever_finds_it():
    assert model.item_id(Provider.RSS, "1") == model.item_id(Provider.RSS, "1")
    assert len({model.item_id(provider, id) for provider in Provider for id in ("1", "2", "\ud800")}) == 15


def test_nothing_older_is_written_over_newer_word():
    newer = replace(video(), title="Newer", refreshed_at=NOON + HOUR)
    store(newer)
    store(video())
    assert service.refresh_item(video()) is False
    assert service.find_item(video().id) == newer


def test_what_the_provider_no_longer_tells_is_removed():
    store(video())
    bare = replace(video(), creator="", image="", excerpt="", duration_seconds=None, published_at=None)
    store(bare)
    assert service.find_item(video().id) == bare


def test_storing_keeps_what_else_is_in_the_row():
    store(video())
    table = boto3.resource("dynamodb").Table(ItemRow.Meta.table_name)
    change = {"UpdateExpression": "SET picture_id = :id", "ExpressionAttributeValues": {":id": "picture"}}
    table.update_item(Key={"id": video().id}, **change)
    store(replace(video(), title="Second", refreshed_at=NOON + HOUR))
    stored = table.get_item(Key={"id": video().id})["Item"]
    assert (stored["title"], stored["picture_id"]) == ("Second", "picture")


def test_refreshing_does_not_bring_back_what_was_deleted_or_stripped():
    newer = replace(video(), refreshed_at=NOON + HOUR)
    assert service.refresh_item(newer) is False
    assert not list(ItemRow.scan())
    store(video())
    service.strip_item(video().id)
    assert service.refresh_item(newer) is False
    assert service.find_item(video().id).excerpt == ""


def test_refreshing_makes_it_young_and_available_again():
    store(replace(video(), available=False))
    assert service.refresh_item(replace(video(), refreshed_at=NOON + HOUR)) is True
    assert service.find_item(video().id).available is True
    assert service.list_stale(Provider.YOUTUBE, NOON + HOUR, 10) == []
    store(article())
    assert service.refresh_item(replace(article(), title="Edited")) is True
    assert service.find_item(article().id).title == "Edited"


def test_the_oldest_are_refreshed_first():
    items = [replace(video(f"number {number}"), refreshed_at=NOON - number * HOUR) for number in range(5)]
    for item in (*items, replace(article(), refreshed_at=NOON - 99 * HOUR)):
        store(item)
    assert service.list_stale(Provider.YOUTUBE, NOON - HOUR, 2) == [items[4], items[3]]
    assert service.list_stale(Provider.YOUTUBE, NOON - HOUR, 100) == [items[4], items[3], items[2]]
    assert service.list_stale(Provider.RSS, NOON, 100) == []


def test_an_item_that_nobody_has_is_deleted():
    service.deliver(video(), to(DESK, "ada"), NOON)
    assert service.forget_item_if_unheld(video().id) is False
    service.dismiss(DESK, video().id)
    assert service.forget_item_if_unheld(video().id) is False
    service.archive("ada", video().id)
    assert service.forget_item_if_unheld(video().id) is False
    service.dismiss("ada", video().id)
    assert service.forget_item_if_unheld(video().id) is True
    assert service.find_item(video().id) is None
    assert service.forget_item_if_unheld(video().id) is False
    assert len(list(EntryRow.scan())) == 2


@pytest.mark.parametrize("told_at", [NOON - HOUR, NOON, NOON + HOUR])
def test_who_receives_it_at_that_moment_keeps_it(monkeypatch, told_at):
    store(video())
    held = listing_store.is_held

    def deliver_meanwhile(id):
        answer = held(id)
        service.deliver(replace(video(), refreshed_at=told_at), to("ada"), NOON)
        return answer

    monkeypatch.setattr(listing_store, "is_held", deliver_meanwhile)
    assert service.forget_item_if_unheld(video().id) is False
    assert service.find_item(video().id)


def test_what_can_no_longer_be_refreshed_keeps_title_and_link():
    receive(DESK, video(), state=State.BOOKMARKED)
    assert service.strip_item(video().id) is True
    left = service.find_item(video().id)
    assert left == replace(video(), creator="", image="", excerpt="", duration_seconds=None)
    assert service.list_stale(Provider.YOUTUBE, NOON + HOUR, 10) == []
    assert service.strip_item("0" * 32) is False

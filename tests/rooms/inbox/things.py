"""Items and follows for tests, and what is stored of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.events.store import EventRow
from chalicelib.inbox import entry_store, model, service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import DESK, ContentType, Entry, Item, Provider, Recipient, State, Trust

NOON = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
FOLLOW = "follow-1"


def video(name: str = "first", **changes: Any) -> Item:
    fields: dict[str, Any] = {
        "id": model.item_id(Provider.YOUTUBE, name),
        "provider": Provider.YOUTUBE,
        "provider_item_id": name,
        "content_type": ContentType.VIDEO,
        "title": f"The {name} video",
        "canonical_url": f"https://www.youtube.com/watch?v={name}",
        "refreshed_at": NOON,
        "creator": "The Channel",
        "creator_id": "creator-1",
        "image": f"https://i.ytimg.com/vi/{name}/hqdefault.jpg",
        "excerpt": "What it is about.",
        "duration_seconds": 754,
        "published_at": NOON - timedelta(hours=1),
        "trust": Trust.PROVIDER,
    }
    return Item(**fields | changes)


def article(name: str = "post", **changes: Any) -> Item:
    """As the feed of its own site tells it."""
    link = f"https://blog.example.org/{name}"
    id = model.item_id(Provider.RSS, name)
    fields: dict[str, Any] = {"refreshed_at": NOON, "trust": Trust.READ} | changes
    return Item(id, Provider.RSS, name, ContentType.ARTICLE, f"The {name}", link, **fields)


def to(*owners: str, follow_id: str = FOLLOW, state: State = State.INBOX) -> list[Recipient]:
    return [Recipient(owner, follow_id, state) for owner in owners]


def receive(
    owner: str, *items: Item, follow_id: str = FOLLOW, state: State = State.INBOX, at: datetime = NOON
) -> list[str]:
    """Deliver them a second apart, so that the last is the newest; their ids."""
    for number, item in enumerate(items):
        service.deliver(item, to(owner, follow_id=follow_id, state=state), at + timedelta(seconds=number))
    return [item.id for item in items]


def entry(owner: str, id: str) -> Entry | None:
    return entry_store.find(owner, id)


def states(owner: str = DESK) -> dict[str, str | None]:
    """Of everything the owner has ever received; None if it is merely seen."""
    return {row.item_id: row.state for row in EntryRow.query(owner)}


def events() -> list[Any]:
    return [row for row in EventRow.scan() if row.type == "ITEM_RECEIVED"]


def row(owner: str, id: str) -> set[str]:
    """The names of what a row has."""
    return set(EntryRow.get(owner, id).serialize())

"""Items in DynamoDB, one row each, whoever has them.

The words are those of the most trusted source (`model.Trust`), and nothing older is written over what it told later.
`stale` is there only while the row has details that the provider wants refreshed or deleted. `version` grows with
every write, also when the item is delivered unchanged: whoever takes something away because nobody has it must not
have missed that.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from msgspec import Struct
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.inbox import model
from chalicelib.inbox.item_row_store import TOLD_BY_ANYBODY, ItemRow, to_actions, to_item
from chalicelib.inbox.model import Item, Provider, Trust
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Update, Write
from chalicelib.media import service as media

_DETAILS = (
    "creator",
    "image",
    "excerpt",
    "duration_seconds",
    "stale",
    "picture",
    "picture_of",
    "picture_tries",
)


class Version(Struct, frozen=True):
    """How a row was when it was read. With `has_details` there is more to it than title and link. `picture` is the
    public copy it used."""

    id: str
    number: int
    has_details: bool
    picture: str = ""


def find(id: str) -> Item | None:
    row = tables.get(ItemRow, id)
    return to_item(row) if row else None


def find_many(ids: Iterable[str]) -> dict[str, Item]:
    """By id; those that are stored."""
    return {row.id: to_item(row) for row in tables.get_many(ItemRow, ids)}


def find_versions(ids: Iterable[str]) -> dict[str, Version]:
    """By id; of those that are stored."""
    return {row.id: _version(row) for row in tables.get_many(ItemRow, ids)}


def list_stale(provider: Provider, before: datetime, limit: int) -> Iterator[str]:
    """Ids of items whose provider told about them before that moment, oldest first."""
    older = ItemRow.refreshed_at < clock.text(before)
    for row in tables.query(ItemRow, provider.value, index_name="by_age", range_key_condition=older, limit=limit):
        yield row.id


def save_write(item: Item) -> Update:
    """Holds if nothing is stored, or what `model.replaces` says is to be replaced."""
    is_newer = ItemRow.refreshed_at <= clock.text(item.refreshed_at)
    same = ItemRow.creator_id == item.creator_id if item.creator_id else ItemRow.creator_id.does_not_exist()
    may = _is_below(item.trust) | (_is_below(item.trust + 1) & is_newer & (same | ItemRow.problem.exists()))
    return Update(ItemRow(item.id), to_actions(item), ItemRow.id.does_not_exist() | may, show=True)


def replace_write(item: Item) -> Update:
    """Whatever is stored: for who alone knows what the item is."""
    return Update(ItemRow(item.id), to_actions(item))


def delete_write(id: str) -> Delete:
    """Of an item without a public copy."""
    return Delete(ItemRow(id))


def touch_write(id: str) -> Update:
    """For who delivers an item as it is stored."""
    return Update(ItemRow(id), [ItemRow.version.add(1)], ItemRow.id.exists())


def save(item: Item) -> bool:
    """Says whether it was written: not if something later is stored, or another source is trusted as much or more."""
    write = save_write(item)
    return _update(item.id, write.actions, write.condition)


def refresh(item: Item) -> ItemRow | None:
    """Only if it is still stored with its details: then as it is stored now."""
    has_details = ItemRow.stale.exists() if item.provider in model.PERISHABLE else ItemRow.id.exists()
    is_newer = ItemRow.refreshed_at <= clock.text(item.refreshed_at)
    with suppress(Stale):
        return tables.update(ItemRow(item.id), to_actions(item), has_details & is_newer & _is_below(item.trust + 1))
    return None


def mark_unavailable(id: str, now: datetime) -> bool:
    """Says whether there is such an item."""
    actions = [ItemRow.unavailable.set(True), ItemRow.refreshed_at.set(clock.text(now)), ItemRow.version.add(1)]
    return _update(id, actions, ItemRow.id.exists())


def strip(version: Version) -> bool:
    """Leave title and link. Only if nothing was written since; says whether it was done."""
    actions = [*(getattr(ItemRow, name).remove() for name in _DETAILS), ItemRow.version.add(1)]
    is_unchanged = ItemRow.version == version.number
    if version.picture:
        return _release_picture(version, Update(ItemRow(version.id), actions, is_unchanged))
    return _update(version.id, actions, is_unchanged)


def delete(version: Version) -> bool:
    """Only if nothing was written since; says whether it was done."""
    is_unchanged = ItemRow.version == version.number
    if version.picture:
        return _release_picture(version, Delete(ItemRow(version.id), is_unchanged))
    with suppress(Stale):
        tables.delete(ItemRow(version.id), is_unchanged)
        return True
    return False


def _release_picture(version: Version, write: Write) -> bool:
    """Together with what takes it from the item, so that every copy knows how many use it."""
    with suppress(Stale):
        tables.transact(write, media.release_write(version.picture))
        return True
    return False


def _update(id: str, actions: Sequence[Action], condition: Condition | None) -> bool:
    with suppress(Stale):
        tables.update(ItemRow(id), actions, condition)
        return True
    return False


def _is_below(trust: int) -> Condition:
    """What was stored before rows had this is trusted as `item_row_store` says."""
    is_below: Condition = ItemRow.trust < trust
    is_old: Condition = ItemRow.trust.does_not_exist()
    if trust <= Trust.PROVIDER:
        is_old &= ItemRow.provider.is_in(*TOLD_BY_ANYBODY)
    either: Condition = is_below | is_old
    return either if trust > Trust.CLAIMED else is_below


def _version(row: ItemRow) -> Version:
    has_details = any(getattr(row, name) is not None for name in _DETAILS)
    return Version(row.id, int(row.version), has_details, row.picture or "")

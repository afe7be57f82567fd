"""The picture of an item: which public copy it is, of what it was made, and how often that has failed."""

import hashlib
from contextlib import suppress

from msgspec import Struct
from pynamodb.expressions.update import Action

from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Update, Write
from chalicelib.media import service as media

MOST_TRIES = 3


class Picturing(Struct, frozen=True):
    """`image` is where the source has the picture now, `name` the copy that is shown. `tries` have failed with this
    image. With `is_settled` there is nothing to do."""

    id: str
    image: str
    name: str
    tries: int
    is_settled: bool


def find(id: str) -> Picturing | None:
    row = tables.get(ItemRow, id)
    return _picturing(row) if row else None


def is_settled(row: ItemRow) -> bool:
    """The copy is that of the image there is now, or it cannot be made."""
    if not row.image:
        return not row.picture
    tried = int(row.picture_tries or 0) >= MOST_TRIES
    return row.picture_of == _mark(row.image) and (tried or bool(row.picture))


def show(seen: Picturing, name: str) -> None:
    """In place of the copy that was shown before. Raises `Stale` if the item has changed, or a copy is gone."""
    writes: list[Write] = [_show_write(seen, name)]
    if name != seen.name:
        writes += [media.use_write(name)] if name else []
        writes += [media.release_write(seen.name)] if seen.name else []
    tables.transact(*writes)


def note_failure(seen: Picturing, tries: int) -> None:
    """Unless somebody else has noted it, or the item has changed. After the last try, the copy of an earlier image is
    shown no longer."""
    actions: list[Action] = [ItemRow.picture_of.set(_mark(seen.image)), ItemRow.picture_tries.set(tries)]
    is_other = (ItemRow.picture_of != _mark(seen.image)) | ItemRow.picture_of.does_not_exist()
    is_first = is_other if seen.tries == 0 else ItemRow.picture_tries == seen.tries
    condition = (ItemRow.image == seen.image) & is_first
    with suppress(Stale):
        if seen.name and tries >= MOST_TRIES:
            actions += [ItemRow.picture.remove(), ItemRow.version.add(1)]
            write = Update(ItemRow(seen.id), actions, condition & (ItemRow.picture == seen.name))
            tables.transact(write, media.release_write(seen.name))
        else:
            tables.update(ItemRow(seen.id), actions, condition)


def _show_write(seen: Picturing, name: str) -> Update:
    """`version` grows: whoever deletes the item at this moment has to release the copy as well."""
    actions: list[Action] = [ItemRow.version.add(1), ItemRow.picture_tries.remove()]
    if name:
        actions += [ItemRow.picture.set(name), ItemRow.picture_of.set(_mark(seen.image))]
    else:
        actions += [ItemRow.picture.remove(), ItemRow.picture_of.remove()]
    same_image = ItemRow.image == seen.image if seen.image else ItemRow.image.does_not_exist()
    same_picture = ItemRow.picture == seen.name if seen.name else ItemRow.picture.does_not_exist()
    return Update(ItemRow(seen.id), actions, ItemRow.id.exists() & same_image & same_picture)


def _picturing(row: ItemRow) -> Picturing:
    image = row.image or ""
    tries = int(row.picture_tries or 0) if row.picture_of == _mark(image) else 0
    return Picturing(row.id, image, row.picture or "", tries, is_settled(row))


def _mark(image: str) -> str:
    """Stands for the image's address, which may be long."""
    return hashlib.sha256(image.encode()).hexdigest()[:16]

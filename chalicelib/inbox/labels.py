"""What the row of an entry repeats of its item, so that lists can be filtered and searched: provider, type and words.

An item may get other words after it was received: from a better source, or when it is renamed.
"""

from collections.abc import Iterable
from itertools import chain, islice

from chalicelib.inbox import entry_store, item_store, listing_store, search
from chalicelib.inbox.model import DESK, Entry, Item

# Further holders keep what they have: they find the entry by the words it came with.
_MOST_HOLDERS = 100


def apply(owner: str, item: Item) -> Entry | None:
    """None if there is no such entry."""
    return entry_store.describe(owner, item, fold(item))


def renew(before: Item, owners: Iterable[str] = ()) -> None:
    """For those who have the item, if it is not what it was `before`. The desk and these owners come first: an index
    may not have them yet."""
    item = item_store.find(before.id)
    if not item or not differ(before, item):
        return
    others = (key.owner for key in listing_store.list_holders(item.id))
    for owner in dict.fromkeys(islice(chain((DESK,), owners, others), _MOST_HOLDERS)):
        apply(owner, item)


def differ(before: Item, after: Item) -> bool:
    return _label(before) != _label(after)


def fold(item: Item) -> str:
    return search.fold_item(item.title, item.creator)


def _label(item: Item) -> tuple[str, str, str]:
    return item.provider.value, item.content_type.value, fold(item)

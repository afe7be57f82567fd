"""What other rooms bring to the inbox, and what owners do with it.

Ownership is part of every key: somebody else's entry is not found.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from chalicelib.inbox import (
    clipping,
    delivery,
    entry_store,
    expiry,
    item_store,
    listing_store,
    model,
    pictures,
    uses,
    withdrawal,
)
from chalicelib.inbox.clipping import Pasted
from chalicelib.inbox.listing_store import Filter
from chalicelib.inbox.model import (
    Act,
    ContentType,
    Entry,
    EntryDetail,
    Item,
    Outcome,
    Page,
    Provider,
    Recipient,
    Seen,
    SeenDetail,
    State,
    WholePage,
)
from chalicelib.inbox.uses import History, Use
from chalicelib.kernel import clock
from chalicelib.kernel.errors import NotFound
from chalicelib.members.model import Member


def deliver(item: Item, recipients: Sequence[Recipient], received_at: datetime, is_told: bool = True) -> list[str]:
    """Put the item into the inboxes of those who have never received it, and say who they are. Repeating it changes
    nothing. Without recipients only the item is stored. What the desk is told is trusted more than what members are;
    what is served from the store and was told by somebody else is not told now."""
    return delivery.deliver(item, recipients, received_at, is_told)


def clip(owner: str, url: str, note: str = "") -> tuple[EntryDetail, bool]:
    """Save a page by its link; also says whether its entry is new. `Invalid` for what we will not connect to; a page
    that cannot be read becomes an entry with a `problem`."""
    return clipping.clip(owner, url, note)


def paste(owner: str, text: str) -> list[Pasted]:
    """Save every page that the text has a link to."""
    return clipping.paste(owner, text)


def suggest(member: Member, id: str, note: str = "") -> None:
    """A member hands an entry of theirs to the desk, which learns nothing about them."""
    clipping.suggest(member, id, note)


def expire(now: datetime, time_left: Callable[[], bool]) -> int:
    """What nobody has kept leaves the inboxes when its time is over. How many have left."""
    return expiry.expire(now, time_left)


def find_item(id: str) -> Item | None:
    return item_store.find(id)


def find_items(ids: Iterable[str]) -> dict[str, Item]:
    """By id; those that are stored."""
    return item_store.find_many(ids)


def refresh_item(item: Item) -> bool:
    """As the provider tells it now, if it is still stored with its details. Says whether it was written."""
    return pictures.refresh(item)


def list_stale(provider: Provider, before: datetime, limit: int) -> list[Item]:
    """Items the provider told about before that moment, oldest first. Only providers that want it are listed."""
    ids = list(item_store.list_stale(provider, before, limit))
    found = item_store.find_many(ids)
    return [found[id] for id in ids if id in found]


def forget_item_if_unheld(id: str) -> bool:
    """Delete an item that nobody has in their inbox, bookmarks or archive. Says whether it was deleted."""
    version = item_store.find_versions([id]).get(id)
    return version is not None and not listing_store.is_held(id) and expiry.delete_item(version)


def strip_item(id: str) -> bool:
    """Keep only title and link of an item that its provider tells nothing about any more. Says whether it was done:
    not if there is no such item, or somebody has written it at this moment."""
    version = item_store.find_versions([id]).get(id)
    return version is not None and item_store.strip(version)


def keep_newest(owner: str, follow_id: str, item_id: str) -> None:
    """What this follow brought before leaves the INBOX."""
    withdrawal.keep_newest(owner, follow_id, item_id)


def mark_unavailable(item_id: str, time_left: Callable[[], bool] = lambda: True) -> bool:
    """The provider has deleted it: it leaves every INBOX. Says whether nothing is left to do."""
    return withdrawal.mark_unavailable(item_id, time_left)


def forget_follow(owner: str, follow_id: str, time_left: Callable[[], bool]) -> bool:
    """What the follow brought leaves the INBOX; what was kept stays, and forgets the follow. Says whether nothing is
    left to do."""
    return withdrawal.forget_follow(owner, follow_id, time_left)


def strip_follow(owner: str, follow_id: str, time_left: Callable[[], bool]) -> bool:
    """What the follow brought leaves the INBOX, and is deleted unless somebody else has it; of what was kept, title
    and link remain. Says whether nothing is left to do."""
    return withdrawal.strip_follow(owner, follow_id, time_left)


def list_page(
    owner: str,
    state: State = State.INBOX,
    provider: Provider | None = None,
    content_type: ContentType | None = None,
    limit: int = 20,
    place: str | None = None,
    words: Sequence[str] = (),
) -> Page:
    """Newest first. With a provider, a type or words a page may be short and yet not be the last: only so many
    entries are looked at. `words` are those of `search.parse_words`."""
    only = Filter(provider, content_type, tuple(words))
    entries, next_place = listing_store.list_page(owner, state, limit, place, only)
    return Page(tuple(with_items(entries)), next_place)


def list_whole_page(
    owner: str,
    provider: Provider | None = None,
    content_type: ContentType | None = None,
    limit: int = 20,
    place: str | None = None,
    words: Sequence[str] = (),
) -> WholePage:
    """The same of everything the owner has ever received, also what was dismissed or has expired."""
    only = Filter(provider, content_type, tuple(words))
    found, next_place = listing_store.list_whole_page(owner, limit, place, only)
    items = item_store.find_many(one.id for one in found)
    details = (_with_item(one, items.get(one.id) or model.missing_item(one)) for one in found)
    return WholePage(tuple(details), next_place)


def with_items(entries: Sequence[Entry]) -> list[EntryDetail]:
    """One request for the items of a hundred entries."""
    items = item_store.find_many(entry.id for entry in entries)
    return [EntryDetail(entry, items.get(entry.id) or model.missing_item(entry)) for entry in entries]


def find_uses(owner: str, ids: Iterable[str]) -> dict[str, tuple[Use, ...]]:
    """In which campaigns the publication has used each of these; members are not told."""
    return uses.find_uses(ids) if owner == model.DESK else {}


def find_histories(owner: str, items: Iterable[Item]) -> dict[str, History]:
    """The same, with campaigns that have an item of nearly the same title."""
    return uses.find_histories(items) if owner == model.DESK else {}


def check_exists(owner: str, id: str) -> None:
    """Raises `NotFound`, also for what was dismissed and for somebody else's."""
    _require(entry_store.find(owner, id))


def bookmark(owner: str, id: str) -> EntryDetail:
    return _detail(_move(owner, id, Act.BOOKMARK))


def archive(owner: str, id: str) -> EntryDetail:
    return _detail(_move(owner, id, Act.ARCHIVE))


def restore(owner: str, id: str) -> EntryDetail:
    """Back to the INBOX, in the place it had."""
    return _detail(_move(owner, id, Act.RESTORE))


def set_note(owner: str, id: str, note: str) -> EntryDetail:
    """An empty one takes it away. What members suggested stays."""
    return _detail(_require(entry_store.set_note(owner, id, note)))


def dismiss(owner: str, id: str) -> None:
    """The owner does not get the item again, by whatever way it comes."""
    if not entry_store.dismiss(owner, id):
        raise NotFound(model.NOT_FOUND)


def bulk(owner: str, ids: Iterable[str], act: Act) -> list[Outcome]:
    """Each by itself, and each id once. One that is not there does not keep the others from being done."""
    return [_attempt(owner, id, act) for id in dict.fromkeys(ids)]


def _attempt(owner: str, id: str, act: Act) -> Outcome:
    try:
        if act is Act.DISMISS:
            dismiss(owner, model.parse_id(id))
        else:
            _move(owner, model.parse_id(id), act)
    except NotFound as failure:
        return Outcome(id, failure.reason)
    return Outcome(id)


def _move(owner: str, id: str, act: Act) -> Entry:
    """One conditional write, whichever state the entry was in, so there is nothing to read before."""
    return _require(entry_store.move(owner, id, model.STATES[act], clock.now()))


def _require(entry: Entry | None) -> Entry:
    if not entry:
        raise NotFound(model.NOT_FOUND)
    return entry


def _with_item(found: Entry | Seen, item: Item) -> EntryDetail | SeenDetail:
    return EntryDetail(found, item) if isinstance(found, Entry) else SeenDetail(found, item)


def _detail(entry: Entry) -> EntryDetail:
    return with_items([entry])[0]

"""What people put into an inbox by hand: a link, several pasted at once, or an entry a member hands to the desk.

Other than what arrives by itself, it also comes back to somebody who has dismissed it: they want it now.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from msgspec import Struct

from chalicelib.inbox import delivery, entry_store, item_store, labels, late_pages, links, model, page_reading
from chalicelib.inbox.model import DESK, EntryDetail, Item, Provider, Recipient, Trust
from chalicelib.inbox.page_reading import Reading
from chalicelib.kernel import clock, limits
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import GnaError, Invalid, NotFound
from chalicelib.members.model import Member

MOST_LINKS = 50
_HOUR = 3600
_CLIPS_PER_HOUR, _PASTES_PER_HOUR, _SUGGESTIONS_PER_HOUR = 60, 10, 20
# A page may have another title after that.
_KNOWN_FOR = timedelta(days=30)

_LINK = re.compile(r"(?:https?://|www\.)[^\s<>\[\]{}|\\^`\"“”„«»]+", re.IGNORECASE)
_BARE_LINE = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d{1,5})?(?:[/?#]\S*)?\Z", re.IGNORECASE)
_AROUND_A_LINE = " \t-*•·–"
_AFTER_A_LINK = ".,;:!?'*_~…’"


class Pasted(Struct, frozen=True):
    """What became of one link among many: the entry's id, or why there is none."""

    url: str
    id: str = ""
    error: str = ""


def clip(owner: str, url: str, note: str = "") -> tuple[EntryDetail, bool]:
    """The entry of that page; also says whether it is new. `Invalid` for what we will not connect to; a page that
    cannot be read becomes an entry that says so."""
    address = page_reading.check_url(url)
    limits.spend("clip", owner, _CLIPS_PER_HOUR, _HOUR)
    item = _find_known(owner, [address]).get(address) or _choose_item(owner, page_reading.read(address))
    return _enter(owner, item, note)


def paste(owner: str, text: str) -> list[Pasted]:
    """Every link in the text, each once, in its order."""
    found = list(dict.fromkeys(find_links(text)))
    if not 1 <= len(found) <= MOST_LINKS:
        raise Invalid(f"text must contain 1 to {MOST_LINKS} links")
    limits.spend("paste", owner, _PASTES_PER_HOUR, _HOUR)
    addresses = {url: _check(url) for url in found}
    sound = [address for address in addresses.values() if isinstance(address, str)]
    known = _find_known(owner, sound)
    readings = page_reading.read_many([address for address in sound if address not in known])
    items: dict[str, Item | Reading | Invalid] = {**readings, **known}
    return [_take(owner, url, items[to] if isinstance(to, str) else to) for url, to in addresses.items()]


def suggest(member: Member, id: str, note: str = "") -> None:
    """Hand an entry to the desk, which learns nothing about the member. What they write of it is no note of the
    editors: it goes to no reader."""
    item = item_store.find(id) if entry_store.find(member.id, id) else None
    if not item:
        raise NotFound(model.NOT_FOUND)
    member.require_verified()
    limits.spend("suggest", member.id, _SUGGESTIONS_PER_HOUR, _HOUR)
    if item.trust < Trust.READ:  # words that a feed of the member may have made up
        item = _choose_item(DESK, page_reading.read(item.canonical_url))
    _enter(DESK, item, suggestion=note)


def _find_known(owner: str, addresses: Sequence[str]) -> dict[str, Item]:
    """What somebody has received or saved before need not be read again, if that is good enough for this owner."""
    ids = {address: links.item_id(identity) for address in addresses if (identity := links.identify(address))}
    stored = item_store.find_many(ids.values())
    return {address: stored[id] for address, id in ids.items() if id in stored and _is_enough(owner, stored[id])}


def _is_enough(owner: str, stored: Item) -> bool:
    """Also if reading the page could not replace it."""
    least, best = (Trust.DESK_CLAIMED, Trust.DESK_READ) if owner == DESK else (Trust.READ, Trust.READ)
    is_recent = stored.refreshed_at > clock.now() - _KNOWN_FOR
    return not stored.problem and (stored.trust > best or (stored.trust >= least and is_recent))


def _choose_item(owner: str, reading: Reading) -> Item:
    """What was read, unless what is stored is to be kept: also what was read once, if now it cannot be."""
    item = model.vouch(page_reading.to_item(reading, clock.now()), (owner,))
    stored = item_store.find(item.id)
    if not stored:
        return item
    was_read = not stored.problem and (stored.trust >= Trust.READ or stored.provider is Provider.LINK)
    return stored if (item.problem and was_read) or not model.replaces(item, stored) else item


def _enter(owner: str, item: Item, note: str = "", suggestion: str = "") -> tuple[EntryDetail, bool]:
    recipient = Recipient(owner, note=note, returns=True, suggestion=suggestion)
    return retry_stale(lambda: _attempt(item, recipient))


def _attempt(item: Item, recipient: Recipient) -> tuple[EntryDetail, bool]:
    is_new = bool(delivery.deliver(item, [recipient], clock.now()))
    stored = item_store.find(item.id)
    entry = entry_store.find(recipient.owner, item.id)
    if entry and stored and not is_new:
        entry = labels.apply(recipient.owner, stored)
    if entry and not is_new and recipient.note:
        entry = entry_store.add_note(entry, recipient.note)
    if entry and not is_new and recipient.suggestion:
        entry = entry_store.add_suggestion(entry, recipient.suggestion)
    if not entry:  # dismissed, or noted by somebody else, at this moment
        raise Stale
    return EntryDetail(entry, stored or model.missing_item(entry)), is_new


def _check(url: str) -> str | Invalid:
    try:
        return page_reading.check_url(url)
    except Invalid as refusal:
        return refusal


def _take(owner: str, url: str, found: Item | Reading | Invalid) -> Pasted:
    if isinstance(found, Invalid):
        return Pasted(url, error=found.reason)
    try:
        item = found if isinstance(found, Item) else _choose_item(owner, found)
        if item.problem == page_reading.NOT_READ_YET:
            late_pages.read_soon(item.id)
        return Pasted(url, id=_enter(owner, item)[0].entry.id)
    except GnaError as failure:
        return Pasted(url, error=failure.reason)


def find_links(text: str) -> Iterator[str]:
    """Those inside text, and lines that are nothing but an address."""
    for line in text.splitlines():
        found = _LINK.findall(line)
        yield from map(_without_end, found)
        bare = line.strip(_AROUND_A_LINE)
        if not found and _BARE_LINE.match(bare):
            yield bare


def _without_end(link: str) -> str:
    """Without what ends the sentence it is in: brackets that were opened before it, too."""
    while link and (link[-1] in _AFTER_A_LINK or (link[-1] == ")" and link.count(")") > link.count("("))):
        link = link[:-1]
    return link

"""Where items were used: told by campaigns in the transaction that saves them (a `Keeper` of `campaigns/uses`), shown
beside every entry, and said again before a campaign is sent."""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content.blocks import Item
from chalicelib.campaigns.model import Campaign, CampaignDetail
from chalicelib.campaigns.uses import Change, list_items
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.inbox import links, titles, use_store
from chalicelib.inbox import model as inbox_model
from chalicelib.inbox.use_store import Contents
from chalicelib.kernel import clock
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.findings import Finding, Level

# Titles and links are compared with those of so many campaigns, the newest, and so many items of each: every list
# reads all of that.
_COMPARED, _MOST_ITEMS = 100, 100
# Of a key of 32 digits, enough to tell some thousands apart.
_LINK_DIGITS = 16
_LONGEST_LINK = 2_000
_MOST_NAMED = 10


class Use(Struct, frozen=True):
    campaign_id: str
    subject: str
    sent_at: datetime | None


class History(Struct, frozen=True):
    """Campaigns that have the item, or lead to its page, the latest first; if there are none, the newest that has an
    item of nearly the same title."""

    uses: tuple[Use, ...] = ()
    similar: Use | None = None


def find_uses(item_ids: Iterable[str]) -> dict[str, tuple[Use, ...]]:
    """Of each item that was used, in which campaigns, the latest first. Two requests, one if nothing was used."""
    found = use_store.find_many(item_ids)
    known = _find_campaigns(*found.values())
    return {item_id: uses for item_id, ids in found.items() if (uses := _uses(ids, known))}


def find_histories(items: Iterable[inbox_model.Item]) -> dict[str, History]:
    """Of each item that was used, whose page is linked to, or that has nearly the title of another that was. Three
    requests for a page of them, at most."""
    given = {item.id: item for item in items}
    if not given:
        return {}
    used, listed = use_store.find_many(given), use_store.list_contents(_COMPARED)
    having = {id: used.get(id, set()) | _linking(item.canonical_url, listed) for id, item in given.items()}
    similar = {id: _newest_with(titles.key_of(item.title, item.content_type), listed) for id, item in given.items()}
    known = _find_campaigns(*having.values(), filter(None, similar.values()))
    histories = {id: _history(_uses(having[id], known), known.get(similar[id])) for id in given}
    return {id: history for id, history in histories.items() if history.uses or history.similar}


def use_writes(campaign: Campaign, change: Change) -> list[Write]:
    """An event for each item that is used from now on; what a deleted draft used is used no longer."""
    return [
        *(use_store.add_write(id, campaign.id) for id in sorted(change.added)),
        *(_event_write(id, campaign.id) for id in sorted(change.added)),
        *(use_store.remove_write(id, campaign.id) for id in sorted(change.removed)),
        use_store.contents_write(campaign.id, _contents(change.items[:_MOST_ITEMS])),
    ]


def send_writes(campaign: Campaign, entries: frozenset[str]) -> list[Write]:
    """They change nothing, and fail if one of the items was withdrawn."""
    return [use_store.add_write(id, campaign.id) for id in sorted(entries)]


def find_withdrawn(found: Iterable[Any]) -> frozenset[str]:
    """Among the rows that a failed transaction found."""
    return frozenset(row.item_id for row in found if isinstance(row, use_store.UseRow) and row.withdrawn)


def findings(detail: CampaignDetail) -> list[Finding]:
    """Items that another campaign has too: by their page, whichever link leads there, or by a title that is nearly
    equal."""
    items = [item for item in list_items(detail) if item.title and (item.link or item.entry)]
    if not items:
        return []
    own = detail.campaign.id
    keys = [{key for key in (item.entry, _link_key(item.link)) if key} for item in items]
    used, listed = use_store.find_many(set().union(*keys)), use_store.list_contents(_COMPARED)
    others = [
        ({id for key in of_item for id in used.get(key, ())} | _linking(item.link, listed)) - {own}
        for item, of_item in zip(items, keys, strict=True)
    ]
    similar = [_newest_with(titles.key_of(item.title, item.kind), listed, {own}) for item in items]
    known = _find_campaigns(*others, filter(None, similar))
    named = [
        _finding(item.title, _history(_uses(ids, known), known.get(near)))
        for item, ids, near in zip(items, others, similar, strict=True)
    ]
    return [finding for finding in named if finding][:_MOST_NAMED]


def describe(use: Use) -> str:
    """“Issue 12, 3 March 2026”, or that it is not sent yet."""
    when = f"{use.sent_at.day} {use.sent_at:%B %Y}" if use.sent_at else "not sent yet"
    return f"“{use.subject}”, {when}"


def _finding(title: str, history: History) -> Finding | None:
    if history.uses:
        message = f"“{title}” is already in {describe(_latest(history.uses))}."
        return Finding(Level.WARNING, "already_used", message)
    if history.similar:
        message = f"“{title}” is nearly the same as a title in {describe(history.similar)}."
        return Finding(Level.WARNING, "similar_title", message)
    return None


def _latest(uses: Iterable[Use]) -> Use:
    return max(uses, key=lambda use: (clock.text(use.sent_at) if use.sent_at else "", use.campaign_id))


def _history(uses: tuple[Use, ...], similar: Campaign | None) -> History:
    return History(uses) if uses or not similar else History(similar=_use(similar))


def _contents(items: Iterable[Item]) -> Contents:
    named = {titles.key_of(item.title, item.kind) for item in items}
    linked = {_link_key(item.link)[:_LINK_DIGITS] for item in items}
    return Contents(frozenset(named - {""}), frozenset(linked - {""}))


def _linking(link: str, listed: Mapping[str, Contents]) -> set[str]:
    """The campaigns with an item that leads to the same page."""
    key = _link_key(link)[:_LINK_DIGITS]
    return {id for id, contents in listed.items() if key in contents.links} if key else set()


def _newest_with(key: str, listed: Mapping[str, Contents], apart_from: Container[str] = ()) -> str:
    """The id of the newest campaign that has such a title, or nothing."""
    return next((id for id, contents in listed.items() if key in contents.titles and id not in apart_from), "")


def _find_campaigns(*ids: Iterable[str]) -> dict[str, Campaign]:
    return campaigns.find_many({id for some in ids for id in some})


def _uses(ids: Iterable[str], known: Mapping[str, Campaign]) -> tuple[Use, ...]:
    return tuple(_use(known[id]) for id in sorted(ids, reverse=True) if id in known)


def _link_key(link: str) -> str:
    identity = links.identify(link) if len(link) <= _LONGEST_LINK else None
    return links.item_id(identity) if identity else ""


def _event_write(entry_id: str, campaign_id: str) -> Write:
    return outbox.event_write(EventType.ITEM_USED, entry_id, {"entry_id": entry_id, "campaign_id": campaign_id})


def _use(campaign: Campaign) -> Use:
    return Use(campaign.id, campaign.subject, campaign.published_at)

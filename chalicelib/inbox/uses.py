"""Where items were used: told by campaigns in the transaction that saves them (a `Keeper` of `campaigns/uses`), shown
beside every entry, and said again before a campaign is sent."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content.blocks import Item
from chalicelib.campaigns.model import Campaign, CampaignDetail
from chalicelib.campaigns.uses import Change, list_items
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.inbox import links, use_store
from chalicelib.kernel import clock
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.findings import Finding, Level

# Titles are compared with those of so many campaigns, the newest.
_COMPARED = 100
_SHORTEST_TITLE = 12
_MOST_NAMED = 10
_SIGHTING = "sighting"
_WORD = re.compile(r"\w+")
# What sites put behind a title: “How to prune | The Slow Garden”.
_SITE_NAME = re.compile(r"\s[|–—·»-]\s[^|–—·»]{1,40}\Z")


class Use(Struct, frozen=True):
    campaign_id: str
    subject: str
    sent_at: datetime | None


def find_uses(item_ids: Iterable[str]) -> dict[str, tuple[Use, ...]]:
    """Of each item that was used, in which campaigns, the latest first. Two requests, one if nothing was used."""
    found = use_store.find_many(item_ids)
    known = campaigns.find_many({id for ids in found.values() for id in ids})
    return {
        item_id: uses
        for item_id, ids in found.items()
        if (uses := tuple(_use(known[id]) for id in sorted(ids, reverse=True) if id in known))
    }


def use_writes(campaign: Campaign, change: Change) -> list[Write]:
    """An event for each item that is used from now on; what a deleted draft used is used no longer."""
    titles = {key for item in change.items if item.entry and (key := _title_key(item))}
    return [
        *(use_store.add_write(id, campaign.id) for id in sorted(change.added)),
        *(_event_write(id, campaign.id) for id in sorted(change.added)),
        *(use_store.remove_write(id, campaign.id) for id in sorted(change.removed)),
        use_store.titles_write(campaign.id, titles),
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
    keys = {id(item): {key for key in (item.entry, _link_key(item.link)) if key} for item in items}
    found = find_uses({key for of_item in keys.values() for key in of_item})
    titles = use_store.list_titles(_COMPARED) if items else {}
    named: list[Finding] = []
    for item in items:
        uses = {use.campaign_id: use for key in keys[id(item)] for use in found.get(key, ())}
        uses.pop(detail.campaign.id, None)
        similar = _campaigns_with(item, titles, {detail.campaign.id, *uses})
        if uses:
            named.append(_finding("already_used", item.title, "already in", _latest(uses.values())))
        elif similar:
            named.append(_finding("similar_title", item.title, "nearly the same as a title in", similar[0]))
    return named[:_MOST_NAMED]


def describe(use: Use) -> str:
    """“Issue 12, 3 March 2026”, or that it is not sent yet."""
    when = f"{use.sent_at.day} {use.sent_at:%B %Y}" if use.sent_at else "not sent yet"
    return f"“{use.subject}”, {when}"


def _finding(code: str, title: str, what: str, use: Use) -> Finding:
    return Finding(Level.WARNING, code, f"“{title}” is {what} {describe(use)}.")


def _latest(uses: Iterable[Use]) -> Use:
    return max(uses, key=lambda use: (clock.text(use.sent_at) if use.sent_at else "", use.campaign_id))


def _campaigns_with(item: Item, titles: dict[str, set[str]], apart_from: set[str]) -> Sequence[Use]:
    key = _title_key(item)
    ids = [id for id, keys in titles.items() if key and key in keys and id not in apart_from]
    known = campaigns.find_many(ids)
    return [_use(known[id]) for id in ids if id in known]


def _title_key(item: Item) -> str:
    """The same for titles that differ only in case, accents, punctuation, the order of words, or the site's name.
    Short ones (“News”) say too little, and so do names of animals that were seen."""
    if item.kind.lower() == _SIGHTING:
        return ""
    plain = unicodedata.normalize("NFKD", _SITE_NAME.sub("", item.title)).casefold()
    words = _WORD.findall("".join(character for character in plain if not unicodedata.combining(character)))
    text = " ".join(sorted(set(words)))
    return blake2b(text.encode(), digest_size=8).hexdigest() if len(text) >= _SHORTEST_TITLE else ""


def _link_key(link: str) -> str:
    identity = links.identify(link)
    return links.item_id(identity) if identity else ""


def _event_write(entry_id: str, campaign_id: str) -> Write:
    return outbox.event_write(EventType.ITEM_USED, entry_id, {"entry_id": entry_id, "campaign_id": campaign_id})


def _use(campaign: Campaign) -> Use:
    return Use(campaign.id, campaign.subject, campaign.published_at)

"""Which items a campaign is made of, and which entries of the inbox. The inbox may import campaigns, but not the
other way round, so `app.py` registers its module by name (`use_keepers`); it is imported when a campaign with items
is saved or reviewed."""

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from chalicelib.campaigns import use_keepers
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.model import Campaign, CampaignDetail, Format
from chalicelib.kernel.errors import Conflict, Invalid

if TYPE_CHECKING:
    from chalicelib.kernel.aws.tables import Write
    from chalicelib.kernel.findings import Finding

# A transaction holds a hundred writes: two for each of them, one for its picture, and those of the campaign itself.
MOST_ENTRIES = 30


class Keeper(Protocol):
    def use_writes(self, campaign: Campaign, change: "Change") -> "list[Write]":
        """For the transaction that saves or deletes the campaign: two for each entry that it uses from now on, one
        for each that it no longer uses, and at most one more. Editors type ids, too: there may be no such entry.
        Only one that was withdrawn may fail it."""

    def send_writes(self, campaign: Campaign, entries: frozenset[str]) -> "list[Write]":
        """For the transaction that begins to send the campaign, one for each entry: fails if one was withdrawn."""

    def find_withdrawn(self, found: "Iterable[Any]") -> frozenset[str]:
        """The entries because of which a transaction failed, from the rows it found."""

    def findings(self, detail: CampaignDetail) -> "list[Finding]":
        """What an editor should know about its items before it is sent."""


class Change(Struct, frozen=True):
    """Entries that a campaign uses from now on, those it no longer uses, and the items it has now, also those that
    are no entries: one that an editor wrote, or of the feed."""

    added: frozenset[str]
    removed: frozenset[str]
    items: tuple[blocks.Item, ...] = ()


class Withdrawn(Conflict):
    """Whoever shared these entries does so no longer."""

    def __init__(self, entries: frozenset[str]) -> None:
        super().__init__("A sighting in it was withdrawn by the member who shared it")
        self.entries = entries


def change_writes(before: CampaignDetail | None, after: CampaignDetail | None) -> "list[Write]":
    """For a campaign that is created (nothing before), edited, or deleted (nothing after)."""
    campaign = after or before
    if not campaign or (before and after and _source(before) == _source(after)):
        return []
    items = list_items(after) if after else ()
    if _identify_items(list_items(before) if before else ()) == _identify_items(items):
        return []
    had, has = entries(before), entries(after)
    added, removed = has - had, had - has
    if added and len(has) > MOST_ENTRIES:
        raise Invalid(f"At most {MOST_ENTRIES} items of the inbox can be in a campaign")
    change = Change(added, removed, items)
    return [write for each in _keepers() for write in each.use_writes(campaign.campaign, change)]


def send_writes(detail: CampaignDetail) -> "list[Write]":
    """For a campaign that is about to be sent."""
    used = entries(detail)
    return [write for each in _keepers() for write in each.send_writes(detail.campaign, used)] if used else []


def check_withdrawn(found: Iterable[Any]) -> None:
    """Raises `Withdrawn` if that is why a transaction with these writes failed: `found` are the rows it found."""
    rows = [row for row in found if row is not None]
    withdrawn = frozenset(entry for each in _keepers() for entry in each.find_withdrawn(rows)) if rows else None
    if withdrawn:
        raise Withdrawn(withdrawn)


def findings(detail: CampaignDetail) -> "list[Finding]":
    if not list_items(detail):
        return []
    return [finding for keeper in _keepers() for finding in keeper.findings(detail)]


def entries(detail: CampaignDetail | None) -> frozenset[str]:
    """The ids of the entries in its items."""
    return frozenset(item.entry for item in list_items(detail) if item.entry) if detail else frozenset()


def list_items(detail: CampaignDetail) -> tuple[blocks.Item, ...]:
    """In HTML there are none."""
    return blocks.items(detail.content.body) if detail.campaign.format is Format.MARKDOWN else ()


def _identify_items(items: Iterable[blocks.Item]) -> frozenset[tuple[str, ...]]:
    """What keepers are told of them; their order and the editor's words are not."""
    return frozenset((item.entry, item.title, item.link, item.kind) for item in items)


def _source(detail: CampaignDetail) -> tuple[Format, str]:
    return detail.campaign.format, detail.content.body


def _keepers() -> list[Keeper]:
    return [_load(module) for module in use_keepers.names()]


def _load(module: str) -> Keeper:
    keeper: Keeper = import_module(f"chalicelib.{module}")
    return keeper

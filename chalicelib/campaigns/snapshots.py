"""Keeping what a save replaces, and letting go of it. Older versions use neither pictures nor entries of the inbox:
their pictures may be gone by the time one is brought back."""

import re

from msgspec.structs import asdict, replace

from chalicelib.campaigns import content_store, history
from chalicelib.campaigns.bodies import Draft
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Item
from chalicelib.campaigns.history import Past, Saved, Saver, Summary
from chalicelib.campaigns.model import CampaignDetail, Format
from chalicelib.kernel.aws.tables import Write

_LONGEST_NAME = 200
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"(?<!\S)[^\w\s]*+\w")


def draft_of(detail: CampaignDetail) -> Draft:
    """What an author composed: that is what has versions."""
    values = {**asdict(detail.campaign), **asdict(detail.content)}
    return Draft(**{name: values[name] for name in Draft.__struct_fields__})


def current(detail: CampaignDetail) -> Saved:
    """The newest version. Of one that was saved before there were versions, only the time is known."""
    campaign = detail.campaign
    return detail.history.current or Saved(campaign.version, 0, campaign.updated_at, campaign.updated_at)


def first(detail: CampaignDetail, by: str) -> CampaignDetail:
    """A new campaign with its first version."""
    at = detail.campaign.created_at
    return replace(detail, history=history.History(Saved(detail.campaign.version, 0, at, at, by)))


def keep_writes(before: CampaignDetail, after: CampaignDetail, saver: Saver) -> tuple[CampaignDetail, list[Write]]:
    """`after` with its versions, and what keeps the one that it replaces, if it does."""
    if draft_of(before) == draft_of(after):
        return after, []
    now, number, saved = after.campaign.updated_at, after.campaign.version, current(before)
    if history.continues(saved, saver, now):
        again = replace(saved, number=number, saved_at=now)
        return replace(after, history=replace(before.history, current=again)), []
    begun = Saved(number, saved.ordinal + 1, now, now, saver.by, saver.autosave)
    past = history.keep(saved, now, before.campaign.version, summarize(before))
    return replace(after, history=before.history.begin(begun, past)), [content_store.snapshot_write(before, past)]


def overwrite(before: CampaignDetail, after: CampaignDetail) -> CampaignDetail:
    """`after` as the newest version in the place of one that must not be kept."""
    at = after.campaign.updated_at
    saved = replace(current(before), number=after.campaign.version, saved_at=at, by="", autosave=False)
    return replace(after, history=replace(before.history, current=saved))


def forget_writes(detail: CampaignDetail, entry: str) -> tuple[CampaignDetail, list[Write], frozenset[str]]:
    """Without the older versions that have an item of this entry, or are named after one; and how those are named
    that are."""
    named = _names(detail, entry)
    if not current(detail).ordinal:
        return detail, [], named
    found = content_store.list_snapshots(detail.campaign.id)
    named = named.union(*(_names(one, entry) for one in found.values()))
    gone = [ordinal for ordinal, one in found.items() if _has(one, entry) or one.campaign.subject in named]
    kept = replace(detail, history=detail.history.keep_only(found.keys() - set(gone), len(gone)))
    return kept, content_store.delete_snapshot_writes(detail.campaign.id, gone), named


def name_after(item: Item) -> str:
    """As a composed draft is named after its first item, whose braces are escaped already."""
    return item.title[:_LONGEST_NAME]


def delete_all(campaign_id: str, begun: int = history.SLOTS) -> None:
    """Of a deleted campaign that had begun so many versions after its first. What a crash leaves expires."""
    content_store.delete_snapshots(campaign_id, range(min(begun, history.SLOTS)))


def find(campaign_id: str, past: Past) -> CampaignDetail | None:
    return content_store.find_snapshot(campaign_id, past)


def summarize(detail: CampaignDetail) -> Summary:
    body, text = detail.content.body, detail.content.text or ""
    read = _TAG.sub(" ", body) if detail.campaign.format is Format.HTML else body
    words = sum(1 for _ in _WORD.finditer(read))
    return Summary(detail.campaign.subject, words, len(body.encode()) + len(text.encode()))


def _has(detail: CampaignDetail, entry: str) -> bool:
    return bool(_items(detail, entry))


def _names(detail: CampaignDetail, entry: str) -> frozenset[str]:
    return frozenset(map(name_after, _items(detail, entry)))


def _items(detail: CampaignDetail, entry: str) -> list[Item]:
    """In whatever format: it may have been switched."""
    return [item for item in blocks.items(detail.content.body) if item.entry == entry]

"""Taking items out of campaigns that are not sent yet, because whoever shared them does so no longer. What was sent
stays as it was sent."""

from collections.abc import Collection
from typing import Any

from chalicelib.campaigns import changes, snapshots, uses
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Block, Image, Item, Text
from chalicelib.campaigns.model import HELD_BACK, Action, CampaignDetail, permit, permitted_actions
from chalicelib.kernel import log
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import NotFound

WITHDRAWN = "A sighting was withdrawn by the member who shared it, and taken out."
# In the place of a subject that was the title of what is gone, when there is nothing else to name it by.
UNTITLED = "Untitled"
# A transaction takes 4 MB, and a version may have 400 KB.
_TOGETHER = 8
_HELD = f"{HELD_BACK}{WITHDRAWN[0].lower()}{WITHDRAWN[1:]} Review it, then send or schedule it again."


def take_out(campaign_id: str, entry: str) -> None:
    """Remove what came from this entry, and tell the editor. `Conflict` if the campaign is sent or being sent; its
    older versions lose it in every state."""
    from chalicelib.mail import notices

    seen: list[CampaignDetail] = []

    def remove(detail: CampaignDetail) -> changes.Changed:
        seen.append(detail)
        return _take_out(detail, entry)

    try:
        after = changes.apply(campaign_id, None, remove)
    except NotFound:
        snapshots.delete_all(campaign_id)  # if whoever deleted it crashed before
        raise
    if seen[-1].campaign.scheduled_at and not after.campaign.scheduled_at:
        log.warning("campaign.held", campaign_id=campaign_id)
        notices.notify_admin("A campaign was held back", f"“{after.campaign.subject}”\n\n{after.campaign.notice}")


def without(body: str, entries: Collection[str]) -> str:
    """The same Markdown without the items of these entries."""
    return blocks.write(_without(body, entries))


def _take_out(detail: CampaignDetail, entry: str) -> changes.Changed:
    """The content and the older versions in one transaction: nothing is kept of what is taken out. Only when there
    are many of them, most are deleted before."""
    is_sent = Action.UPDATE not in permitted_actions(detail.campaign.state)
    has_it = not is_sent and any(item.entry == entry for item in uses.list_items(detail))
    cleared, forgotten, named = snapshots.forget_writes(detail, entry)
    if has_it or (not is_sent and detail.campaign.subject in named):
        after = snapshots.overwrite(cleared, _edit(cleared, entry if has_it else "", named))
    elif cleared != detail:
        after = changes.edit(cleared, {}, {})
    else:
        permit(Action.UPDATE, detail.campaign.state)
        return detail, []
    while len(forgotten) > _TOGETHER:
        tables.transact(*forgotten[-_TOGETHER:])
        del forgotten[-_TOGETHER:]
    return after, [*changes.save_writes(detail, after), *forgotten]


def _edit(detail: CampaignDetail, entry: str, named: Collection[str]) -> CampaignDetail:
    """A campaign that is scheduled stays so, unless nothing is left of it, or it was named after what is gone. It may
    be although it has no item of it any more: then its body stays as it is."""
    campaign, left = detail.campaign, _without(detail.content.body, {entry} if entry else ())
    edits: dict[str, Any] = {"notice": add_notice(campaign.notice or "")}
    is_named_after = campaign.subject in named
    if is_named_after:
        others = (snapshots.name_after(block) for block in left if isinstance(block, Item))
        edits["subject"] = next(others, UNTITLED)
    if campaign.scheduled_at and (is_named_after or not _says_anything(left)):
        edits |= {"scheduled_at": None, "notice": _HELD}
    return changes.edit(detail, edits, {"body": blocks.write(left)} if entry else {})


def add_notice(before: str) -> str:
    """After what the editor has to know already; said once, however many were withdrawn."""
    is_said = WITHDRAWN.casefold() in before.casefold()
    return before if is_said else f"{before} {WITHDRAWN}".strip()


def _without(body: str, entries: Collection[str]) -> list[Block]:
    return [block for block in blocks.parse(body) if not (isinstance(block, Item) and block.entry in entries)]


def _says_anything(left: Collection[Block]) -> bool:
    return any(isinstance(block, Text | Image | Item) for block in left)

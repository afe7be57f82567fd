"""Opening the next issue: a draft with the outline's sections and the day the cadence says."""

from datetime import date

from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Block, Heading, Text
from chalicelib.campaigns.model import CampaignDetail, Format, State
from chalicelib.campaigns.service import Draft
from chalicelib.inbox import outline_store
from chalicelib.inbox.outline import Opened, Outline, check, next_date, subject_of
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.errors import NotFound

_EMPTY = Text("*Write a few words to begin with.*")


def read_outline() -> tuple[Outline, date | None]:
    """And the day of the next issue."""
    found = outline_store.find()
    return found, next_date(found, clock.now().date())


def save_outline(wanted: Outline) -> tuple[Outline, date | None]:
    """What was opened before stays known. The last of two who save at once wins, whole."""

    def save() -> Outline:
        before = outline_store.find()
        after = check(replace(wanted, last_date=before.last_date, opened=before.opened))
        tables.transact(outline_store.save_write(before, after))
        return replace(after, version=before.version + 1)

    saved = retry_stale(save)
    return saved, next_date(saved, clock.now().date())


def open_next() -> CampaignDetail:
    """Of two who open it at once, each gets an issue of their own day."""
    return _open(None)[0]


def open_shown(version: int) -> tuple[CampaignDetail, bool]:
    """`version` is that of the outline on the page whose button was pressed. Whoever presses it again, or at the same
    time as somebody else, gets the issue that was opened since. Also, whether it is new."""
    return _open(version)


def _open(shown: int | None) -> tuple[CampaignDetail, bool]:
    """The draft is written together with the day it takes: there is never one without the other."""

    def decide() -> tuple[CampaignDetail, bool]:
        before, today = outline_store.find(), clock.now().date()
        if opened := _find_opened(before, shown):
            return opened, False
        day = next_date(before, today)
        detail, writes = campaigns.draft_writes(_draft(before, day or today))
        opening = Opened(detail.campaign.id, before.version + 1)
        after = replace(before, last_date=day or before.last_date, opened=opening)
        tables.transact(*writes, outline_store.save_write(before, after))
        return detail, True

    return retry_stale(decide)


def _find_opened(outline: Outline, shown: int | None) -> CampaignDetail | None:
    """Once it was sent or deleted, an old page opens the one after it."""
    if shown is None or not outline.opened or outline.opened.version <= shown:
        return None
    try:
        found = campaigns.view(outline.opened.campaign_id)
    except NotFound:
        return None
    return found if found.campaign.state is State.DRAFT else None


def _draft(outline: Outline, day: date) -> Draft:
    body: list[Block] = [_EMPTY, *(Heading(blocks.literal(section.heading)) for section in outline.sections)]
    return Draft(subject=subject_of(outline, day), body=blocks.write(body), format=Format.MARKDOWN)

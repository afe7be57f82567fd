"""Opening the next issue: a draft with the outline's sections and the day the cadence says."""

from datetime import date

from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Block, Heading, Text
from chalicelib.campaigns.model import Campaign, CampaignDetail, Format, State
from chalicelib.campaigns.service import Draft
from chalicelib.inbox import outline_store
from chalicelib.inbox.outline import Opened, Outline, check, next_date, subject_of
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale

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


def find_open(outline: Outline) -> Campaign | None:
    """The issue that was opened last, for as long as it is a draft."""
    if not outline.opened:
        return None
    found = campaigns.find_many([outline.opened.campaign_id]).get(outline.opened.campaign_id)
    return found if found and found.state is State.DRAFT else None


def open_next(by: str = "") -> CampaignDetail:
    """Of two who open it at once, each gets an issue of their own day."""
    return retry_stale(lambda: _open(outline_store.find(), by))


def open_shown(version: int, by: str = "") -> tuple[Campaign, bool]:
    """`version` is that of the outline on the page whose button was pressed. Whoever presses it again, or at the same
    time as somebody else, gets the issue that was opened since. Also, whether it is new."""

    def decide() -> tuple[Campaign, bool]:
        outline = outline_store.find()
        pressed_before = outline.opened and outline.opened.version > version
        known = find_open(outline) if pressed_before else None
        return (known, False) if known else (_open(outline, by).campaign, True)

    return retry_stale(decide)


def _open(before: Outline, by: str) -> CampaignDetail:
    """The draft is written together with the day it takes: there is never one without the other."""
    today = clock.now().date()
    day = next_date(before, today)
    detail, writes = campaigns.draft_writes(_draft(before, day or today), by)
    opened = Opened(detail.campaign.id, before.version + 1)
    after = replace(before, last_date=day or before.last_date, opened=opened)
    tables.transact(*writes, outline_store.save_write(before, after))
    return detail


def _draft(outline: Outline, day: date) -> Draft:
    body: list[Block] = [_EMPTY, *(Heading(blocks.literal(section.heading)) for section in outline.sections)]
    return Draft(subject=subject_of(outline, day), body=blocks.write(body), format=Format.MARKDOWN)

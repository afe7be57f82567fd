"""Opening the next issue: a draft with the outline's sections and the day the cadence says."""

from datetime import date

from msgspec.structs import replace

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Block, Heading, Text
from chalicelib.campaigns.model import CampaignDetail, Format
from chalicelib.campaigns.service import Draft
from chalicelib.inbox import outline_store
from chalicelib.inbox.outline import Outline, check, next_date, subject_of
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
        after = check(replace(wanted, last_date=before.last_date))
        tables.transact(outline_store.save_write(before, after))
        return replace(after, version=before.version + 1)

    saved = retry_stale(save)
    return saved, next_date(saved, clock.now().date())


def open_next() -> CampaignDetail:
    """Of two who open it at once, each gets an issue of their own day. The day is taken first: what dies in between
    leaves a day out, and never the same day twice."""

    def take() -> tuple[Outline, date]:
        before, today = outline_store.find(), clock.now().date()
        day = next_date(before, today)
        if day:
            tables.transact(outline_store.save_write(before, replace(before, last_date=day)))
        return before, day or today

    found, day = retry_stale(take)
    body: list[Block] = [_EMPTY, *(Heading(blocks.literal(section.heading)) for section in found.sections)]
    return campaigns.create(Draft(subject=subject_of(found, day), body=blocks.write(body), format=Format.MARKDOWN))

"""Composing a campaign as JSON."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from chalicelib.campaigns.serializers import CampaignBody
from chalicelib.inbox import outline
from chalicelib.inbox.composing import LONGEST_HEADING, MOST_ITEMS, MOST_SECTIONS, Section
from chalicelib.inbox.outline import Every
from chalicelib.kernel.errors import Invalid
from chalicelib.web import schemas
from chalicelib.web.schemas import Id, Reads

_LONGEST_ID = 100


def _check_sections(value: Any) -> list[Section]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_SECTIONS:
        raise Invalid(f"sections must be a list of 1 to {MOST_SECTIONS}")
    return [_check_section(section) for section in value]


def _check_section(value: Any) -> Section:
    if not isinstance(value, dict):
        raise Invalid("A section must be an object with ids and perhaps a heading")
    ids = value.get("ids")
    if not isinstance(ids, list) or not all(isinstance(id, str) and len(id) <= _LONGEST_ID for id in ids):
        raise Invalid("ids must be a list of ids of entries")
    return Section(tuple(ids), check_heading(value.get("heading")))


def check_heading(value: Any) -> str:
    heading = " ".join((schemas.text("heading", LONGEST_HEADING).check(value) or "").split())
    if not heading.isprintable():
        raise Invalid("heading must not contain control characters")
    return heading


def _check_outline_sections(value: Any) -> list[outline.Section]:
    if not isinstance(value, list) or len(value) > MOST_SECTIONS:
        raise Invalid(f"sections must be a list of at most {MOST_SECTIONS}")
    return [_check_outline_section(section) for section in value]


def _check_outline_section(value: Any) -> outline.Section:
    if not isinstance(value, dict):
        raise Invalid("A section must be an object with a heading and perhaps a number of items")
    heading, wanted = check_heading(value.get("heading")), value.get("wanted", 0)
    if not heading:
        raise Invalid("Every section needs a heading")
    if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= MOST_ITEMS:
        raise Invalid(f"wanted must be a whole number from 0 to {MOST_ITEMS}")
    return outline.Section(heading, wanted)


class SectionBody(Struct):
    """Entries in the order in which they are shown."""

    ids: list[str]
    heading: Annotated[str, Meta(max_length=LONGEST_HEADING)] = ""


class NewComposition(Struct):
    sections: Annotated[list[SectionBody], Meta(min_length=1, max_length=MOST_SECTIONS), Reads(_check_sections)]
    campaign_id: Annotated[str | None, Meta(description="A draft to add to; without it, a new one is made")] = None


class UseBody(Struct):
    campaign_id: Id
    subject: str
    sent_at: Annotated[int | None, Meta(description="Unix time in milliseconds; null if it is not sent yet")]


class ComposeWarning(Struct, omit_defaults=True):
    id: str
    title: str
    used_in: Annotated[
        list[UseBody],
        Meta(
            description="Other campaigns that have it, too; and this one, if it had it before: it is not added twice"
        ),
    ]
    problem: Annotated[str | None, Meta(description="What is missing, such as a photo that is not ready yet")] = None


class ComposedCampaign(CampaignBody, kw_only=True):
    warnings: Annotated[
        list[ComposeWarning], Meta(description="Items that other campaigns have, too, or that are not complete")
    ]


class OutlineSection(Struct):
    heading: Annotated[str, Meta(min_length=1, max_length=LONGEST_HEADING)]
    wanted: Annotated[
        int, Meta(ge=0, le=MOST_ITEMS, description="How many items it should have; 0 is any number")
    ] = 0


class OutlineBody(Struct):
    """What every issue looks like: its subject, its sections and how often it comes."""

    subject: Annotated[
        str,
        Meta(max_length=outline.LONGEST_SUBJECT, description="`{date}` becomes the day of the issue"),
        Reads(outline.check_subject),
    ] = outline.USUAL_SUBJECT
    sections: Annotated[list[OutlineSection], Meta(max_length=MOST_SECTIONS), Reads(_check_outline_sections)] = []
    every: Annotated[Every | None, Reads(outline.check_every)] = None
    day: Annotated[
        int,
        Meta(ge=0, le=28, description="The day of the week, Monday is 0; of a month, from 1 to 28"),
        Reads(outline.check_day),
    ] = 0


class OutlineAnswer(OutlineBody, kw_only=True):
    next_date: Annotated[str | None, Meta(description="The day of the next issue", examples=["2026-11-23"])]

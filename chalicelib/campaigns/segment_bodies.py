"""Segments as JSON. Their targeting may be sent as it is answered, or as a campaign's `aim`."""

from datetime import date
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import asdict

from chalicelib.campaigns import fields
from chalicelib.campaigns.bodies import Aim
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.campaigns.targeting import After, Before
from chalicelib.kernel.errors import Invalid
from chalicelib.web.schemas import Count, Id, Moment, Reads


def _check_count(value: Any) -> bool:
    if value not in ("", "true", "false"):
        raise Invalid("count must be true or false")
    return bool(value != "false")


Name = Annotated[
    str,
    Meta(min_length=1, max_length=fields.LONGEST_NAME, description="Unique, whatever its case", examples=["Readers"]),
    Reads(fields.segment_name),
]
Sources = Annotated[Terms, Reads(lambda value: fields.terms(value, "sources"))]
Tags = Annotated[Terms, Reads(lambda value: fields.terms(value, "tags"))]
JoinedAfter = Annotated[After, Reads(lambda value: fields.day(value, "joined_after"))]
JoinedBefore = Annotated[Before, Reads(lambda value: fields.day(value, "joined_before"))]


class _Sent(Struct, frozen=True):
    sources: Sources | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    joined_after: JoinedAfter | UnsetType = UNSET
    joined_before: JoinedBefore | UnsetType = UNSET
    targeting: Aim | UnsetType = field(default=UNSET, name="aim")

    def sent(self) -> dict[str, Any]:
        """The fields of the targeting that were sent, by name."""
        given = {name: value for name in Targeting.__struct_fields__ if (value := getattr(self, name)) is not UNSET}
        if self.targeting is UNSET:
            return given
        if given:
            raise Invalid("Send either aim or its fields, not both")
        return asdict(self.targeting)


class NewSegment(_Sent, frozen=True, kw_only=True):
    name: Name


class SegmentEdits(_Sent, frozen=True, kw_only=True):
    """Fields that are left out stay as they are."""

    name: Name | UnsetType = UNSET


class SegmentQuery(Struct):
    count: Annotated[bool, Meta(description="`false` leaves the counts out"), Reads(_check_count)] = True


class Segment(Struct):
    id: Id
    name: str
    sources: Terms
    tags: Terms
    joined_after: date | None
    joined_before: date | None
    updated_at: Moment
    count: Annotated[Count, Meta(description="How many people it reaches now")] | UnsetType = UNSET


class SegmentList(Struct):
    items: list[Segment]

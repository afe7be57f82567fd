"""Campaigns as JSON: what is sent to the API and what it answers. The rules of the fields are in `fields`."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import asdict

from chalicelib.campaigns import fields
from chalicelib.campaigns.model import DeliveryState, Format, Origin, State, Targeting, WaveState
from chalicelib.campaigns.result_bodies import Complaints, HardBounced, Left, SoftBounced
from chalicelib.kernel.publication import Design
from chalicelib.web.paging import PageBody
from chalicelib.web.schemas import Count, Id, Moment, Reads

Subject = Annotated[
    str,
    Meta(min_length=1, max_length=fields.LONGEST_LINE, examples=["What we read in November"]),
    Reads(fields.subject),
]
Body = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=fields.LARGEST_BODY,
        description="`{{nickname|friend}}` and `{{greeting}}` are filled in for each reader; `\\{{` means `{{`",
        examples=["<p>Hello {{nickname|friend}}</p>"],
    ),
    Reads(fields.body),
]
PlainText = Annotated[
    Annotated[str, Meta(max_length=fields.LARGEST_TEXT)] | None,
    Meta(description="Generated from the body if null"),
    Reads(fields.text),
]
Preheader = Annotated[str, Meta(max_length=fields.LONGEST_LINE), Reads(fields.preheader)]
FormatName = Annotated[Format, Reads(fields.format)]
StateName = Annotated[State, Reads(fields.state)]
DesignName = Annotated[
    Design | None, Meta(description="How the email looks; null is the publication's design"), Reads(fields.design)
]
Aim = Annotated[Targeting, Reads(fields.targeting)]
TimeZone = Annotated[str | None, Meta(description="An IANA name", examples=["Europe/Berlin"]), Reads(fields.zone)]
# Read by `fields.moment`, once the time zone beside it is known.
NewSchedule = Annotated[str | None, Meta(description="null cancels the schedule"), Reads(lambda value: value)]
Version = Annotated[int | None, Meta(description="Refused if this is no longer the current version")]
Hidden = Annotated[bool, Meta(description="Not in the public archive; may be changed in every state")]
Note = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=fields.LONGEST_LINE,
        description="What was corrected; shown with the date",
        examples=["The talk is on Thursday, not on Tuesday."],
    ),
    Reads(fields.note),
]
Removed = Annotated[list[str], Meta(description="What was removed from the body")]


class Draft(Struct, frozen=True):
    """What an author composes."""

    subject: Subject
    body: Body
    text: PlainText = None
    preheader: Preheader = ""
    format: FormatName = Format.HTML
    targeting: Aim = field(default_factory=Targeting, name="aim")
    design: DesignName = None

    def split(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Fields of the campaign, and those of its content."""
        values = {name: getattr(self, name) for name in Draft.__struct_fields__}
        content = {name: values.pop(name) for name in ("body", "text")}
        return values, content


class CampaignEdits(Struct, frozen=True):
    """Fields that are left out stay as they are."""

    subject: Subject | UnsetType = UNSET
    body: Body | UnsetType = UNSET
    text: PlainText | UnsetType = UNSET
    preheader: Preheader | UnsetType = UNSET
    format: FormatName | UnsetType = UNSET
    targeting: Aim | UnsetType = field(default=UNSET, name="aim")
    design: DesignName | UnsetType = UNSET
    scheduled_at: NewSchedule | UnsetType = UNSET
    time_zone: TimeZone | UnsetType = UNSET
    hidden: Hidden | UnsetType = UNSET
    version: Version = None
    autosave: Annotated[
        bool,
        Meta(description="Saves of one editor within ten minutes are one version, and answered without deliveries"),
    ] = False

    def sent(self) -> dict[str, Any]:
        """The fields that were sent, by name."""
        about = ("version", "autosave")
        return {name: value for name, value in asdict(self).items() if value is not UNSET and name not in about}


InWaves = Annotated[
    bool,
    Meta(
        description="People who were imported and never sent a campaign get it in waves of 50, 200, 1,000 and the "
        "rest. `false`: at once, like everybody else"
    ),
]


class Schedule(Struct, frozen=True):
    scheduled_at: Annotated[
        str,
        Meta(
            description="ISO 8601 with any offset, or without one with `time_zone`", examples=["2027-01-15T08:00:00Z"]
        ),
        Reads(fields.required_time),
    ]
    time_zone: TimeZone = None
    waves: InWaves = True


class Send(Struct, frozen=True):
    version: Version = None
    waves: InWaves = True


class Continue(Struct, frozen=True):
    wave: Annotated[
        int | None,
        Meta(description="The wave whose numbers you have seen: nothing happens if the next one has begun since"),
    ] = None


class NewCorrection(Struct, frozen=True):
    """Subject and preheader stay as they are if they are left out."""

    body: Body
    note: Note
    subject: Subject | UnsetType = UNSET
    preheader: Preheader | UnsetType = UNSET
    version: Version = None


class CorrectionSummary(Struct):
    subject: str
    preheader: str
    note: str
    corrected_at: Moment


class Correction(CorrectionSummary):
    body: str


class CampaignQuery(Struct):
    state: StateName | UnsetType = UNSET


class DeliverySummary(Struct):
    """All deliveries of a campaign in one."""

    state: DeliveryState
    recipients: Count
    sent: Count = field(name="sent_count")
    failed: Count = field(name="failure_count")
    unknown: Count = field(name="unknown_count")


class Wave(Struct):
    """People who were imported and never sent a campaign get it in waves; this is the current one. `next_at` is when
    the next one starts by itself."""

    number: Annotated[int, Meta(ge=1)]
    size: Count
    sent: Count
    bounced: Count
    complained: Count
    state: WaveState
    next_at: Moment | None


class Delivery(Struct):
    id: Id
    campaign_id: Id
    channel_type: Literal["email"]
    content: str | None
    state: DeliveryState
    recipients: Count
    sent: Count = field(name="sent_count")
    failed: Count = field(name="failure_count")
    unknown: Count = field(name="unknown_count")
    soft_bounced: SoftBounced
    hard_bounced: HardBounced
    complaints: Complaints
    left: Left
    error_detail: str | None
    note: str | None
    attempt: Count
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    waves: InWaves
    wave: Annotated[Wave | None, Meta(description="While it is being sent, if it has waves")]


class CampaignLine(Struct):
    id: Id
    subject: str
    state: State
    origin: Origin
    scheduled_at: Moment | None
    time_zone: str
    created_at: Moment
    updated_at: Moment
    published_at: Moment | None
    notice: str | None
    hidden: Hidden
    delivery: DeliverySummary


class CampaignPage(PageBody):
    items: list[CampaignLine]


class SavedCampaign(CampaignLine):
    preheader: Preheader
    format: Format
    body: Body
    text: PlainText
    targeting: Targeting = field(name="aim")
    design: DesignName
    version: Annotated[int, Meta(ge=1)]
    correction: Annotated[CorrectionSummary | None, Meta(description="Of the web version, after it was sent")]
    permitted: list[str]


class Campaign(SavedCampaign):
    deliveries: list[Delivery]
    removed: Removed | UnsetType = UNSET


class EditedCampaign(SavedCampaign):
    removed: Removed | UnsetType = UNSET
    deliveries: Annotated[list[Delivery] | UnsetType, Meta(description="Not in the answer to an autosave")] = UNSET


class Progress(Struct):
    state: State
    expected: Annotated[int | None, Meta(description="Estimated number of recipients")]
    deliveries: list[Delivery]


class VersionLine(Struct):
    """`version` is what the campaign's was when it was last saved."""

    version: Annotated[int, Meta(ge=1)]
    saved_at: Moment
    by: Annotated[str | None, Meta(description="Whom the dashboard let in; null if nobody is known")]
    autosave: bool
    subject: str
    words: Count
    bytes: Count
    current: bool


class Versions(Struct):
    items: list[VersionLine]


class VersionContent(VersionLine):
    preheader: Preheader
    format: Format
    body: Body
    text: PlainText
    targeting: Targeting = field(name="aim")
    design: DesignName


class Restore(Struct, frozen=True):
    version: Version = None

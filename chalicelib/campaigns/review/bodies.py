"""Reviews of a campaign as JSON: previews, test emails, the preflight report, how many people it reaches."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from chalicelib.audience.model import LONGEST_NICKNAME
from chalicelib.campaigns.bodies import Aim, Draft, Removed
from chalicelib.campaigns.model import Targeting
from chalicelib.campaigns.review import previews
from chalicelib.kernel.findings import Level
from chalicelib.web.schemas import Count, EmailAddress, Moment, Reads, text

Name = Annotated[str, Meta(max_length=LONGEST_NICKNAME, examples=["Ada"])]
Nickname = Annotated[Name | None, Reads(previews.parse_nickname)]


class PreviewQuery(Struct):
    nickname: Nickname = None


class PreviewDraft(Draft, frozen=True):
    nickname: Nickname = None


class Preview(Struct):
    subject: str
    html: str
    text: str
    removed: Removed


class TestEmail(Struct, frozen=True):
    email: Annotated[EmailAddress, text("email")]
    nickname: Nickname = None


class PreflightQuery(Struct):
    visit: Literal["links"] | UnsetType = UNSET


class Finding(Struct):
    level: Level
    code: Annotated[str, Meta(examples=["no_fallback"])]
    message: str


class Preflight(Struct):
    ready: bool
    recipients: Count
    imported: Annotated[Count, Meta(description="Recipients who were imported and never sent a campaign")]
    cost_usd: float
    finishes_at: Moment | None
    size: Count
    findings: list[Finding]


class Audience(Struct, frozen=True):
    targeting: Aim = field(default_factory=Targeting, name="aim")


class AudienceCount(Struct):
    recipients: Count

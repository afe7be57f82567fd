"""Reviews of a campaign as JSON: previews, test emails, the preflight report, how many people it reaches."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from chalicelib.audience.model import LONGEST_NICKNAME
from chalicelib.campaigns.bodies import Aim, Draft, Removed
from chalicelib.campaigns.model import Targeting
from chalicelib.campaigns.review import previews, testing
from chalicelib.kernel.findings import Level
from chalicelib.web.schemas import Count, EmailAddress, Id, Moment, Reads, text

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


Recipients = Annotated[list[EmailAddress], Meta(min_length=1, max_length=testing.MOST)]


class TestEmail(Struct, frozen=True):
    """Either `emails` or `email`, and either `subscriber_id` or `nickname` or neither."""

    emails: Annotated[Recipients | None, Reads(testing.parse_list)] = None
    email: Annotated[EmailAddress | None, text("email")] = None
    subscriber_id: Annotated[
        Id | None,
        Meta(description="With this subscriber's name; the links are a test's"),
        text("subscriber_id"),
    ] = None
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

"""The publication as JSON: what is sent to the API and what it answers. The rules of the fields are in `fields`."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.kernel.publication import Design
from chalicelib.site import fields
from chalicelib.web.schemas import EmailAddress, Moment

Name = Annotated[str, Meta(min_length=1, max_length=fields.LONGEST_NAME, examples=["The Slow Garden"])]
Line = Annotated[str, Meta(max_length=fields.LONGEST_LINE)]
Words = Annotated[str, Meta(max_length=fields.LONGEST_WORDS)]
Button = Annotated[str, Meta(max_length=fields.LONGEST_BUTTON)]
LogoUrl = Annotated[str, Meta(description="The URL of a picture that was uploaded on the settings page")]
Accent = Annotated[str, Meta(pattern="^#[0-9a-fA-F]{6}$", examples=["#0f766e"])]
Language = Annotated[str, Meta(examples=["en"])]
TimeZone = Annotated[str, Meta(description="An IANA name", examples=["Europe/Berlin"])]
Markdown = Annotated[
    str,
    Meta(
        max_length=fields.LONGEST_BODY,
        description="Markdown; `{{nickname|friend}}` and `{{greeting}}` are filled in for each reader",
    ),
]
DigestAt = Annotated[str, Meta(description="In the publication's time zone", examples=["09:00", "mon 09:00"])]
Minutes = Annotated[int, Meta(ge=0, le=fields.LONGEST_HOLD)]
Mode = Literal["auto", "review"]
Digest = Literal["off", "daily", "weekly"]
Images = Literal["copy", "link", "none"]
Version = Annotated[int, Meta(ge=0, description="Grows with every change; 0 is the environment as it is")]
Expected = Annotated[int, Meta(description="Refused if this is no longer the current version")]


class Colours(Struct, frozen=True):
    accent: Accent


class Confirmation(Struct, frozen=True):
    """An empty text means the usual words."""

    sentence: Words
    button: Button
    afterwards: Words


class Welcome(Struct, frozen=True):
    on: bool
    subject: Line
    body: Markdown
    link_last: bool


class SiteFeed(Struct, frozen=True):
    mode: Mode
    digest: Digest
    digest_at: DigestAt
    hold: Minutes
    images: Images


class Site(Struct, frozen=True):
    """The publication as readers see it."""

    name: Name
    tagline: Line
    logo: LogoUrl | None
    colours: Colours
    language: Language
    time_zone: TimeZone
    postal_address: Words
    contact_email: EmailAddress
    archive: bool
    footer: Words
    design: Design
    confirmation: Confirmation
    welcome: Welcome
    feed: SiteFeed
    version: Version
    environment: Annotated[list[str], Meta(description="Fields nobody has changed", examples=[["name", "feed.mode"]])]
    notes: Annotated[list[str], Meta(description="What was adjusted, such as a colour of low contrast")]


class ColourEdits(Struct, frozen=True):
    accent: Accent | UnsetType | None = UNSET


class ConfirmationEdits(Struct, frozen=True):
    sentence: Words | UnsetType | None = UNSET
    button: Button | UnsetType | None = UNSET
    afterwards: Words | UnsetType | None = UNSET


class WelcomeEdits(Struct, frozen=True):
    on: bool | UnsetType | None = UNSET
    subject: Line | UnsetType | None = UNSET
    body: Markdown | UnsetType | None = UNSET
    link_last: bool | UnsetType | None = UNSET


class FeedEdits(Struct, frozen=True):
    mode: Mode | UnsetType | None = UNSET
    digest: Digest | UnsetType | None = UNSET
    digest_at: DigestAt | UnsetType | None = UNSET
    hold: Minutes | UnsetType | None = UNSET
    images: Images | UnsetType | None = UNSET


class SiteEdits(Struct, frozen=True):
    """Fields that are left out stay as they are; null goes back to the value of the environment."""

    name: Name | UnsetType | None = UNSET
    tagline: Line | UnsetType | None = UNSET
    logo: LogoUrl | UnsetType | None = UNSET
    colours: ColourEdits | UnsetType | None = UNSET
    language: Language | UnsetType | None = UNSET
    time_zone: TimeZone | UnsetType | None = UNSET
    postal_address: Words | UnsetType | None = UNSET
    contact_email: EmailAddress | UnsetType | None = UNSET
    archive: bool | UnsetType | None = UNSET
    footer: Words | UnsetType | None = UNSET
    design: Design | UnsetType | None = UNSET
    confirmation: ConfirmationEdits | UnsetType | None = UNSET
    welcome: WelcomeEdits | UnsetType | None = UNSET
    feed: FeedEdits | UnsetType | None = UNSET
    version: Expected | UnsetType = UNSET


class Change(Struct, frozen=True):
    field: Annotated[str, Meta(examples=["colours.accent"])]
    before: str | int | bool
    after: str | int | bool


class Entry(Struct, frozen=True):
    """`restored` is the earlier version that was brought back, if it was one."""

    version: Version
    at: Moment
    by: str
    changes: list[Change]
    restored: int | None


class History(Struct, frozen=True):
    entries: list[Entry]


class Restore(Struct, frozen=True):
    restore: Annotated[int, Meta(ge=0, description="The version to bring back; 0 is the environment as it is")]
    version: Expected | UnsetType = UNSET

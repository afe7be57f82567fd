"""Pictures as JSON."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.campaigns.bodies import Campaign
from chalicelib.campaigns.model import State
from chalicelib.media import model
from chalicelib.web import schemas
from chalicelib.web.cursors import CursorBody
from chalicelib.web.schemas import Count, Id, Moment, Reads


def _check_content_type(value: Any) -> str:
    """A missing type is as wrong as any other, and answered as such."""
    return schemas.text("content_type").check(value) or ""


MediaId = Annotated[
    str,
    Meta(
        description="Of the upload, or the beginning of the picture's name",
        examples=["9c1185a5c5e9fc54612808977ee8f548"],
    ),
]
Url = Annotated[
    str,
    Meta(
        description="Where everybody finds it, for ever",
        examples=["https://news.example.org/media/9c1185a5c5e9fc54612808977ee8f548.jpg"],
    ),
]
Uses = Annotated[
    Count, Meta(description="By how much it is shown: campaigns, items of the inbox, the publication itself")
]


class MediaQuery(Struct):
    uploaded: Annotated[
        Literal["yes", "no"],
        Meta(description="Only what editors uploaded"),
        schemas.choice("uploaded", ("yes", "no")),
    ] = "no"


class NewMedia(Struct):
    content_type: Annotated[
        str,
        Meta(
            description="The exact type the form will be posted with", extra_json_schema={"enum": [*model.DESK_TYPES]}
        ),
        Reads(_check_content_type),
    ]
    size: Annotated[
        int, Meta(ge=1, le=model.LARGEST, description="In bytes"), schemas.whole_number("size", required=True)
    ]


class AnnouncedMedia(Struct):
    id: Id
    url: Annotated[str, Meta(description="Post the form to this address")]
    fields: Annotated[dict[str, str], Meta(description="The form's fields; `file` comes after them")]
    expires_at: Moment


class Media(Struct):
    id: MediaId
    url: Url
    width: Annotated[int, Meta(ge=1)]
    height: Annotated[int, Meta(ge=1)]
    bytes: Annotated[int, Meta(ge=1)]


class ProcessedMedia(Struct):
    """It is large: a worker makes it within seconds."""

    id: MediaId
    state: Literal["processing"]


class MediaUse(Struct):
    """A campaign that shows it, or whose corrected web version does; `sent_at` is null while it is a draft."""

    campaign_id: Id
    subject: str
    state: State
    sent_at: Moment | None


class MediaState(Struct):
    """What is known of the picture depends on its state: `error` if it was refused, the rest when it is ready."""

    id: MediaId
    state: Literal["processing", "ready", "refused"]
    error: str | UnsetType = UNSET
    url: Url | UnsetType = UNSET
    width: int | UnsetType = UNSET
    height: int | UnsetType = UNSET
    bytes: int | UnsetType = UNSET
    uses: Uses | UnsetType = UNSET
    used_in: Annotated[list[MediaUse], Meta(description="The newest hundred at most")] | UnsetType = UNSET
    on_site: bool | UnsetType = UNSET


class ListedMedia(Media):
    created_at: Moment | None
    uploaded: Annotated[bool, Meta(description="By an editor: it stays although nothing shows it")]
    uses: Uses
    used_in: Annotated[list[MediaUse], Meta(description="The newest five at most")]
    on_site: Annotated[bool, Meta(description="One of the last ten logos, or in the welcome email")]


class LeftPicture(Struct):
    url: str
    reason: Annotated[str, Meta(examples=["it answers with status 404"])]


class CopiedPictures(Struct):
    campaign: Campaign
    copied: Annotated[Count, Meta(description="Pictures that are our own copies now")]
    left: Annotated[list[LeftPicture], Meta(description="Those that are still elsewhere, and why")]


class MediaPage(CursorBody):
    items: list[ListedMedia]

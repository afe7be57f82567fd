"""Sightings and uploads as JSON. Times are in Unix seconds."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.kernel.errors import Invalid
from chalicelib.media import model as media
from chalicelib.sightings import model
from chalicelib.web import schemas
from chalicelib.web.cursors import CursorBody
from chalicelib.web.schemas import Reads


def _check_animal_name(value: Any) -> str:
    return model.check_animal_name(schemas.text("animal_name").check(value))


def _check_location(value: Any) -> str:
    return model.check_location(schemas.text("location").check(value))


def _check_shown_location(value: Any) -> str:
    return model.check_shown_location(schemas.text("shown_location").check(value))


def _check_credit(value: Any) -> str:
    return model.check_credit(schemas.text("credit").check(value))


def _check_version(value: Any) -> int:
    if value is None:
        raise Invalid("updated_at is required")
    version: int = schemas.whole_number("updated_at").check(value)
    return version


def _check_no_photo(value: Any) -> None:
    if value is not None:
        raise Invalid("photo can only be null: send upload_id for a new one")


def _check_content_type(value: Any) -> str:
    """A missing type is as wrong as any other, and answered as such."""
    return schemas.text("content_type").check(value) or ""


HexId = Annotated[
    str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{32}$"}, examples=["0193a5c411f07a6b8c012d3e4f506172"])
]
Seconds = Annotated[int, Meta(description="Unix time in seconds", examples=[1794902400])]
AnimalName = Annotated[
    str, Meta(max_length=model.LONGEST_NAME, examples=["Eastern Bluebird"]), Reads(_check_animal_name)
]
Location = Annotated[
    str, Meta(max_length=model.LONGEST_LOCATION, examples=["Central Park, NYC"]), Reads(_check_location)
]
UploadId = Annotated[str, Meta(description="Of an upload that is not attached to anything yet")]
PhotoUrl = Annotated[str | None, Meta(description="Works for ten minutes; null unless `photo_state` is `ready`")]
PhotoState = Literal["none", "processing", "ready", "refused"]


class NewSighting(Struct):
    animal_name: AnimalName
    location: Location
    upload_id: UploadId | None = None


class SightingChanges(Struct):
    """What is not sent stays as it is."""

    updated_at: Annotated[Seconds, Meta(description="As it was read"), Reads(_check_version)]
    animal_name: AnimalName | UnsetType = UNSET
    location: Location | UnsetType = UNSET
    upload_id: Annotated[UploadId | None, Meta(description="Adds or replaces the photo")] = None
    photo: Annotated[None, Meta(description="Null takes the photo away"), Reads(_check_no_photo)] | UnsetType = UNSET


class ShareChoice(Struct):
    shown_location: Annotated[
        str,
        Meta(max_length=model.LONGEST_SHOWN_LOCATION, description="The place the world may see; empty is none"),
        Reads(_check_shown_location),
    ] = ""
    credit: Annotated[
        str,
        Meta(max_length=model.LONGEST_CREDIT, description="How you want to be named; empty is anonymous"),
        Reads(_check_credit),
    ] = ""


class SearchQuery(Struct):
    q: Annotated[
        str,
        Meta(max_length=model.LONGEST_LOCATION, description="Part of name or place, in any case; pages may be short"),
    ] = ""


class Shared(Struct):
    shown_location: str
    credit: str
    shared_at: Seconds


class Sighting(Struct):
    """Format, size and time of the photo are those of what is served, and null until it is ready."""

    id: HexId
    animal_name: str
    location: str
    timestamp_sighted: Seconds
    photo_url: PhotoUrl
    photo_format: Annotated[str | None, Meta(examples=["image/jpeg"])]
    photo_size_bytes: int | None
    photo_uploaded_at: Seconds | None
    photo_state: PhotoState
    photo_error: Annotated[str | None, Meta(description="Why the photo was refused")]
    created_at: Seconds
    updated_at: Annotated[Seconds, Meta(description="Grows with every change; sharing does not move it")]
    shared: Shared | None


class SightingPage(CursorBody):
    items: list[Sighting]


class SharedSighting(Struct):
    """What the member chose to show, and nothing about them."""

    id: HexId
    animal_name: str
    shown_location: str
    credit: str
    photo_url: PhotoUrl
    photo_state: PhotoState
    shared_at: Seconds


class SharedSightingPage(CursorBody):
    items: list[SharedSighting]


class NewUpload(Struct):
    content_type: Annotated[str, Meta(examples=list(media.TYPES)), Reads(_check_content_type)]
    size: Annotated[
        int, Meta(ge=1, le=media.LARGEST, description="In bytes"), schemas.whole_number("size", required=True)
    ]


class AnnouncedUpload(Struct):
    """Post the file to `url` as a form: first `fields`, then the file as `file`."""

    upload_id: UploadId
    url: str
    fields: dict[str, str]
    expires_at: Seconds


class ReceivedUpload(Struct):
    upload_id: UploadId

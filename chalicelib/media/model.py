"""A picture, the states it goes through, and the bounds and texts it is refused by. No input or output."""

import re
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.wording import for_readers

LARGEST = 5_242_880
# Lambda takes requests of 6 MB, in which a file is base64.
LARGEST_FORM = 4_194_304
MOST_PIXELS = 40_000_000
LONGEST_SIDE = 2048
# Of the copy for lists: a card is a third of a page wide, on screens with two pixels for each.
SMALL_SIDE = 640
UPLOAD_LIFE = timedelta(minutes=10)
LINK_SECONDS = 600
UPLOADS_PER_HOUR = 200
# Who uploads what everybody may see: all editors together.
DESK = "desk"
# A picture of the desk is made while its uploader waits, up to so many pixels; a worker makes larger ones. That has
# the memory for the most pixels there may be, except of WebP, whose decoder takes three times as much.
MOST_PIXELS_AT_ONCE = 5_000_000
MOST_PIXELS_OF_WEBP = 16_000_000

JPEG, PNG, WEBP, GIF = "image/jpeg", "image/png", "image/webp", "image/gif"
TYPES = (JPEG, PNG, WEBP)
DESK_TYPES = (*TYPES, GIF)
# What public copies are: mail programs show no other format everywhere.
EXTENSIONS = {JPEG: "jpg", PNG: "png"}
# Lambda answers with 6 MB, in which a picture is base64.
LARGEST_COPY = 4_194_304
# Of a picture in a mail, and of one beside a title. A column of text is 600 wide, on screens with two pixels each.
MAIL_WIDTH, MAIL_HEIGHT = 1200, 4800
THUMBNAIL = 640
_NAME = re.compile(r"[0-9a-f]{32}\.(?:jpg|png)\Z")
# Whatever the host: the site may have moved since the text was written.
_ADDRESS = re.compile(r"/media/([0-9a-f]{32}\.(?:jpg|png))\b")
# Enough bytes for `sniff`.
HEAD = 32

WRONG_TYPE = for_readers("Only JPEG, PNG, WebP formats allowed")
NOT_FOR_DESK = "Only JPEG, PNG, WebP and GIF pictures can be uploaded"
NO_PICTURE = "Only JPEG, PNG, GIF and WebP pictures can be copied"
TOO_LARGE = for_readers("File size must be under 5MB")
TOO_LARGE_FOR_FORM = for_readers("Use the signed upload for files over 4 MB")
EMPTY = for_readers("The file is empty")
NOT_FOUND = for_readers("Upload not found")
USED = for_readers("Upload already used")
EXPIRED = for_readers("Upload expired")
UNREADABLE = for_readers("The photo could not be read")
TOO_MANY_PIXELS = for_readers("The photo has too many pixels")
NOT_PREPARED = for_readers("The photo could not be prepared")


# Of a picture of the desk.
NO_MEDIA = "Picture not found"
IN_USE = "The picture is used: take it out of what shows it first"
NOT_READY = "The picture is still being prepared"


class State(StrEnum):
    """`waiting` until it is attached to something, `processing` until the worker has made it `ready` or `refused`
    it; `deleted` from any of them, and from then on for ever."""

    WAITING = "waiting"
    PROCESSING = "processing"
    READY = "ready"
    REFUSED = "refused"
    DELETED = "deleted"


class Picture(Struct, frozen=True):
    """`format`, `size`, `width`, `height` and `uploaded_at` are those of what is served, so they are known only when
    it is ready; `error` only when it is refused. An upload may be attached up to `until`. `fingerprint` names the
    bytes that were checked: the worker prepares those and no others. `copy` is the public copy that was made of a
    picture of the desk."""

    id: str
    owner: str
    state: State
    created_at: datetime
    until: datetime
    format: str | None = None
    size: int | None = None
    width: int | None = None
    height: int | None = None
    uploaded_at: datetime | None = None
    error: str | None = None
    fingerprint: str | None = None
    attached_at: datetime | None = None
    copy: str | None = None


class PublicCopy(Struct, frozen=True):
    """A picture that everybody may see, under a name that says which bytes it has."""

    name: str
    width: int
    height: int
    bytes: int


class Kept(Struct, frozen=True):
    """A public copy as the list shows it: `id` is what editors know it by. `uses` counts what shows it; `used_in`
    names as many of these as there is room for. `uploaded` by an editor, it stays although nothing shows it."""

    id: str
    copy: PublicCopy
    uses: int
    used_in: frozenset[str]
    uploaded: bool
    created_at: datetime | None


class Announced(Struct, frozen=True):
    """Where a browser posts the file to, and the form fields that go before it."""

    id: str
    url: str
    fields: dict[str, str]
    expires_at: datetime


def sniff(head: bytes) -> str | None:
    """The type by its content: names and declared types say what somebody believes."""
    if head.startswith(b"\xff\xd8\xff"):
        return JPEG
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return WEBP
    return None


def stem(name: str) -> str:
    """The name of a public copy without its extension: its id, unless it came through a worker."""
    return name.partition(".")[0]


def names_of(stem: str) -> tuple[str, ...]:
    """The names that a public copy with this stem can have; none if it is no such stem."""
    names = tuple(f"{stem}.{extension}" for extension in EXTENSIONS.values())
    return names if is_name(names[0]) else ()


def is_name(text: str) -> bool:
    """Whether a public copy could have this name."""
    return _NAME.match(text) is not None


def find_names(text: str) -> frozenset[str]:
    """Of the public copies whose addresses are in the text. There need not be such copies."""
    return frozenset(_ADDRESS.findall(text))


def content_type(name: str) -> str:
    return next(format for format, extension in EXTENSIONS.items() if name.endswith(f".{extension}"))


def sniff_any(head: bytes) -> str | None:
    """Of what a public copy can be made."""
    return GIF if head.startswith((b"GIF87a", b"GIF89a")) else sniff(head)


def check_content(size: int, head: bytes, owner: str = "") -> None:
    """Whether these bytes may be a picture at all; decoding them is the worker's."""
    if size > LARGEST:
        raise Invalid(TOO_LARGE)
    sniff_for(owner, head)


def sniff_for(owner: str, head: bytes) -> str:
    """The type by its content, of what this owner may upload."""
    format = sniff_any(head) if owner == DESK else sniff(head)
    if format is None:
        raise Invalid(NOT_FOR_DESK if owner == DESK else WRONG_TYPE)
    return format

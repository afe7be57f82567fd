"""The inbox as JSON. Times are in Unix milliseconds."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.inbox import clipping, model, search
from chalicelib.inbox.model import Act, ContentType, Provider, State
from chalicelib.kernel.errors import Invalid
from chalicelib.web import schemas
from chalicelib.web.cursors import CursorBody
from chalicelib.web.schemas import Reads

LONGEST_URL = 2_000
LONGEST_TEXT = 50_000
# Longer than any id: what is longer still is not repeated in an answer.
_LONGEST_ID = 100


def _check_note(value: Any) -> str:
    return model.check_note(schemas.text("note").check(value) or "")


def _check_ids(value: Any) -> list[str]:
    """What is no id is the id of nothing, and answered so; only what is no text at all is refused."""
    if not isinstance(value, list) or not 1 <= len(value) <= model.MOST_AT_ONCE:
        raise Invalid(f"ids must be a list of 1 to {model.MOST_AT_ONCE} ids")
    if not all(isinstance(id, str) and len(id) <= _LONGEST_ID for id in value):
        raise Invalid("ids must contain ids of entries")
    return value


HexId = Annotated[
    str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{32}$"}, examples=["9c1185a5c5e9fc54612808977ee8f548"])
]
Milliseconds = Annotated[int, Meta(description="Unix time in milliseconds", examples=[1794902400000])]
StateName = Literal["INBOX", "BOOKMARKED", "ARCHIVED"]
ALL = "ALL"
ProviderName = Literal["YOUTUBE", "SPOTIFY", "RSS", "LINK", "SIGHTING"]
TypeName = Literal["VIDEO", "PODCAST", "ARTICLE", "LINK", "SIGHTING"]


_SHORT = Meta(description="With it, pages may be short")


class InboxQuery(Struct):
    state: Annotated[
        Literal["INBOX", "BOOKMARKED", "ARCHIVED", "ALL"],
        Meta(description="ALL is everything that was ever received, also what was dismissed or has expired"),
        schemas.choice("state", (*State, ALL)),
    ] = "INBOX"
    provider: Annotated[ProviderName, _SHORT, schemas.choice("provider", Provider)] | UnsetType = UNSET
    type: Annotated[TypeName, _SHORT, schemas.choice("type", ContentType)] | UnsetType = UNSET
    q: Annotated[
        str,
        Meta(
            max_length=search.LONGEST_SEARCH,
            description=f"Up to {search.MOST_WORDS} words, each in the title, the creator or the note, in any case. "
            "With it, pages may be short",
        ),
    ] = ""


def _check_url(value: Any) -> str:
    url = schemas.text("url", LONGEST_URL).check(value)
    if not url:
        raise Invalid("url is required")
    return str(url)


def _check_text(value: Any) -> str:
    return schemas.text("text", LONGEST_TEXT).check(value) or ""


class ExportQuery(Struct):
    format: Annotated[Literal["json", "csv", "markdown"], schemas.choice("format", ("json", "csv", "markdown"))] = (
        "json"
    )
    state: (
        Annotated[
            StateName,
            Meta(description="Without it, all that is in the inbox, bookmarked or archived"),
            schemas.choice("state", State),
        ]
        | UnsetType
    ) = UNSET


class NewClip(Struct):
    url: Annotated[str, Meta(max_length=LONGEST_URL, examples=["https://example.org/frost"]), Reads(_check_url)]
    note: Annotated[str, Meta(max_length=model.LONGEST_NOTE), Reads(_check_note)] | None = ""


class NewLines(Struct):
    text: Annotated[
        str,
        Meta(max_length=LONGEST_TEXT, description=f"Lines or any text with 1 to {clipping.MOST_LINKS} links in it"),
        Reads(_check_text),
    ]


class Suggestion(Struct):
    note: Annotated[str, Meta(max_length=model.LONGEST_NOTE), Reads(_check_note)] | None = ""


class PasteResult(Struct, omit_defaults=True):
    url: str
    ok: bool
    id: Annotated[str | None, Meta(description="The entry's, if there is one")] = None
    error: Annotated[str | None, Meta(description="Only if it was not saved")] = None


class PasteResults(Struct):
    results: list[PasteResult]


class NoteChange(Struct):
    note: (
        Annotated[
            str,
            Meta(
                max_length=model.LONGEST_NOTE,
                description="Null or empty takes it away. What members suggested goes unless the text ends with it",
            ),
            Reads(_check_note),
        ]
        | None
    )


class BulkAct(Struct):
    ids: Annotated[list[str], Meta(min_length=1, max_length=model.MOST_AT_ONCE), Reads(_check_ids)]
    action: Annotated[Literal["bookmark", "archive", "restore", "dismiss"], schemas.choice("action", Act)]


class Usage(Struct):
    """A campaign the item is part of; `sent_at` is null while it is a draft."""

    campaign_id: schemas.Id
    subject: str
    sent_at: Milliseconds | None


class InboxEntry(Struct):
    id: HexId
    state: Annotated[
        Literal["INBOX", "BOOKMARKED", "ARCHIVED", "DISMISSED"],
        Meta(description="DISMISSED only where everything is listed; it can no longer be acted on"),
    ]
    provider: ProviderName
    content_type: TypeName
    title: str
    creator: Annotated[str | None, Meta(description="The channel, show or site", examples=["The Channel"])]
    canonical_url: str
    image_url: Annotated[
        str | None,
        Meta(
            description="Our own copy, or of a sighting a link that works for ten minutes; null while there is none"
        ),
    ]
    excerpt: str | None
    duration_seconds: int | None
    published_at: Milliseconds | None
    received_at: Milliseconds
    follow_id: str | None
    note: Annotated[str | None, Meta(description="Below it, what members suggested who handed it to the editors")]
    used_in: list[Usage]
    problem: Annotated[str | None, Meta(description="Why the page could not be read")]
    available: Annotated[bool, Meta(description="False once its provider has deleted it")]


class InboxPage(CursorBody):
    items: list[InboxEntry]


class ActResult(Struct, omit_defaults=True):
    id: str
    ok: bool
    error: Annotated[str | None, Meta(description="Only if it was not done")] = None


class ActResults(Struct):
    results: list[ActResult]

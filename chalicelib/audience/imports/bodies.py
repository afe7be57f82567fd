"""Imports as JSON."""

from datetime import date
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from chalicelib.audience import model as audience
from chalicelib.audience.imports import model
from chalicelib.audience.imports.model import Consent, Joined
from chalicelib.audience.imports.reading import model as reading
from chalicelib.audience.imports.reading.model import Wanted
from chalicelib.audience.model import Word
from chalicelib.kernel import addresses
from chalicelib.kernel.errors import Invalid
from chalicelib.web import schemas
from chalicelib.web.schemas import Count, EmailAddress, Id, Moment, Reads

Day = Annotated[str, Meta(extra_json_schema={"format": "date"}, examples=["2026-11-18"])]
Mapping = Annotated[
    dict[str, int | None],
    Meta(description=f"Field → column number, from 0. Fields: {', '.join(reading.FIELDS)}"),
]
Status = Annotated[
    Literal["mailable", "unconfirmed", "bounced", "left", "complained"],
    Meta(description="Read the whole file as, for example, a list of bounces"),
]


def _check_mapping(value: Any) -> dict[str, int | None] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not all(_is_column(column) for column in value.values()):
        raise Invalid("mapping must be an object of fields and column numbers")
    if not set(value) <= set(reading.FIELDS):
        raise Invalid(f"mapping may contain only {', '.join(reading.FIELDS)}")
    return value


def _is_column(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _check_header(value: Any) -> bool | None:
    return None if value is None else bool(schemas.flag("header").check(value))


def _check_status(value: Any) -> str | None:
    return None if value is None else str(schemas.choice("status", model.STATUSES).check(value))


def _check_exported_on(value: Any) -> date | None:
    return model.check_day("exported_on", schemas.text("exported_on").check(value))


def _check_nickname(value: Any) -> str | None:
    text = schemas.text("nickname").check(value)
    return audience.check_nickname(text.strip() or None if text else None)


def _check_consent(value: Any) -> Consent:
    """As the struct `ConsentBody` describes it."""
    if not isinstance(value, dict):
        raise Invalid("consent is required: joined, last_mailed and statement")
    joined = Joined(schemas.choice("joined", Joined).check(value.get("joined")))
    last_mailed = model.check_day("last_mailed", schemas.text("last_mailed").check(value.get("last_mailed")))
    statement = schemas.text("statement").check(value.get("statement")) or ""
    return Consent(joined, model.check_statement(statement), last_mailed)


Email = Annotated[EmailAddress, Reads(lambda value: addresses.parse(schemas.text("email").check(value)).typed)]


class ConsentBody(Struct):
    """How these people joined, in the owner's words. It is kept with everybody who is added."""

    joined: Annotated[
        Literal["double", "single", "unsure"],
        Meta(description="Confirmed by link; signed up without; or you do not know, and nobody is imported"),
    ]
    statement: Annotated[str, Meta(min_length=1, max_length=model.LONGEST_STATEMENT)]
    last_mailed: Annotated[
        Day | None, Meta(description="With `single`: longer ago than 12 months, or never, they are asked to confirm")
    ] = None


class NewUpload(Struct):
    """A file of more than 4 MB: where to post it is answered."""

    size: Annotated[int, Meta(ge=1, le=model.MOST_BYTES, description="In bytes")]
    content_type: Annotated[
        Literal["text/csv", "application/zip"], Reads(schemas.choice("content_type", model.CONTENT_TYPES).check)
    ]
    name: Annotated[
        str, Meta(max_length=255, description="Of the file: some services write into it who is in the file")
    ] = ""


class ReadImport(Struct):
    """What is not given is guessed. Without any choice about reading, the file is read as before."""

    mapping: Annotated[Mapping | None, Reads(_check_mapping)] = None
    delimiter: Annotated[str, Meta(max_length=1)] | None = None
    encoding: Annotated[str, Meta(max_length=20)] | None = None
    header: Annotated[bool | None, Reads(_check_header)] = None
    date_format: Annotated[str, Meta(max_length=20)] | None = None
    status: Annotated[Status | None, Reads(_check_status)] = None
    exported_on: Annotated[
        Day | None, Meta(description="When the file was exported: `left_since` then says how many left here since")
    ] = None

    def wanted(self) -> Wanted | None:
        """None if nothing about reading was chosen."""
        chosen = Wanted(
            self.mapping,
            self.delimiter,
            self.encoding,
            self.header,
            self.date_format,
            model.STATUSES[self.status] if self.status else None,
        )
        chosen.check()
        return None if chosen == Wanted() else chosen


class StartImport(ReadImport, kw_only=True):
    consent: Annotated[ConsentBody, Reads(_check_consent)]
    source: Annotated[str, Meta(max_length=audience.LONGEST_RAW_SOURCE)] | None = None
    tags: Annotated[list[Word], Meta(max_length=audience.MOST_TAGS)] | None = None


class NewSubscriber(Struct):
    email: Email
    consent: Annotated[ConsentBody, Reads(_check_consent)]
    nickname: Annotated[str, Meta(max_length=audience.LONGEST_NICKNAME), Reads(_check_nickname)] | None = None
    source: Annotated[str, Meta(max_length=audience.LONGEST_RAW_SOURCE)] | None = None
    tags: Annotated[list[Word], Meta(max_length=audience.MOST_TAGS)] | None = None


class AddedSubscriber(Struct):
    """Activated, or pending until they confirm by the email they get."""

    id: Id
    email: EmailAddress
    nickname: str | None
    status: Literal["Pending", "Activated"]
    created_at: Moment
    activated_at: Moment | None
    sources: list[Word]
    tags: list[Word]


class Upload(Struct):
    """Post the fields and then the file, as a form, within ten minutes; then ask to read it."""

    url: str
    fields: dict[str, str]


class Results(Struct):
    """Each row counts once, so these add up to `done`."""

    imported: Count
    asked: Count
    already: Count
    duplicate: Count
    invalid: Count
    unconfirmed: Count
    left_elsewhere: Count
    suppressed: Count


class ImportSummary(Struct):
    id: Id
    state: Literal["waiting", "read", "running", "done", "cancelled", "failed", "undone"]
    rows: Count
    done: Count
    counts: Results
    weak_proof: Annotated[Count, Meta(description="Imported rows whose proof is missing or shared in bulk")]
    repaired: Annotated[Count, Meta(description="Rows whose address was repaired, such as `Name <a@b>`")]
    error: str | None
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    undo_until: Moment | None
    report_until: Moment | None
    undoing: bool
    removed: Annotated[Count, Meta(description="People whom undoing has removed")]


class ImportBody(ImportSummary):
    format: str | None
    delimiter: str | None
    encoding: str | None
    header: bool | None
    date_format: str | None
    columns: list[str]
    ignored: Annotated[list[str], Meta(description="Files of a zip that hold no addresses")]
    mapping: dict[str, int]
    preview: Annotated[
        list[list[str]],
        Meta(description="The first ten rows as read, up to 500 characters of each cell, while there is a file"),
    ]
    consent: ConsentBody | None
    source: str | None
    tags: list[Word]
    exported_on: Day | None
    left_since: Annotated[Count | None, Meta(description="How many left here since `exported_on`")]
    upload: Upload | None


class ImportList(Struct):
    items: list[ImportSummary]

"""The form in which a campaign is written: its fields as typed, and the draft they make once checked."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from chalicelib.campaigns import fields
from chalicelib.campaigns.model import CampaignDetail, Format, Segment, Targeting
from chalicelib.campaigns.service import Draft, Edits
from chalicelib.kernel.errors import Invalid
from chalicelib.web import whole_numbers
from chalicelib.web.request import Request
from chalicelib.web.text_size import html_size

DAY_FIELDS = ("joined_after", "joined_before")
# The fields for the sources and tags of the readers a campaign is for.
TARGETING_FIELDS = tuple(f"{kind}_{match}" for kind in ("sources", "tags") for match in ("any", "all", "none"))
# Fields that may be too long for a page. Such a field is left empty in the form, and saving keeps what is stored
# unless the author types something; a script fetches the full text into it.
LONG_FIELDS = (*TARGETING_FIELDS, "text", "body")
_LONGEST_LIST = 4_000
_LONGEST_DAY = 20
_BYTES_FOR_LONG_FIELDS = 33_000
_BYTES_FOR_TARGETING = 20_000


class Form(Struct, frozen=True):
    """`omitted` names the fields that are too long to be on the page."""

    subject: str = ""
    preheader: str = ""
    format: str = Format.MARKDOWN.value
    design: str = ""
    body: str = ""
    text: str = ""
    everybody: bool = True
    words: dict[str, str] = field(default_factory=lambda: dict.fromkeys(TARGETING_FIELDS, ""))
    joined_after: str = ""
    joined_before: str = ""
    version: int | None = None
    omitted: frozenset[str] = frozenset()

    def value(self, name: str) -> str:
        return self.words[name] if name in TARGETING_FIELDS else str(getattr(self, name))

    def visible(self, name: str) -> str:
        return "" if name in self.omitted else self.value(name)

    def draft(self) -> Draft:
        return Draft(
            subject=fields.subject(self.subject),
            body=fields.body(self.body),
            text=fields.text(self.text),
            preheader=fields.preheader(self.preheader),
            format=fields.choice(Format, self.format, "format"),
            targeting=self.targeting(),
            design=fields.design(self.design or None),
        )

    def preview_draft(self) -> Draft:
        """A draft to preview while it is being written: what is still empty is filled in."""
        return Draft(
            subject=fields.subject(self.subject.strip() or "Your subject"),
            body=fields.body(self.body if self.body.strip() else "Your text will appear here."),
            text=fields.text(self.text),
            preheader=fields.preheader(self.preheader),
            format=fields.choice(Format, self.format, "format"),
            design=fields.design(self.design or None),
        )

    def edits(self) -> Edits:
        return self.draft().split()

    def targeting(self) -> Targeting:
        if self.everybody:
            return Targeting()
        lists: dict[str, Any] = {"sources": {}, "tags": {}}
        for name, typed in self.words.items():
            kind, _, match = name.partition("_")
            if words := [word for word in typed.split(",") if word.strip()]:
                lists[kind][match] = words
        return fields.targeting(lists | {name: getattr(self, name).strip() or None for name in DAY_FIELDS})


def parse_form(request: Request, stored: Form | None = None) -> Form:
    """The form as sent. Browsers send CRLF line ends; `\n` is stored."""

    def line(name: str) -> str:
        return (request.text(name) or "").replace("\r\n", "\n")

    omitted = {name for name in LONG_FIELDS if stored and request.text(f"kept_{name}") and not line(name).strip()}

    def long(name: str) -> str:
        return stored.value(name) if stored and name in omitted else line(name)

    words = {name: long(name)[:_LONGEST_LIST] for name in TARGETING_FIELDS}
    return Form(
        subject=line("subject"),
        preheader=line("preheader"),
        format=line("format"),
        design=line("design") if not stored or request.text("design") is not None else stored.design,
        body=long("body"),
        text=long("text"),
        everybody=line("audience") != "some",
        words=words,
        joined_after=line("joined_after")[:_LONGEST_DAY],
        joined_before=line("joined_before")[:_LONGEST_DAY],
        version=_version(line("version")),
        omitted=frozenset(omitted),
    )


def form_from(detail: CampaignDetail) -> Form:
    campaign, content = detail.campaign, detail.content
    form = Form(
        subject=campaign.subject,
        preheader=campaign.preheader,
        format=campaign.format.value,
        design=campaign.design or "",
        body=content.body,
        text=content.text or "",
        version=campaign.version,
    )
    return with_targeting(form, campaign.targeting)


def form_for(segment: Segment) -> Form:
    """The fields of its targeting; the rest is empty."""
    return replace(with_targeting(Form(), segment.targeting), everybody=False, version=segment.version)


def with_targeting(form: Form, targeting: Targeting) -> Form:
    values = to_builtins(targeting)
    return replace(
        form,
        everybody=targeting.everybody,
        words={name: ", ".join(values[name.partition("_")[0]][name.partition("_")[2]]) for name in TARGETING_FIELDS},
        joined_after=values["joined_after"] or "",
        joined_before=values["joined_before"] or "",
        omitted=form.omitted - set(TARGETING_FIELDS),
    )


def fit_to_page(form: Form) -> Form:
    """The same form, with fields omitted that do not fit on the page."""
    return _fit(form, LONG_FIELDS, _BYTES_FOR_LONG_FIELDS)


def fit_targeting(form: Form) -> Form:
    """The same for a form whose text is not stored yet, and so cannot be omitted."""
    return _fit(form, TARGETING_FIELDS, _BYTES_FOR_TARGETING)


def _fit(form: Form, names: Sequence[str], available: int) -> Form:
    omitted = set()
    for name in names:
        size = html_size(form.value(name))
        if size > available:
            omitted.add(name)
        else:
            available -= size
    return replace(form, omitted=frozenset(omitted))


def _version(text: str) -> int | None:
    number = whole_numbers.parse(text)
    if text and number is None:
        raise Invalid("version must be a whole number")
    return number

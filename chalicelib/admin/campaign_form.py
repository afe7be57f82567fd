"""What stands in the form an author writes a campaign in, as typed; and the campaign it makes, once it is checked."""

from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from chalicelib.admin.truncate import html_size
from chalicelib.campaigns import fields
from chalicelib.campaigns.model import CampaignDetail, Format, Targeting
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.errors import Invalid
from chalicelib.web.request import Request

# Which words a reader's sources and tags are compared with: the names of the fields that hold them.
WORDS = tuple(f"{kind}_{how}" for kind in ("sources", "tags") for how in ("any", "all", "none"))
# What may be too long for a page. A field that is, stays empty in the form and keeps what is stored; a script
# fetches it into its place, and without one the author may write over it.
LONG = (*WORDS, "text", "body")
_LONGEST = 4_000
_ROOM = 40_000


class Form(Struct, frozen=True):
    """`held` names the fields whose words are not on the page."""

    subject: str = ""
    preheader: str = ""
    format: str = Format.MARKDOWN.value
    body: str = ""
    text: str = ""
    everybody: bool = True
    words: dict[str, str] = field(default_factory=lambda: dict.fromkeys(WORDS, ""))
    version: int | None = None
    held: frozenset[str] = frozenset()

    def long(self, name: str) -> str:
        return self.words[name] if name in WORDS else str(getattr(self, name))

    def shown(self, name: str) -> str:
        return "" if name in self.held else self.long(name)

    def draft(self) -> Draft:
        return Draft(
            subject=fields.subject(self.subject),
            body=fields.body(self.body),
            text=fields.text(self.text),
            preheader=fields.preheader(self.preheader),
            format=fields.choice(Format, self.format, "format"),
            targeting=self.targeting(),
        )

    def sketch(self) -> Draft:
        """Good enough to look at while it is being written."""
        return Draft(
            subject=fields.subject(self.subject.strip() or "Your subject"),
            body=fields.body(self.body if self.body.strip() else "Your text will appear here."),
            text=fields.text(self.text),
            preheader=fields.preheader(self.preheader),
            format=fields.choice(Format, self.format, "format"),
        )

    def edits(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Fields of the campaign, and fields of its content."""
        detail = self.draft()
        campaign = {name: getattr(detail, name) for name in ("subject", "preheader", "format", "targeting")}
        return campaign, {"body": detail.body, "text": detail.text}

    def targeting(self) -> Targeting:
        if self.everybody:
            return Targeting()
        lists: dict[str, dict[str, list[str]]] = {"sources": {}, "tags": {}}
        for name, typed in self.words.items():
            kind, _, how = name.partition("_")
            if words := [word for word in typed.split(",") if word.strip()]:
                lists[kind][how] = words
        return fields.targeting(lists)


def parse_form(request: Request, stored: Form | None = None) -> Form:
    """Line ends of a form are those of a typewriter; ours are not."""

    def line(name: str) -> str:
        return (request.text(name) or "").replace("\r\n", "\n")

    held = {name for name in LONG if stored and request.text(f"kept_{name}") and not line(name).strip()}

    def long(name: str) -> str:
        return stored.long(name) if stored and name in held else line(name)

    words = {name: long(name)[:_LONGEST] for name in WORDS}
    return Form(
        subject=line("subject"),
        preheader=line("preheader"),
        format=line("format"),
        body=long("body"),
        text=long("text"),
        everybody=line("audience") != "some",
        words=words,
        version=_version(line("version")),
        held=frozenset(held),
    )


def form_from(detail: CampaignDetail) -> Form:
    campaign, content = detail.campaign, detail.content
    targeting = to_builtins(campaign.targeting)
    words = {name: ", ".join(targeting[name.partition("_")[0]][name.partition("_")[2]]) for name in WORDS}
    return Form(
        subject=campaign.subject,
        preheader=campaign.preheader,
        format=campaign.format.value,
        body=content.body,
        text=content.text or "",
        everybody=campaign.targeting.everybody,
        words=words,
        version=campaign.version,
    )


def fit_to_page(form: Form) -> Form:
    """The same form, its longest words left out as far as there is no room for them."""
    room, held = _ROOM, set()
    for name in LONG:
        size = html_size(form.long(name))
        if size > room:
            held.add(name)
        else:
            room -= size
    return replace(form, held=frozenset(held))


def _version(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Invalid("version must be a whole number")
    return int(text)

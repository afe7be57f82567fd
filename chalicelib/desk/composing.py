"""What stands in the form an author writes a campaign in, as typed; and the campaign it makes, once it is checked."""

from dataclasses import asdict, field
from typing import Any

from chalicelib.campaigns import fields
from chalicelib.campaigns.model import Aim, Format, Whole
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.value import value
from chalicelib.web.request import Request

# Which words a reader's sources and tags are compared with: the names of the fields that hold them.
WORDS = tuple(f"{kind}_{how}" for kind in ("sources", "tags") for how in ("any", "all", "none"))
_LONGEST = 4_000


@value
class Form:
    subject: str = ""
    preheader: str = ""
    format: str = Format.MARKDOWN.value
    body: str = ""
    text: str = ""
    everybody: bool = True
    words: dict[str, str] = field(default_factory=lambda: dict.fromkeys(WORDS, ""))
    version: int | None = None

    def draft(self) -> Draft:
        return Draft(
            subject=fields.subject(self.subject),
            body=fields.body(self.body),
            text=fields.text(self.text),
            preheader=fields.preheader(self.preheader),
            format=fields.choice(Format, self.format, "format"),
            aim=self.aim(),
        )

    def sketch(self) -> Draft:
        """Good enough to look at while it is being written."""
        return Draft(
            subject=fields.subject(self.subject.strip() or "Your subject"),
            body=fields.body(self.body if self.body.strip() else "Your words will appear here."),
            text=fields.text(self.text),
            preheader=fields.preheader(self.preheader),
            format=fields.choice(Format, self.format, "format"),
        )

    def edits(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Fields of the campaign, and fields of its content."""
        whole = self.draft()
        campaign = {name: getattr(whole, name) for name in ("subject", "preheader", "format", "aim")}
        return campaign, {"body": whole.body, "text": whole.text}

    def aim(self) -> Aim:
        if self.everybody:
            return Aim()
        lists: dict[str, dict[str, list[str]]] = {"sources": {}, "tags": {}}
        for name, typed in self.words.items():
            kind, _, how = name.partition("_")
            if words := [word for word in typed.split(",") if word.strip()]:
                lists[kind][how] = words
        return fields.aim(lists)


def typed(request: Request) -> Form:
    """Line ends of a form are those of a typewriter; ours are not."""

    def line(name: str) -> str:
        return (request.text(name) or "").replace("\r\n", "\n")

    words = {name: line(name)[:_LONGEST] for name in WORDS}
    return Form(
        subject=line("subject"),
        preheader=line("preheader"),
        format=line("format"),
        body=line("body"),
        text=line("text"),
        everybody=line("audience") != "some",
        words=words,
        version=_version(line("version")),
    )


def of(whole: Whole) -> Form:
    campaign, content = whole.campaign, whole.content
    aim = asdict(campaign.aim)
    words = {name: ", ".join(aim[name.partition("_")[0]][name.partition("_")[2]]) for name in WORDS}
    return Form(
        subject=campaign.subject,
        preheader=campaign.preheader,
        format=campaign.format.value,
        body=content.body,
        text=content.text or "",
        everybody=campaign.aim.everybody,
        words=words,
        version=campaign.version,
    )


def _version(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Invalid("version must be a whole number")
    return int(text)

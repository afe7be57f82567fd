"""From what an author wrote to what a reader gets. Preview, test email, archive and sending all use it.

It is done once for a campaign: Markdown, sanitiser, template, inlined styles, plain text. What remains to be done for
each reader is filling in holes.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from chalicelib.campaigns.content import body, merge_tags, placeholders
from chalicelib.campaigns.content.body import Body
from chalicelib.campaigns.content.marks import Marks
from chalicelib.campaigns.content.merge_tags import MergeTag
from chalicelib.campaigns.content.placeholders import Placeholder, Placeholders
from chalicelib.campaigns.model import Campaign, CampaignDetail, Correction, Format
from chalicelib.kernel import languages, publication, settings
from chalicelib.kernel.errors import Misconfigured
from chalicelib.kernel.wording import for_readers
from chalicelib.mail import mailboxes, templates
from chalicelib.mail.message import Message

# The names of the marks around what belongs to one reader.
_STARTS, _ENDS = "starts", "ends"
_CORRECTED = for_readers("Corrected on %(date)s:")
_MOST_FIRST_WORDS = 120
_UNSUBSCRIBE = "/api/unsubscribe?token="


class Mailing(Struct, frozen=True):
    """A campaign ready to be sent: three templates with holes, and how the holes are filled for a reader. `written`
    is the plain text of the body alone, for somebody without a nickname."""

    subject: str
    html: str
    text: str
    page: str
    placeholders: tuple[Placeholder, ...]
    fixed: Mapping[str, str]
    headers_for_all: Mapping[str, str]
    unsubscribe_url: str
    removed: tuple[str, ...]
    unknown: tuple[MergeTag, ...]
    foreign: tuple[MergeTag, ...]
    unfilled: bool
    written: str

    def values(self, nickname: str | None, token: str) -> dict[str, str]:
        return placeholders.values(self.placeholders, self.fixed, nickname, token)

    def headers(self, token: str) -> dict[str, str]:
        """RFC 8058: an address for this reader, to which a mail program may POST without asking again."""
        return {**self.headers_for_all, "List-Unsubscribe": f"<{self.unsubscribe_url}{token}>"}

    def message(self, to: str, nickname: str | None, token: str) -> Message:
        """What SES makes of it for this reader, byte for byte."""
        given = self.values(nickname, token)
        subject, body, text = (placeholders.fill(part, given) for part in (self.subject, self.html, self.text))
        return Message(to, subject, body, text, self.headers(token))

    def archived(self) -> str:
        """The same page without anything personal."""
        return placeholders.fill(self.page, self.values(None, ""))


class Article(Struct, frozen=True):
    """The body of a campaign as a part of a page or a feed, without anything personal. `has_title`: it begins with a
    heading of its own, or with a picture and then one."""

    html: str
    text: str
    has_title: bool
    has_own_colours: bool


class _Written(Struct, frozen=True):
    """What the author wrote, with marks for placeholders: the body, a plain text of their own if there is one, and
    each part as it is searched for placeholders nobody fills in."""

    body: Body
    text: str | None
    searched: dict[str, str]


def render(detail: CampaignDetail, correction: Correction | None = None) -> Mailing:
    """With a `correction`, the note of what was corrected stands before the body."""
    campaign = detail.campaign
    found = Placeholders()
    written = _read(detail, found)
    body_text = written.body.text()
    text = written.text if written.text is not None else body_text
    values = _template_values(campaign, found, text)
    shown = _noted(written.body.html, correction, found)
    traits = {"titled": not written.body.has_title, "own_colours": written.body.has_own_colours}
    page = _inliner().inline(_template("campaign.html").render(values, body=shown, **traits))
    plain = _template("campaign.txt").render(values, text=text).strip() + "\n"
    public = _public_part(page, found.marks)
    _check_unsubscribe_links(page, public, plain, found.marks)
    return Mailing(
        subject=found.holes(values["subject"], is_html=False),
        html=found.holes(_without_frame(page, found.marks), is_html=True),
        text=found.holes(_without_frame(plain, found.marks), is_html=False),
        page=found.holes(public, is_html=True),
        placeholders=found.all,
        fixed=dict(found.fixed),
        headers_for_all=_headers(),
        unsubscribe_url=settings.current().url(_UNSUBSCRIBE),
        removed=tuple(written.body.removed),
        unknown=_search(merge_tags.find_unknown, written),
        foreign=_search(merge_tags.find_foreign, written),
        # Marks stand for the placeholders in text; those in addresses and styles are as typed.
        unfilled=bool(placeholders.find(written.body.html)),
        written=found.without_nickname(body_text),
    )


def render_article(detail: CampaignDetail, correction: Correction | None = None) -> Article:
    """What `render` puts into the frame of a mail, for the archive to put into its own."""
    found = Placeholders()
    read = body.read(detail.campaign.format, detail.content.body, found)
    shown = found.holes(_noted(read.html, correction, found), is_html=True)
    given = placeholders.values(found.all, found.fixed, None, "")
    return Article(
        html=placeholders.fill(shown, given),
        text=found.without_nickname(read.text()),
        has_title=read.begins_with_title,
        has_own_colours=read.has_own_colours,
    )


def removed_markup(format: Format, source: str) -> list[str]:
    """What the sanitiser takes out of a body."""
    return body.read(format, source, Placeholders()).removed


def check(detail: CampaignDetail) -> None:
    """Raises if the body cannot be rendered."""
    body.read(detail.campaign.format, detail.content.body, Placeholders())


def find_unknown(detail: CampaignDetail, note: str = "") -> tuple[MergeTag, ...]:
    """Placeholders that readers would see as typed, also in the note of a correction."""
    return _search(merge_tags.find_unknown, _read(detail, Placeholders(), note))


def without_names(line: str) -> str:
    """A subject as it reads for somebody without a nickname."""
    found = Placeholders()
    return found.without_nickname(found.take(line))


def _read(detail: CampaignDetail, found: Placeholders, note: str = "") -> _Written:
    campaign, content = detail.campaign, detail.content
    read = body.read(campaign.format, content.body, found, _design(campaign))
    text = found.take(content.text) if content.text is not None else None
    searched = {
        "subject": found.take(campaign.subject),
        "preheader": found.take(campaign.preheader),
        "body": read.searched,
        "plain text": text or "",
        "note": found.take(note),
    }
    known = {part: found.marks.replace(marked, lambda _: merge_tags.KNOWN) for part, marked in searched.items()}
    return _Written(read, text, known)


def _search(find: Callable[[str, str], list[MergeTag]], written: _Written) -> tuple[MergeTag, ...]:
    return tuple(tag for part, text in written.searched.items() for tag in find(part, text))


def _template_values(campaign: Campaign, found: Placeholders, text: str) -> dict[str, Any]:
    site = settings.current()
    in_archive = publication.current().archive and campaign.targeting.everybody and not campaign.hidden
    return {
        **templates.site_values(),
        "design": _design(campaign),
        "subject": found.take(campaign.subject),
        "preheader": found.take(campaign.preheader) or _first_words(found.without_nickname(text)),
        "unsubscribe_url": site.url(_UNSUBSCRIBE + found.marks.mark(placeholders.TOKEN)),
        "profile_url": site.url("/profile"),
        "web_url": site.url(f"/archive/{campaign.id}") if in_archive else "",
        "one_reader_starts": found.marks.mark(_STARTS),
        "one_reader_ends": found.marks.mark(_ENDS),
    }


def _design(campaign: Campaign) -> str:
    """A name that only a newer version knows is the default."""
    chosen = campaign.design or publication.current().design
    return chosen if chosen in publication.DESIGNS else publication.DESIGNS[0]


def _headers() -> dict[str, str]:
    host = urlsplit(settings.current().site_url).hostname
    list_id = mailboxes.named(publication.current().name, f"newsletter.{host}")
    return {"List-Id": list_id, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def _check_unsubscribe_links(page: str, public: str, plain: str, marks: Marks) -> None:
    """A deployment may bring its own templates, but they must have an unsubscribe link and must not publish it."""
    token = marks.mark(placeholders.TOKEN)
    if token not in page or token not in plain:
        raise Misconfigured("The campaign templates must contain {{ unsubscribe_url }}")
    if token in public:
        raise Misconfigured("campaign.html must have {{ unsubscribe_url }} between the one_reader marks")


def _public_part(page: str, marks: Marks) -> str:
    """Without what belongs to one reader."""
    return re.sub(f"{marks.mark(_STARTS)}.*?{marks.mark(_ENDS)}", "", page, flags=re.DOTALL)


def _without_frame(template: str, marks: Marks) -> str:
    return template.replace(marks.mark(_STARTS), "").replace(marks.mark(_ENDS), "")


def _first_words(text: str) -> str:
    """The beginning, for the line that inboxes show beside the subject."""
    words = " ".join(text.split())
    if len(words) <= _MOST_FIRST_WORDS:
        return words
    return words[:_MOST_FIRST_WORDS].rpartition(" ")[0] + "…"


def _template(name: str) -> Any:
    return templates.environment().get_template(name)


def _noted(markup: str, correction: Correction | None, found: Placeholders) -> Any:
    if not correction:
        return _safe(markup)
    lang = languages.choose()
    date = languages.write_date(correction.corrected_at, lang)
    when = languages.catalogue(lang).gettext(_CORRECTED) % {"date": date}
    note = _safe('<p class="small"><strong>{}</strong> {}</p>\n')
    return note.format(when, found.take(correction.note)) + _safe(markup)


def _safe(markup: str) -> Any:
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 - sanitised


@lru_cache(maxsize=1)
def _inliner() -> Any:
    import css_inline

    return css_inline.CSSInliner(keep_at_rules=True, keep_style_tags=False, load_remote_stylesheets=False)

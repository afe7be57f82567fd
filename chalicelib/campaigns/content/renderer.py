"""From what an author wrote to what a reader gets. Preview, test email, archive and sending all use it.

It is done once for a campaign: Markdown, sanitiser, template, inlined styles, plain text. What remains to be done for
each reader is filling in holes.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from chalicelib.campaigns.content import placeholders, plain_text, sanitise
from chalicelib.campaigns.content.placeholders import Placeholder, Placeholders
from chalicelib.campaigns.model import Campaign, CampaignDetail, Correction, Format
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Misconfigured
from chalicelib.mail import mailboxes, templates
from chalicelib.mail.message import Message

# Unicode noncharacters mark places while the templates are rendered; the result has none of them.
_TOKEN, _STARTS, _ENDS = "\ufdda", "\ufddb", "\ufddc"
_ONE_READERS_PART = re.compile(f"{_STARTS}.*?{_ENDS}", re.DOTALL)
_MOST_FIRST_WORDS = 120
_UNSUBSCRIBE = "/api/unsubscribe?token="


class Mailing(Struct, frozen=True):
    """A campaign ready to be sent: three templates with holes, and how the holes are filled for a reader."""

    subject: str
    html: str
    text: str
    page: str
    placeholders: tuple[Placeholder, ...]
    fixed: Mapping[str, str]
    headers_for_all: Mapping[str, str]
    unsubscribe_url: str
    removed: tuple[str, ...]

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


def render(detail: CampaignDetail, correction: Correction | None = None) -> Mailing:
    """With a `correction`, the note of what was corrected stands before the body."""
    campaign, content = detail.campaign, detail.content
    found = Placeholders()
    body, removed = _body(campaign.format, content.body, found)
    text = found.take(content.text) if content.text is not None else plain_text.from_html(body)
    values = _template_values(campaign, found, text)
    page = _inliner().inline(
        _template("campaign.html").render(values, body=_noted(body, correction, found), titled="<h1" not in body)
    )
    plain = _template("campaign.txt").render(values, text=text).strip() + "\n"
    _check_unsubscribe_links(page, plain)
    return Mailing(
        subject=found.holes(values["subject"], is_html=False),
        html=_with_token_hole(found.holes(page, is_html=True)),
        text=_with_token_hole(found.holes(plain, is_html=False)),
        page=found.holes(_ONE_READERS_PART.sub("", page), is_html=True),
        placeholders=tuple(found.all),
        fixed=dict(found.fixed),
        headers_for_all=_headers(),
        unsubscribe_url=settings.current().url(_UNSUBSCRIBE),
        removed=tuple(removed),
    )


def removed_markup(format: Format, source: str) -> list[str]:
    """What the sanitiser takes out of a body."""
    return _body(format, source, Placeholders())[1]


def without_names(line: str) -> str:
    """A subject as it reads for somebody without a nickname."""
    found = Placeholders()
    return found.without_nickname(found.take(line))


def _body(format: Format, source: str, found: Placeholders) -> tuple[str, list[str]]:
    marked = found.take(source, is_html=True)
    markup = _markdown(marked) if format is Format.MARKDOWN else marked
    clean = sanitise.clean(markup, settings.current().site_url, found.typed)
    return clean, sanitise.describe_removed(markup, clean)


def _template_values(campaign: Campaign, found: Placeholders, text: str) -> dict[str, Any]:
    site = settings.current()
    in_archive = site.archive and campaign.targeting.everybody and not campaign.hidden
    return {
        **templates.site_values(),
        "link_in_dark": _lightened(site.site_color),
        "subject": found.take(campaign.subject),
        "preheader": found.take(campaign.preheader) or _first_words(found.without_nickname(text)),
        "unsubscribe_url": site.url(_UNSUBSCRIBE + _TOKEN),
        "profile_url": site.url("/profile"),
        "web_url": site.url(f"/archive/{campaign.id}") if in_archive else "",
        "one_reader_starts": _STARTS,
        "one_reader_ends": _ENDS,
    }


def _headers() -> dict[str, str]:
    site = settings.current()
    list_id = mailboxes.named(site.site_name, f"newsletter.{urlsplit(site.site_url).hostname}")
    return {"List-Id": list_id, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def _check_unsubscribe_links(page: str, plain: str) -> None:
    """A deployment may bring its own templates, but they must have an unsubscribe link and must not publish it."""
    if _TOKEN not in page or _TOKEN not in plain:
        raise Misconfigured("The campaign templates must contain {{ unsubscribe_url }}")
    if _TOKEN in _ONE_READERS_PART.sub("", page):
        raise Misconfigured("campaign.html must have {{ unsubscribe_url }} between the one_reader marks")


def _with_token_hole(template: str) -> str:
    return template.replace(_STARTS, "").replace(_ENDS, "").replace(_TOKEN, f"{{{{{placeholders.TOKEN}}}}}")


def _first_words(text: str) -> str:
    """The beginning, for the line that inboxes show beside the subject."""
    words = " ".join(text.split())
    if len(words) <= _MOST_FIRST_WORDS:
        return words
    return words[:_MOST_FIRST_WORDS].rpartition(" ")[0] + "…"


def _lightened(colour: str) -> str:
    """A lighter shade that can be read on black."""
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(channel + (255 - channel) * 0.5):02x}" for channel in channels)


def _template(name: str) -> Any:
    return templates.environment().get_template(name)


def _noted(body: str, correction: Correction | None, found: Placeholders) -> Any:
    if not correction:
        return _safe(body)
    at = correction.corrected_at
    note = _safe('<p class="small"><strong>Corrected on {}:</strong> {}</p>\n')
    return note.format(f"{at.day} {at:%B %Y}", found.take(correction.note)) + _safe(body)


def _safe(markup: str) -> Any:
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 - sanitised


def _markdown(source: str) -> str:
    import mistune

    markup = mistune.create_markdown(escape=False, plugins=["strikethrough", "table", "url"])(source)
    assert isinstance(markup, str)
    return markup


@lru_cache(maxsize=1)
def _inliner() -> Any:
    import css_inline

    return css_inline.CSSInliner(keep_at_rules=True, keep_style_tags=False, load_remote_stylesheets=False)

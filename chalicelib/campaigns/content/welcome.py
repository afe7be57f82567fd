"""The mail that is sent once, after somebody has confirmed: written by the publication, and made by the rules of
campaigns, with the same placeholders and the same link to unsubscribe. The audience sends it."""

import re

from msgspec.structs import replace

from chalicelib.audience.model import TEST_TOKEN
from chalicelib.campaigns import service
from chalicelib.campaigns.bodies import Draft
from chalicelib.campaigns.content import catalogue, renderer
from chalicelib.campaigns.content.merge_tags import MergeTag
from chalicelib.campaigns.content.renderer import Mailing
from chalicelib.campaigns.model import Format
from chalicelib.kernel import languages, publication
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.publication import Welcome
from chalicelib.kernel.wording import for_readers
from chalicelib.mail.message import Message

_SUBJECT = for_readers("Welcome to %(name)s")
_THANKS = for_readers("Thank you for subscribing to %(name)s.")
_LAST = for_readers("Our last issue:")
_SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")


def make(to: str, nickname: str | None, token: str) -> Message:
    """For one reader; `token` is that of their link to unsubscribe. A subject of nothing but the name is empty for
    somebody who has told none: they get the usual one."""
    shown = publication.current().welcome
    try:
        return _render(shown).message(to, nickname, token)
    except Invalid:
        return _render(replace(shown, subject="")).message(to, nickname, token)


def find_unknown(welcome: Welcome) -> tuple[MergeTag, ...]:
    """What readers would see as it was typed: in a campaign, the review refuses it."""
    draft = Draft(welcome.subject or "-", welcome.body or "-", format=Format.MARKDOWN)
    return renderer.find_unknown(service.preview_detail(draft))


def preview() -> Message:
    return make("reader@example.org", None, str(TEST_TOKEN))


def _render(welcome: Welcome) -> Mailing:
    name = publication.current().name
    words = languages.catalogue(languages.choose()).gettext
    subject = welcome.subject or (words(_SUBJECT) % {"name": name}).replace("{{", "\\{{")
    thanks = words(_THANKS) % {"name": _escaped(name)}
    body = welcome.body or f"{{{{greeting}}}}\n\n{thanks}"
    if welcome.link_last:
        body += _last_issue()
    detail = service.preview_detail(Draft(subject, body, format=Format.MARKDOWN))
    # It is in no archive, so it has no link there.
    return renderer.render(replace(detail, campaign=replace(detail.campaign, hidden=True)))


def _last_issue() -> str:
    issues = catalogue.current() if publication.current().archive else ()
    if not issues:
        return ""
    said = languages.catalogue(languages.choose()).gettext(_LAST)
    return f"\n\n{said} [{_escaped(issues[0].subject)}]({issues[0].url})"


def _escaped(text: str) -> str:
    """As it is, whatever it would mean in Markdown or as a placeholder."""
    return _SPECIAL.sub(r"\\\1", text)

"""The mail that is sent once, after somebody has confirmed: written by the publication, and made by the rules of
campaigns, with the same placeholders and the same link to unsubscribe. The audience sends it."""

import re

from msgspec.structs import replace

from chalicelib.audience.model import TEST_TOKEN
from chalicelib.campaigns import service
from chalicelib.campaigns.bodies import Draft
from chalicelib.campaigns.content import catalogue, renderer
from chalicelib.campaigns.content.renderer import Mailing
from chalicelib.campaigns.model import Format
from chalicelib.kernel import publication
from chalicelib.mail.message import Message

_SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")


def make(to: str, nickname: str | None, token: str) -> Message:
    """For one reader; `token` is that of their link to unsubscribe."""
    return _render().message(to, nickname, token)


def preview() -> Message:
    return make("reader@example.org", None, str(TEST_TOKEN))


def _render() -> Mailing:
    shown = publication.current()
    subject = shown.welcome.subject or f"Welcome to {shown.name}".replace("{{", "\\{{")
    body = shown.welcome.body or f"{{{{greeting}}}}\n\nThank you for subscribing to {_escaped(shown.name)}."
    if shown.welcome.link_last:
        body += _last_issue()
    detail = service.preview_detail(Draft(subject, body, format=Format.MARKDOWN))
    # It is in no archive, so it has no link there.
    return renderer.render(replace(detail, campaign=replace(detail.campaign, hidden=True)))


def _last_issue() -> str:
    issues = catalogue.current() if publication.current().archive else ()
    return f"\n\nOur last issue: [{_escaped(issues[0].subject)}]({issues[0].url})" if issues else ""


def _escaped(text: str) -> str:
    """As it is, whatever it would mean in Markdown or as a placeholder."""
    return _SPECIAL.sub(r"\\\1", text)

"""Mails and pages as readers would see them with what is in the form, for the frame beside it."""

from typing import Any

from msgspec.structs import replace

from chalicelib.admin import preview_frames
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import welcome
from chalicelib.campaigns.model import Format
from chalicelib.campaigns.review import previews
from chalicelib.kernel import publication, settings
from chalicelib.kernel.colour import shades
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.publication import Publication
from chalicelib.mail import templates
from chalicelib.web import pages, responses
from chalicelib.web.responses import Response

VIEWS = {
    "campaign": "Campaign",
    "confirmation": "Confirmation",
    "welcome": "Welcome",
    "page": "Page",
    "afterwards": "Confirmed",
}
LOOKS = {"light": "Light", "phone": "Phone", "dark": "Dark"}

_SAMPLE = """This is how your campaigns look. [A link](https://example.org/) has your colour, and so has a button:

<p><a class="button" href="https://example.org/">Read more</a></p>

> A quotation stands apart.

## Things to read

:::item
title: An item of your inbox
link: https://example.org/
source: Its source
kind: article
excerpt: The beginning of it, in its own words.
note: And what you say about it.
:::
"""
_STYLE_SHEET = '<link rel="stylesheet"'


def show(shown: Publication, view: str, look: str) -> Response:
    with publication.as_if(shown):
        document = _document(view, shown)
    return responses.email_page(preview_frames.in_colours(document, dark=look == "dark"))


def _document(view: str, shown: Publication) -> str:
    link = settings.current().url("/")
    match view:
        case "confirmation":
            return templates.render("confirm", link=link, never_link=link).html
        case "welcome":
            return welcome.preview().html
        case "page":
            return _page("public/subscribe.html", shown, source=None, tags="")
        case "afterwards":
            return _page("public/confirmed.html", shown, added=False)
        case _:
            return _campaign()


def _campaign() -> str:
    """The last one that was sent, in the publication's design whatever its own was; or an example."""
    draft = campaigns.Draft("Your next campaign", _SAMPLE, format=Format.MARKDOWN)
    example = campaigns.preview_detail(draft)
    last = campaigns.find_last_sent() or example
    try:
        return previews.preview(replace(last, campaign=replace(last.campaign, design=None))).html
    except Invalid:
        # From a version that let through what this one cannot render.
        return previews.preview(example).html


def _page(template: str, shown: Publication, **values: Any) -> str:
    """With its style sheet inside: the one that is served has the colours that are saved."""
    head, _, rest = pages.text(template, **values).partition(_STYLE_SHEET)
    style = pages.text("public/style.css", **shades(shown.colours.accent))
    return f"{head}<style>{style}</style>{rest.partition('>')[2]}"

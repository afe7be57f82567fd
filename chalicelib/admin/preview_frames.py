"""A campaign as readers will see it, for the preview frame: in light or dark colours, or as plain text."""

from html import escape

from chalicelib.campaigns.model import CampaignDetail
from chalicelib.campaigns.review import previews
from chalicelib.kernel.errors import GnaError
from chalicelib.web import responses
from chalicelib.web.responses import Response

LOOKS = {"desktop": "Desktop", "phone": "Phone", "dark": "Dark", "text": "Text"}
READERS = {"named": "With a name", "unnamed": "Without"}
EXAMPLE_NAME = "Ana"

_DARK = "(prefers-color-scheme: dark)"
_DOCUMENT = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    "<style>body{{margin:0;padding:24px;background:#fff;color:#1b1e22;font:15px/1.6 system-ui,sans-serif}}"
    "pre{{margin:0;font:14px/1.6 ui-monospace,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere}}"
    "</style>"
    "{body}</html>"
)


def parse_look(wanted: str | None) -> str:
    return wanted if wanted in LOOKS else "desktop"


def parse_reader(wanted: str | None) -> str:
    return wanted if wanted in READERS else "named"


def parse_name(reader: str | None, typed: str | None = None) -> str | None:
    """The name of the reader in the preview: what was typed, or an example. Without a choice, a reader has none."""
    return previews.parse_nickname((typed or "").strip() or EXAMPLE_NAME) if reader == "named" else None


def preview_response(detail: CampaignDetail, wanted: str, name: str | None = None) -> Response:
    """Light or dark as chosen on the page, whatever colour scheme the author's own browser has."""
    message = previews.preview(detail, name)
    if wanted == "text":
        return responses.email_page(_DOCUMENT.format(title="Plain text", body=f"<pre>{escape(message.text)}</pre>"))
    return responses.email_page(in_colours(message.html, dark=wanted == "dark"))


def in_colours(document: str, *, dark: bool) -> str:
    return document.replace(_DARK, "all" if dark else "not all")


def refusal_response(failure: GnaError) -> Response:
    return responses.email_page(_DOCUMENT.format(title="Preview", body=f"<p>{escape(failure.reason)}</p>"))

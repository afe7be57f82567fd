"""A campaign before it is sent: how it will look to a reader."""

from typing import Any

from chalicelib.audience import model as audience
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.content.renderer import Mailing
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.kernel.errors import Invalid
from chalicelib.mail.message import Message

_READER = "reader@example.org"


def parse_nickname(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise Invalid("nickname must be text")
    return audience.check_nickname(value or None)


def preview(detail: CampaignDetail, name: str | None = None) -> Message:
    """The email a reader with this nickname would get, byte for byte except for the token in the links."""
    return preview_mailing(renderer.render(detail), name)


def preview_mailing(mailing: Mailing, name: str | None = None) -> Message:
    """The same, of what is rendered already."""
    return mailing.message(_READER, name, str(audience.TEST_TOKEN))

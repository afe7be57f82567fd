"""A campaign before it goes out: as it would look to somebody, and as a mail to the author."""

from typing import Any

from chalicelib.audience import model as audience
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.kernel import tokens
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid
from chalicelib.mail import sender
from chalicelib.mail.message import Message

# Of the right form and of nobody: its link answers, and takes nobody off the list.
_NOBODY = tokens.Token("00000000-0000-7000-8000-000000000000", "0" * 32)
_READER = "reader@example.org"


def parse_nickname(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise Invalid("nickname must be text")
    return audience.check_nickname(value or None)


def preview(detail: CampaignDetail, name: str | None = None) -> Message:
    """The mail somebody of this name would get, byte for byte, but for the token in their links."""
    return renderer.render(detail).message(_READER, name, str(_NOBODY))


def send_test(detail: CampaignDetail, to: Address, name: str | None = None) -> None:
    sender.send(renderer.render(detail).message(to.typed, name, str(_NOBODY)))

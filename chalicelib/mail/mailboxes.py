"""Mailboxes in the form they have on the wire: ASCII only, names encoded as RFC 2047 says."""

from email.header import Header
from email.utils import formataddr, parseaddr

from chalicelib.kernel import settings
from chalicelib.kernel.addresses import wire
from chalicelib.kernel.errors import Misconfigured


def named(name: str, address: str) -> str:
    """`Name <address>`, quoted or encoded as the name needs it."""
    if not name.isascii():
        # Several encoded words where one would be over the 75 characters a word may have; on one line, as SES folds.
        return f"{Header(name, 'utf-8', maxlinelen=75).encode(linesep='').replace('  ', ' ')} <{address}>"
    return formataddr((name, address))


def sender() -> str:
    """The From of every mail: FROM_EMAIL, under the name of the site unless it brings one itself."""
    name, address = parseaddr(settings.current().from_email)
    if "@" not in address:
        raise Misconfigured("FROM_EMAIL is missing or not an address: set it to one that is verified in SES")
    return named(name or settings.current().site_name, wire(address))


def sender_address() -> str:
    return parseaddr(settings.current().from_email)[1]


def reply_to() -> list[str]:
    """Answers go where people are promised to be heard, if that is not where the mails come from."""
    contact = parseaddr(settings.current().contact_email)[1]
    return [wire(contact)] if contact and contact.casefold() != sender_address().casefold() else []

"""Mailboxes as mail headers have them: in ASCII, with names encoded as in RFC 2047."""

from email.header import Header
from email.utils import formataddr, parseaddr

from chalicelib.kernel import publication, settings
from chalicelib.kernel.addresses import wire
from chalicelib.kernel.errors import Misconfigured


def named(name: str, address: str) -> str:
    """`Name <address>`, with the name quoted or encoded where necessary."""
    if not name.isascii():
        # Encoded words of at most 75 characters each; on one line, because SES folds the header.
        return f"{Header(name, 'utf-8', maxlinelen=75).encode(linesep='').replace('  ', ' ')} <{address}>"
    return formataddr((name, address))


def sender() -> str:
    """The From of every mail: FROM_EMAIL, with the name of the publication unless it has a name of its own."""
    name, address = parseaddr(settings.current().from_email)
    if "@" not in address:
        raise Misconfigured("FROM_EMAIL is missing or not an address: set it to one that is verified in SES")
    return named(name or publication.current().name, wire(address))


def sender_address() -> str:
    return parseaddr(settings.current().from_email)[1]


def reply_to() -> list[str]:
    """The address for questions, unless that is the sender anyway."""
    contact = parseaddr(publication.current().contact_email)[1]
    return [wire(contact)] if contact and contact.casefold() != sender_address().casefold() else []

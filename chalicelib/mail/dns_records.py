"""The records that let receivers see that mail comes from the sender's domain: DKIM, MAIL FROM with SPF, and DMARC.

SES says whether it has found those it needs. DMARC it does not look up, `make doctor` does.
"""

from collections.abc import Iterator

from msgspec import Struct

from chalicelib.mail.account import Identity

FOUND, MISSING, UNKNOWN = "found", "missing", "unknown"
_SPF = "v=spf1 include:amazonses.com ~all"
# Asks receivers for nothing yet; whoever reads the reports can make it stricter.
_DMARC = "v=DMARC1; p=none"


class Record(Struct, frozen=True):
    purpose: str
    type: str
    name: str
    value: str
    state: str


def list_records(identity: Identity, region: str) -> list[Record]:
    """All that the domain needs, whether or not they are there."""
    return [*_dkim(identity), *_mail_from(identity, region), *_dmarc(identity)]


def suggest_mail_from(identity: Identity) -> str:
    """The subdomain that bounces go to, where none is set in SES yet."""
    return f"bounce.{identity.name}"


def _dkim(identity: Identity) -> Iterator[Record]:
    state = FOUND if identity.dkim_status == "SUCCESS" else MISSING
    for name in identity.dkim_names:
        own = f"{name}._domainkey.{identity.name}"
        yield Record("DKIM", "CNAME", own, f"{name}.{identity.dkim_zone}", state)


def _mail_from(identity: Identity, region: str) -> Iterator[Record]:
    domain = identity.mail_from or suggest_mail_from(identity)
    state = FOUND if identity.mail_from and identity.mail_from_status == "SUCCESS" else MISSING
    yield Record("MAIL FROM", "MX", domain, f"10 feedback-smtp.{region}.amazonses.com", state)
    yield Record("SPF", "TXT", domain, f'"{_SPF}"', state)


def _dmarc(identity: Identity) -> Iterator[Record]:
    yield Record("DMARC", "TXT", f"_dmarc.{identity.name}", f'"{_DMARC}"', UNKNOWN)

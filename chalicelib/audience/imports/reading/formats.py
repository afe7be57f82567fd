"""The services whose exports are recognised by their header, and what each of their columns is."""

import re

from msgspec import Struct

from chalicelib.audience.imports.reading.model import Status

GENERIC, LINES = "generic", "lines"


class Format(Struct, frozen=True):
    """A header is of this format if it has all names of one of `marks`. `columns` are those that mean something else
    elsewhere, or nothing; the usual names are in `headers`."""

    name: str
    marks: tuple[frozenset[str], ...]
    columns: dict[str, str] = {}
    # Names that would mean something elsewhere, and do not here.
    without: frozenset[str] = frozenset()


def normalise(name: str) -> str:
    """Whatever its case, and however its words are joined."""
    return re.sub(r"[\s_\-]+", " ", name.strip().strip("\ufeff").casefold()).strip(" *:")


def _marks(*names: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(each.split(",")) for each in names)


# The first that fits: those with unmistakable names come before those with usual ones.
FORMATS = (
    Format(
        "gna",
        # An export, and the report of an import.
        _marks("email,nickname,status,activated at", "email,file,line,result,reason"),
        {
            "created at": "joined_at",
            "activated at": "confirmed_at",
            "metadata": "metadata",
            "sources": "sources",
            "paused because": "paused",
        },
    ),
    Format(
        "mailchimp",
        _marks("leid,euid", "member rating,optin time", "optin time,confirm time", "unsub time,unsub reason"),
    ),
    Format(
        "substack",
        _marks(
            "email,active subscription,email disabled",
            "email,stripe plan,start date",
            "email,type,stripe plan",
            "email,subscription type,activity,subscription date",
        ),
        {"subscription source (free)": "origin"},
        # About payment and behaviour.
        frozenset({"type", "activity", "cancel date", "active subscription", "plan", "expiry"}),
    ),
    Format(
        "ghost",
        _marks("email,subscribed to emails", "email,complimentary plan,stripe customer id"),
        {"deleted at": "left_at", "labels": "tags"},
    ),
    Format(
        "buttondown",
        _marks("email address,creation date", "email,creation date,type", "email address,type,unsubscription date"),
        {"type": "status", "source": "origin", "metadata": "metadata", "ip address": "optin_ip"},
    ),
    Format("beehiiv", _marks("email,status,created at,tier", "email,status,unsubscribed at,stripe customer id")),
    Format("listmonk", _marks("uuid,email,attributes,status"), {"attributes": "metadata"}),
    Format("keila", _marks("email,data,external id", "email,data,status"), {"data": "metadata"}),
    Format("brevo", _marks("email,added time,modified time", "contact id,email", "email,email blacklisted")),
    Format(
        "mailerlite",
        _marks(
            "subscriber,subscribed", "subscriber,groups", "email,status,opted in at", "email,opted in at,optin ip"
        ),
        {
            "subscriber": "email",
            "groups": "tags",
            "name": "first_name",
            "subscribed at": "optin_at",
            "opted in at": "confirmed_at",
            "optin ip": "confirm_ip",
            "ip address": "optin_ip",
        },
    ),
    Format("curated", _marks("email address,subscribed at,utm source")),
    Format(
        "kit",
        _marks(
            "first name,email,created at,status",
            "first name,email address,created at,status",
            "first name,email,created at,state",
            "first name,email address,created at,state",
        ),
        {"state": "status"},
    ),
)


def recognise(names: list[str]) -> Format:
    known = set(names)
    return next((each for each in FORMATS if any(marks <= known for marks in each.marks)), Format(GENERIC, ()))


def tell_status(format: str, names: list[str]) -> Status | None:
    """Mailchimp has a file for each status, with columns of its own."""
    if format != "mailchimp":
        return None
    if "clean time" in names:
        return Status.BOUNCED
    return Status.LEFT if "unsub time" in names else None

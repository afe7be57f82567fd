"""Imports in words: what the formats, delimiters and results are called, and what they mean."""

from msgspec import Struct

from chalicelib.audience.imports.model import Import, State, Task
from chalicelib.audience.imports.reading import model as reading
from chalicelib.kernel.plurals import count_of

FORMATS = {
    "gna": "Gna’s own export",
    "mailchimp": "Mailchimp",
    "substack": "Substack",
    "ghost": "Ghost",
    "buttondown": "Buttondown",
    "kit": "Kit",
    "beehiiv": "beehiiv",
    "mailerlite": "MailerLite",
    "brevo": "Brevo",
    "listmonk": "listmonk",
    "keila": "Keila",
    "sendy": "Sendy",
    "curated": "Curated",
    "lines": "a list of addresses",
}
# As the form sends it, what it is called, and the delimiter itself.
DELIMITERS = (
    ("comma", "Comma ,", ","),
    ("semicolon", "Semicolon ;", ";"),
    ("tab", "Tab", "\t"),
    ("bar", "Vertical bar |", "|"),
    ("line", "None: one address a line", reading.WHOLE_LINE),
)
ENCODINGS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "windows-1252": "Windows-1252"}
# Who is in the file, if the file as a whole says so.
WHOLE_FILE = {
    "unconfirmed": "people who never confirmed",
    "left": "people who left",
    "bounced": "addresses that bounced",
    "complained": "people who complained",
}
STATES = {
    State.WAITING: ("Waiting", "info"),
    State.READ: ("Ready to start", "info"),
    State.RUNNING: ("Running", "info"),
    State.DONE: ("Done", "good"),
    State.CANCELLED: ("Cancelled", "quiet"),
    State.FAILED: ("Failed", "bad"),
    State.UNDONE: ("Undone", "quiet"),
}


class Result(Struct, frozen=True):
    """One of the eight that a row can have: its name, what it is called before and after, and what it means."""

    name: str
    would: str
    did: str
    meaning: str


RESULTS = (
    Result("imported", "Would be imported", "Imported", "become readers and get the next campaign"),
    Result("asked", "Would be asked", "Asked to confirm", "get one email, and are gone after a day without a click"),
    Result("already", "Already here", "Already here", "stay as they are, but for added tags"),
    Result("duplicate", "Repeated", "Repeated", "are in the file more than once, and count once"),
    Result("invalid", "No address", "No address", "have no address, or one that cannot be right"),
    Result("unconfirmed", "Not confirmed", "Not confirmed", "never agreed, or have a status we do not know"),
    Result(
        "left_elsewhere", "Left or bounced", "Left or bounced", "are remembered, and no later file brings them in"
    ),
    Result("suppressed", "Do not contact", "Do not contact", "complained, or asked never to be written to"),
)


def state(found: Import) -> tuple[str, str]:
    """A word and its tone."""
    if found.undoing:
        return "Being undone", "info"
    if found.state is State.WAITING and found.task is Task.READ:
        return "Being read", "info"
    return STATES[found.state]


def is_moving(found: Import) -> bool:
    """Whether a worker is at it, so that the page has to be looked at again."""
    return found.task is not None


def summarise(found: Import) -> str:
    """The dry run in one sentence."""
    would = found.counts.get("imported", 0)
    others = found.rows - would
    if not found.rows:
        return "There is nobody in this file."
    rows, people = count_of(found.rows, "row"), count_of(would, "person", "people")
    if not others:
        return f"All of the {rows} would be imported."
    return f"Of {rows}, {people} would be imported and {count_of(others, 'row')} would not."


def describe_delimiter(delimiter: str) -> str:
    return next((name for name, _, value in DELIMITERS if value == delimiter), "comma")

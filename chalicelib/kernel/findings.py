"""Something to look at, in one form for preflight, the overview, the settings page and `make doctor`."""

from enum import StrEnum

from msgspec import Struct


class Level(StrEnum):
    """`error`: something does not work until it is fixed; `warning`: it works, but badly; `note`: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """Lower is more severe, for sorting."""
        return list(Level).index(self)


class Finding(Struct, frozen=True):
    """`message` is a whole sentence, or says in a few words what is wrong where `why` and `fix` say the rest.
    `path` and `link` lead to the page where something can be done about it."""

    level: Level
    code: str
    message: str
    why: str = ""
    fix: str = ""
    path: str = ""
    link: str = ""

    @property
    def text(self) -> str:
        """All of it, in sentences."""
        problem = f"{self.message}: {self.why}." if self.why else self.message
        return f"{problem} {self.fix}." if self.fix else problem


def error(message: str, why: str, fix: str) -> Finding:
    """An error for people to read; only findings that programs look for have a code."""
    return Finding(Level.ERROR, "", message, why, fix)


def note(message: str, why: str, fix: str) -> Finding:
    return Finding(Level.NOTE, "", message, why, fix)

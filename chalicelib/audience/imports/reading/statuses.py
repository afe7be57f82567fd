"""What a word, a yes or no, a date or a file name says about somebody. Words count as a whole: `inactive` is not
`active`, and one that is not known never makes anybody mailable."""

import re
from functools import lru_cache

from chalicelib.audience.imports.reading.model import Status

_WORDS = {
    Status.MAILABLE: (
        "subscribed", "active", "enabled", "confirmed", "regular", "premium", "gifted", "trialed", "unpaid", "paused",
        "churning", "past due",
    ),
    Status.UNCONFIRMED: (
        "pending", "unconfirmed", "unactivated", "inactive", "nonsubscribed", "transactional", "disabled",
        "needs approval", "blocked", "spammy", "cold", "archived",
    ),
    Status.LEFT: (
        "unsubscribed", "cancelled", "canceled", "removed", "deleted", "blocklisted", "blacklisted", "opted out",
    ),
    Status.COMPLAINED: ("complained", "complaint", "junk", "marked as spam", "spam"),
    Status.BOUNCED: (
        "cleaned", "bounced", "hard bounced", "undeliverable", "unreachable", "invalid",
    ),
}  # fmt: skip
_BY_WORD = {word: status for status, words in _WORDS.items() for word in words}
# What one service means by a word that others use differently, or not at all.
_BY_FORMAT = {
    "beehiiv": {"inactive": Status.LEFT},
    "gna": {"activated": Status.MAILABLE},
}
# Any date says it, even one that cannot be read.
_BY_DATE = {"left_at": Status.LEFT, "bounced_at": Status.BOUNCED, "complained_at": Status.COMPLAINED}
_YES = frozenset({"yes", "true", "1", "y", "t", "on"})
_NO = frozenset({"no", "false", "0", "n", "f", "off"})
_NOTHING = frozenset({"", "null", "none", "nil", "n/a", "-", "never", "\\n"})
_LONGEST_KEPT = 100
_SPAM = re.compile(r"\b(?:spam|abuse|complaint|complained|junk)\b")
_FILE_WORDS = {
    "subscribed": Status.MAILABLE,
    "active": Status.MAILABLE,
    "unsubscribed": Status.LEFT,
    "unsubscribers": Status.LEFT,
    "cleaned": Status.BOUNCED,
    "bounced": Status.BOUNCED,
    "nonsubscribed": Status.UNCONFIRMED,
    "unconfirmed": Status.UNCONFIRMED,
    "complained": Status.COMPLAINED,
    "spam": Status.COMPLAINED,
}


def read_signal(field: str, cell: str, format: str) -> Status | None:
    """What a cell of a restricting column says; None if nothing."""
    if field not in _BY_DATE:
        # What is longer is no word of a list of statuses, and is not kept in memory.
        read = _read_word if len(cell) <= _LONGEST_KEPT else _read_word.__wrapped__
        return read(field, cell, format)
    return None if says_nothing(cell) else _BY_DATE[field]


@lru_cache(maxsize=1024)
def _read_word(field: str, cell: str, format: str) -> Status | None:
    """Few different words stand in such a column."""
    word = _plain(cell)
    if word in _NOTHING:
        return None
    if field == "status":
        return _BY_FORMAT.get(format, _BY_WORD).get(word, _BY_WORD.get(word, Status.UNCONFIRMED))
    if field == "subscribed":
        return _read_subscribed(word, format)
    if field == "mail_off":
        return _read_mail_off(word)
    if field == "confirmed":
        return None if word in _YES or _begins_like_a_date(word) else Status.UNCONFIRMED
    return Status.COMPLAINED if _SPAM.search(word) else None


def _read_subscribed(word: str, format: str) -> Status:
    """Yes or no; with some services the date since when, or a status."""
    if word in _YES or _begins_like_a_date(word):
        return Status.MAILABLE
    return Status.LEFT if word in _NO else _BY_WORD.get(word, Status.UNCONFIRMED)


def _read_mail_off(word: str) -> Status | None:
    """The other way round: yes, or a date since when, means that mail is switched off."""
    if word in _NO or word.startswith("0000"):
        return None
    return Status.LEFT if word in _YES or _begins_like_a_date(word) else Status.UNCONFIRMED


def read_file_name(name: str) -> Status | None:
    """Mailchimp's names begin with the status (`cleaned_segment_export.csv`), Sendy's end with it
    (`my-list-marked-as-spam.csv`)."""
    words = re.split(r"[^a-z]+", name.rpartition("/")[2].rpartition(".")[0].lower())
    said = [_FILE_WORDS[word] for word in (words[0], words[-1]) if word in _FILE_WORDS]
    return max(said, default=None)


def is_status_word(cell: str) -> bool:
    word = _plain(cell)
    return word in _BY_WORD or word in ("activated",)


def says_nothing(cell: str) -> bool:
    """Where a date is expected."""
    word = _plain(cell)
    return word in _NOTHING or word in _NO or word.startswith("0000")


def is_yes_or_no(cell: str) -> bool:
    return _plain(cell) in _YES | _NO


def begins_like_a_date(cell: str) -> bool:
    return _begins_like_a_date(_plain(cell))


def _plain(cell: str) -> str:
    return re.sub(r"[\s_-]+", " ", cell.strip().casefold()) if cell.strip() != "-" else "-"


def _begins_like_a_date(word: str) -> bool:
    return re.match(r"\d{1,4}[ ./]\d{1,2}[ ./]\d|[a-z]{3,9}\.? \d{1,2},? \d{4}|\d{10,13}$", word) is not None

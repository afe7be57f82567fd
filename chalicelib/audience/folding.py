"""How people are found by part of their address or nickname, in any case: the one definition of folding, for what is
stored and for what is searched."""

import unicodedata

# Neither an address nor a nickname contains it, so nothing is found across the two.
_BETWEEN = "\n"

# Each has about as many people: the last digit of an id is random. A partition of DynamoDB reads 3,000 units a
# second, so a large list is read from many at the same time.
SHARDS = "0123456789abcdef"


def fold(text: str) -> str:
    """The same for every case, and for an accent that is written as a character of its own."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def fold_person(email: str, nickname: str | None) -> str:
    """What a search looks through: a folded copy of what the row says anyway."""
    return fold(email) + (_BETWEEN + fold(nickname) if nickname else "")


def finds(text: str, email: str, nickname: str | None) -> bool:
    """What `contains` asks the table, of a row at hand."""
    return can_be_found(text) and fold(text) in fold_person(email, nickname)


def can_be_found(text: str) -> bool:
    return _BETWEEN not in text


def shard_of(id: str) -> str:
    return id[-1]

"""Tokens of mailed links: `<id>.<secret>`. The id finds the row; only a hash of the secret is stored."""

import hashlib
import hmac
import re

from msgspec import Struct

from chalicelib.kernel import ids

_SECRET = re.compile(r"[A-Za-z0-9_-]{32}\Z")


class Token(Struct, frozen=True):
    id: str
    secret: str

    def __str__(self) -> str:
        return f"{self.id}.{self.secret}"

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.secret.encode()).hexdigest()

    def matches(self, stored_hash: str) -> bool:
        return hmac.compare_digest(self.hash, stored_hash)


def issue(id: str) -> Token:
    return Token(id, ids.secret())


def parse(text: str) -> Token | None:
    """None for anything that does not have the form of a token."""
    id, dot, secret = text.partition(".")
    if not (dot and ids.is_id(id) and _SECRET.match(secret)):
        return None
    return Token(id, secret)

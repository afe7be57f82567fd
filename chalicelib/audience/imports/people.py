"""Who stands in a file more than once, and what all of their rows say together.

A first pass through the file fills a temporary database on disk, so that half a million rows take no more memory than
ten thousand. It holds hashes under a key of its own that nobody keeps, and is gone when the work of this call ends.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from chalicelib.audience.imports import model
from chalicelib.audience.imports.reading.model import Row, Status
from chalicelib.audience.imports.reading.proofs import ProofCounter
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid

_TOO_MANY = f"The file has more than {model.MOST_ROWS:,} rows"
_CACHE_KB = 1024
_SETTINGS = ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KB}")
_CREATE = "CREATE TABLE people (key INTEGER PRIMARY KEY, first INTEGER, status INTEGER)"
_ADD = """INSERT INTO people VALUES (?, ?, ?)
          ON CONFLICT (key) DO UPDATE SET status = max(status, excluded.status), first = min(first, excluded.first)"""
# The number of a row that adds nobody.
_NEVER_FIRST = 2**62
_FIND = "SELECT first, status FROM people WHERE key = ?"


class Standing(Struct, frozen=True):
    """Of a row: whether it is the first of this person, and the most restrictive status of all their rows."""

    is_first: bool
    status: Status


class People:
    def __init__(self, folder: Path) -> None:
        self._key = secrets.token_bytes(16)
        self._database = sqlite3.connect(folder / "people", isolation_level=None)
        for setting in _SETTINGS:
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute(_CREATE)
        self._proofs = ProofCounter()
        self.rows = 0

    def add(self, rows: Iterable[Row]) -> None:
        """The first pass."""
        self._database.execute("BEGIN")
        self._database.executemany(_ADD, self._keys(rows))
        self._database.execute("COMMIT")

    def find(self, row: Row) -> Standing:
        """For a row with an address, after the first pass."""
        assert row.address
        first, status = self._database.execute(_FIND, (self._hash(row.address),)).fetchone()
        return Standing(first == row.number, Status(status))

    def has_weak_proof(self, row: Row) -> bool:
        return self._proofs.is_weak(row)

    def close(self) -> None:
        self._database.close()

    def _keys(self, rows: Iterable[Row]) -> Iterator[tuple[int, int, int]]:
        for row in rows:
            self.rows += 1
            if self.rows > model.MOST_ROWS:
                raise Invalid(_TOO_MANY)
            if row.address:
                if row.status is Status.MAILABLE:
                    self._proofs.add(row)
                yield self._hash(row.address), row.number, int(row.status)
            elif row.misread and row.status > Status.UNCONFIRMED:
                yield self._hash(row.misread), _NEVER_FIRST, int(row.status)

    def _hash(self, address: Address) -> int:
        digest = hashlib.blake2b(address.key.encode(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, signed=True)

"""Which confirmations prove little: those without both times, and those that many people share to the second, which
are an administrator's import and not their clicks."""

import zlib
from array import array

from chalicelib.audience.imports.reading.model import Row

# People behind one address may click in the same second by chance; imports make dozens of rows at once.
MANY = 5
_BUCKETS = 1 << 20
_FULL = 255


class ProofCounter:
    """Counts in one pass and always in 2 MB: pairs of second and IP are counted in two rows of buckets, of which the
    smaller count is right but for a chance below one in a million."""

    def __init__(self) -> None:
        self._rows = (array("B", bytes(_BUCKETS)), array("B", bytes(_BUCKETS)))
        self.weak = 0

    def add(self, row: Row) -> None:
        """To be called once for each person, in any order. `weak` then is how many of them have no proof, including
        those seen before their pair turned out to be shared."""
        if not (row.optin_at and row.confirmed_at):
            self.weak += 1
            return
        if (pair := _pair(row)) is None:
            return
        count = self._count(pair)
        if count == MANY:
            self.weak += MANY
        elif count > MANY:
            self.weak += 1

    def _count(self, pair: bytes) -> int:
        places = (zlib.crc32(pair) % _BUCKETS, zlib.crc32(pair, 1) % _BUCKETS)
        count = min(row[place] for row, place in zip(self._rows, places, strict=True))
        if count < _FULL:
            count += 1
            for row, place in zip(self._rows, places, strict=True):
                row[place] = max(row[place], count)
        return count


def _pair(row: Row) -> bytes | None:
    """A date without a time, and without an IP, is shared by everybody of that day."""
    assert row.confirmed_at
    ip = row.ips.get("confirm_ip", "")
    seconds = int(row.confirmed_at.timestamp())
    return None if not ip and seconds % 86_400 == 0 else f"{seconds} {ip}".encode()

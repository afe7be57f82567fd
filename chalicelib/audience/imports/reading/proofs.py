"""Which confirmations prove little: those without both times, and those that many people share to the second, which
are an administrator's import and not their clicks."""

import hashlib

from chalicelib.audience.imports.reading.model import Row

# Colleagues may click in the same second by chance, and one person may stand in several files; an administrator's
# import makes dozens of rows at once.
MANY = 5
_BUCKETS = 1 << 21
_FULL = 255


class ProofCounter:
    """Counts all rows in a first pass, and judges each in a second. It always takes 4 MB, whatever the file: each
    pair of second and IP is counted in two buckets, and the smaller count is right but for a chance in a million."""

    def __init__(self) -> None:
        self._buckets = (bytearray(_BUCKETS), bytearray(_BUCKETS))

    def add(self, row: Row) -> None:
        if _has_both_times(row) and (places := _places(row)):
            count = min(self._count(places) + 1, _FULL)
            for buckets, place in zip(self._buckets, places, strict=True):
                buckets[place] = max(buckets[place], count)

    def is_weak(self, row: Row) -> bool:
        """After all rows were added."""
        return not _has_both_times(row) or self._count(_places(row)) >= MANY

    def _count(self, places: tuple[int, ...]) -> int:
        return min((buckets[place] for buckets, place in zip(self._buckets, places, strict=False)), default=0)


def _has_both_times(row: Row) -> bool:
    return row.optin_at is not None and row.confirmed_at is not None


def _places(row: Row) -> tuple[int, ...]:
    """None for a date without a time and without an IP: everybody of that day shares it."""
    assert row.confirmed_at
    ip = row.ips.get("confirm_ip", "")
    seconds = int(row.confirmed_at.timestamp())
    if not ip and seconds % 86_400 == 0:
        return ()
    digest = int.from_bytes(hashlib.blake2b(f"{seconds} {ip}".encode(), digest_size=8).digest(), "big")
    return digest % _BUCKETS, (digest >> 32) % _BUCKETS

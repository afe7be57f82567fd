"""Pictures of hills and a sun, drawn from an id: the same id has the same picture, and no library is needed."""

import colorsys
import hashlib
import math
import struct
import zlib
from functools import lru_cache

LARGEST = 1_280


@lru_cache(maxsize=256)
def png(id: str, width: int, height: int) -> bytes:
    """An indexed PNG: bands of sky, a sun, and three rows of hills."""
    seed = hashlib.sha256(id.encode()).digest()
    rows = b"".join(b"\0" + row for row in _rows(seed, width, height))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", _palette(seed)), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_BANDS, _SUN, _HILLS = 12, 12, 13


def _palette(seed: bytes) -> bytes:
    """Sky from dark to light, the sun, then hills from far to near."""
    sky = seed[0] / 255
    hill = 0.22 + seed[1] / 255 * 0.25
    colours = [colorsys.hls_to_rgb(sky, 0.55 + 0.03 * band, 0.45) for band in range(_BANDS)]
    colours.append(colorsys.hls_to_rgb(0.12, 0.88, 0.9))
    colours += [colorsys.hls_to_rgb(hill, light, 0.35) for light in (0.5, 0.37, 0.25)]
    return bytes(round(part * 255) for colour in colours for part in colour)


def _rows(seed: bytes, width: int, height: int) -> list[bytes]:
    tops = [_ridge(seed, number, width, height) for number in range(3)]
    centre, middle, radius = width * (0.2 + seed[8] / 425), height * (0.18 + seed[9] / 900), min(width, height) * 0.11
    rows = []
    for y in range(height):
        row = bytearray([min(_BANDS - 1, y * _BANDS * 4 // (height * 3))]) * width
        reach = radius * radius - (y - middle) ** 2
        if reach > 0:
            left, right = (max(0, min(width, round(centre + sign * math.sqrt(reach)))) for sign in (-1, 1))
            row[left:right] = bytes([_SUN]) * (right - left)
        if y >= height * 0.3:
            for number, top in enumerate(tops):
                row = bytearray(_HILLS + number if y >= edge else was for edge, was in zip(top, row, strict=True))
        rows.append(bytes(row))
    return rows


def _ridge(seed: bytes, number: int, width: int, height: int) -> list[float]:
    """How far down each column the hill begins."""
    base, swing = 0.52 + number * 0.15, 0.11 - number * 0.02
    phase, pace = seed[2 + number] / 40, 1.2 + seed[5 + number] / 160
    return [
        height
        * (base + swing * math.sin(phase + pace * math.tau * x / width) + 0.02 * math.sin(9 * x / width + phase))
        for x in range(width)
    ]

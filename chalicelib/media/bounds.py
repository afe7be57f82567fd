"""What a photo would cost to decode, read from its bytes before a decoder sees them."""

import re

from chalicelib.kernel.errors import Invalid
from chalicelib.media import model

# A JPEG has one scan, a progressive one about ten. Each costs a pass over all pixels, however few bytes it takes, so
# a small file of thousands would keep a worker busy for hours. A hundred take less than four seconds, of the most
# pixels there may be.
_SCAN = re.compile(rb"\xff\xda\x00[\x08\x0a\x0c\x0e][\x01-\x04]")
_MOST_SCANS = 100


def check_pixels(width: int, height: int, most: int = model.MOST_PIXELS) -> None:
    if width * height > most:
        raise Invalid(model.TOO_MANY_PIXELS)


def check_scans(jpeg: bytes) -> None:
    if sum(1 for _ in _SCAN.finditer(jpeg)) > _MOST_SCANS:
        raise Invalid(model.UNREADABLE)


def check_canvas(webp: bytes, most: int = model.MOST_PIXELS) -> None:
    """WebP's decoder takes the memory of two canvases as soon as it is made."""
    check_pixels(*measure_canvas(webp), most)


def measure_canvas(webp: bytes) -> tuple[int, int]:
    """Width and height. A header that is not understood is of no size: it is left to the decoder."""
    match webp[12:16]:
        case b"VP8X":
            return _number(webp[24:27]) + 1, _number(webp[27:30]) + 1
        case b"VP8 ":
            return _number(webp[26:28]) & 0x3FFF, _number(webp[28:30]) & 0x3FFF
        case b"VP8L":
            sides = _number(webp[21:25])
            return (sides & 0x3FFF) + 1, (sides >> 14 & 0x3FFF) + 1
    return 0, 0


def _number(digits: bytes) -> int:
    return int.from_bytes(digits, "little")

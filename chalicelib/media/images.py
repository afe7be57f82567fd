"""A picture made anew from its pixels: upright, in sRGB, no larger than needed, and without anything else that was in
the file. Nothing of the original reaches a browser, so nothing can be hidden in it.

Bytes that are no such picture are refused as `Invalid`, whatever the decoder makes of them.
"""

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from msgspec import Struct

from chalicelib.kernel import log
from chalicelib.kernel.errors import Invalid
from chalicelib.media import bounds, colours, model
from chalicelib.media.model import JPEG, LARGEST, LONGEST_SIDE, PNG, WEBP

_OPTIONS: dict[str, dict[str, Any]] = {
    JPEG: {"format": "JPEG", "quality": 85, "optimize": True, "progressive": True},
    PNG: {"format": "PNG"},  # `optimize` takes up to 18 times as long, and saves little
    WEBP: {"format": "WEBP", "quality": 85},
}
# What Pillow raises about files that are broken; anything else is a defect, of Pillow or of this module.
_BROKEN = (
    AssertionError,
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    ZeroDivisionError,
    MemoryError,
    struct.error,
    zlib.error,
)
_ORIENTATION = 0x0112


class Box(Struct, frozen=True):
    """As wide and as high as a picture may be."""

    width: int
    height: int

    @property
    def turned(self) -> "Box":
        return Box(self.height, self.width)


class Remade(Struct, frozen=True):
    content: bytes
    format: str
    width: int
    height: int


def remake(content: bytes, longest: int = LONGEST_SIDE) -> Remade:
    """The format stays; of a moving picture only the first frame does."""
    format = model.sniff(content)
    if format is None:
        raise Invalid(model.WRONG_TYPE)
    return encode(decode(content, format, Box(longest, longest)), format, LARGEST)


def decode(content: bytes, format: str, box: Box, most_pixels: int = model.MOST_PIXELS) -> Any:
    """The picture, upright, no larger than the box and never larger than it is."""
    with _decoding():
        image = _open(content, format, most_pixels)
        image.draft(None, _twice(image, box))  # a JPEG of much more than that takes less memory
        image.load()
        turn, profile = _turn(image), image.info.get("icc_profile")
        image = colours.simplify(image)
    image = colours.to_srgb(_fit(image, box.turned if turn in _sideways() else box), profile)
    return image if turn is None else image.transpose(turn)


def count_pixels(content: bytes, format: str) -> int:
    """As its header says; nothing is decoded."""
    if format == WEBP:
        width, height = bounds.measure_canvas(content)
        bounds.check_pixels(width, height)
        return width * height
    with _decoding():
        image = _open(content, format, model.MOST_PIXELS)
        pixels: int = image.width * image.height
        return pixels


@contextmanager
def _decoding() -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Invalid:
        raise
    except _BROKEN as failure:
        log.info("photo.unreadable", kind=type(failure).__name__)
        raise Invalid(model.UNREADABLE) from failure
    except Exception as failure:
        log.exception("photo.decoder_failed", failure)
        raise Invalid(model.UNREADABLE) from failure


def _open(content: bytes, format: str, most_pixels: int) -> Any:
    """Reads the header only. By the one decoder for this type: what phones put behind the first picture of a JPEG is
    not looked at."""
    from PIL import JpegImagePlugin, PngImagePlugin, WebPImagePlugin

    image: Any
    match format:
        case model.JPEG:
            bounds.check_scans(content)
            image = JpegImagePlugin.JpegImageFile(BytesIO(content))
        case model.PNG:
            image = PngImagePlugin.PngImageFile(BytesIO(content))
        case model.GIF:
            from PIL import GifImagePlugin

            image = GifImagePlugin.GifImageFile(BytesIO(content))
        case _:
            bounds.check_canvas(content, most_pixels)
            image = WebPImagePlugin.WebPImageFile(BytesIO(content))
    bounds.check_pixels(image.width, image.height, most_pixels)
    return image


def _turn(image: Any) -> Any:
    """How to turn it upright, or None. A camera's notes may be broken, which is no reason to refuse the photo."""
    from PIL.Image import Transpose

    try:
        orientation = image.getexif().get(_ORIENTATION)
    except _BROKEN:
        return None
    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return turns.get(orientation) if isinstance(orientation, int) else None


def _sideways() -> tuple[Any, ...]:
    from PIL.Image import Transpose

    return (Transpose.TRANSPOSE, Transpose.ROTATE_270, Transpose.TRANSVERSE, Transpose.ROTATE_90)


def _scale(image: Any, box: Box) -> float:
    scale: float = min(box.width / image.width, box.height / image.height)
    return scale


def _twice(image: Any, box: Box) -> tuple[int, int]:
    """At least twice the size it will have, whether or not it turns out to lie on its side."""
    scale = 2 * max(_scale(image, box), _scale(image, box.turned))
    return max(1, int(image.width * scale)), max(1, int(image.height * scale))


def _fit(image: Any, box: Box) -> Any:
    """Never larger than it is."""
    from PIL.Image import Resampling

    scale = _scale(image, box)
    if scale >= 1:
        return image
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Resampling.LANCZOS, reducing_gap=2.0)


def encode(image: Any, format: str, largest: int) -> Remade:
    """Smaller again while it takes too many bytes: a PNG of 256 colours may grow."""
    while True:
        image = image.copy()
        image.info = {}  # Pillow writes some of it into the file
        file = BytesIO()
        image.save(file, **_OPTIONS[format])
        if file.tell() <= largest:
            return Remade(file.getvalue(), format, image.width, image.height)
        side = int(max(image.size) * 0.95 * (largest / file.tell()) ** 0.5)
        image = _fit(image, Box(side, side))

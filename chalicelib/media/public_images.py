"""What a public copy of a picture is made of: a JPEG, or a PNG where that is better, for mails and pages alike."""

import hashlib
from typing import Any

from chalicelib.kernel.errors import Invalid
from chalicelib.media import images, model
from chalicelib.media.images import Box, Remade
from chalicelib.media.model import JPEG, LARGEST_COPY, PNG

_LOSSLESS = (model.PNG, model.GIF)


def make(content: bytes, box: Box, most_pixels: int = model.MOST_PIXELS) -> Remade:
    """What is transparent stays so. A drawing stays exact; a photo in a format for drawings becomes much smaller."""
    format = model.sniff_any(content)
    if format is None:
        raise Invalid(model.NO_PICTURE)
    image = images.decode(content, format, box, most_pixels)
    if _is_transparent(image):
        return images.encode(image, PNG, LARGEST_COPY)
    image = image.convert("L" if image.mode in ("L", "LA") else "RGB")
    jpeg = images.encode(image, JPEG, LARGEST_COPY)
    if format not in _LOSSLESS:
        return jpeg
    png = images.encode(image, PNG, LARGEST_COPY)
    return png if len(png.content) <= 2 * len(jpeg.content) else jpeg


def name(made: Remade) -> str:
    """The same for the same bytes, so that it can be cached for ever."""
    return f"{hashlib.sha256(made.content).hexdigest()[:32]}.{model.EXTENSIONS[made.format]}"


def _is_transparent(image: Any) -> bool:
    if image.mode not in ("LA", "RGBA"):
        return False
    lowest: int = image.getchannel("A").getextrema()[0]
    return lowest < 255

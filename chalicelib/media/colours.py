"""The colours of a photo: whatever way a file stores them, as grey or sRGB of eight bits, with or without alpha."""

from io import BytesIO
from typing import Any

from chalicelib.kernel import log


def simplify(image: Any) -> Any:
    """As grey, RGB (each with or without alpha) or CMYK, which can be resized and converted."""
    if image.mode.startswith("I"):
        image = _upper_bytes(image)
    if image.mode in ("L", "LA", "RGB", "RGBA", "CMYK") and "transparency" not in image.info:
        return image
    grey = image.mode in ("1", "L", "LA")
    mode = {(True, True): "LA", (True, False): "L", (False, True): "RGBA", (False, False): "RGB"}
    return image.convert(mode[grey, image.has_transparency_data])


def to_srgb(image: Any, profile: bytes | None) -> Any:
    """By the embedded profile. Without one, or if it does not fit the picture (a grey JPEG with an RGB profile),
    the values are taken for sRGB, as browsers do."""
    if profile and (converted := _convert(image, profile)):
        return converted
    return image.convert("RGB") if image.mode == "CMYK" else image


def _convert(image: Any, profile: bytes) -> Any:
    from PIL import ImageCms

    alpha = image.getchannel("A") if image.mode in ("LA", "RGBA") else None
    bare = image.convert(image.mode[:-1]) if alpha else image
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        converted: Any = ImageCms.profileToProfile(bare, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError) as failure:
        log.info("photo.profile_ignored", kind=type(failure).__name__)
        return None
    if bare.mode == "L":
        converted = converted.convert("L")
    if alpha:
        converted.putalpha(alpha)
    return converted


def _upper_bytes(image: Any) -> Any:
    """Of sixteen bits; Pillow's own conversion takes everything above 255 for white."""
    from PIL import Image

    return Image.frombytes("L", image.size, image.convert("I;16").tobytes()[1::2])

"""Text colours with enough contrast."""

_DARK_INK, _LIGHT_INK = "#111827", "#ffffff"


def ink_on(colour: str) -> str:
    """Black or white, whichever is easier to read on `#rrggbb`."""
    red, green, blue = (_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return _DARK_INK if (luminance + 0.05) ** 2 > 0.05 * 1.05 else _LIGHT_INK


def _linear(channel: float) -> float:
    """WCAG's relative luminance of one sRGB channel."""
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)

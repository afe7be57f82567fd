"""Text colours with enough contrast, by the rules of WCAG 2.2: at least 4.5 to 1 for text."""

ENOUGH = 4.5

BLACK, WHITE = "#000000", "#ffffff"

# The first that is enough: on every colour, one of white and black is.
_INKS = (WHITE, "#111827", BLACK)
_STEPS = 100
# Of all that text stands on in mails and on pages, the darkest of what is light, and the lightest of what is dark.
LIGHT, DARK = "#efede7", "#262c36"


def ink_on(colour: str) -> str:
    """White or almost black, whichever can be read on `#rrggbb`."""
    return next(ink for ink in _INKS if contrast(ink, colour) >= ENOUGH)


def shades(accent: str) -> dict[str, str]:
    """What style sheets need of a publication's colour."""
    return {
        "accent": accent,
        "ink": ink_on(accent),
        "accent_on_light": on_light(accent),
        "accent_on_dark": on_dark(accent),
    }


def contrast(one: str, other: str) -> float:
    """From 1, the same colour, to 21, black on white."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def on_light(colour: str) -> str:
    """The colour as text by day: as it is if it can be read, otherwise just as much darker as that takes."""
    return _readable(colour, LIGHT, BLACK)


def on_dark(colour: str) -> str:
    """The colour as text in the dark: as it is, or lighter."""
    return _readable(colour, DARK, WHITE)


def _readable(colour: str, background: str, towards: str) -> str:
    shades = (_mix(colour, towards, step / _STEPS) for step in range(_STEPS + 1))
    return next(shade for shade in shades if contrast(shade, background) >= ENOUGH)


def _mix(colour: str, other: str, share: float) -> str:
    """`colour` with this share of the other one."""
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(ours + (theirs - ours) * share):02x}" for ours, theirs in pairs)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[start : start + 2], 16) for start in (1, 3, 5))


def _linear(channel: float) -> float:
    """WCAG's relative luminance of one sRGB channel."""
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)

"""Which inline styles of an author go into an email: those that set type, colours and boxes.

What could cover something else or load anything goes; so do properties that only one mail program knows.
"""

import re

_SIDES = ("top", "right", "bottom", "left")
_ALLOWED = {
    "background", "background-color", "border", "border-collapse", "border-color", "border-radius", "border-spacing",
    "border-style", "border-width", "box-shadow", "box-sizing", "caption-side", "clear", "color", "cursor",
    "direction", "display", "float", "font", "font-family", "font-size", "font-style", "font-variant", "font-weight",
    "height", "hyphens", "letter-spacing", "line-height", "list-style", "list-style-position", "list-style-type",
    "margin", "max-height", "max-width", "min-height", "min-width", "object-fit", "opacity", "outline", "overflow",
    "overflow-wrap", "padding", "table-layout", "text-align", "text-decoration", "text-indent", "text-shadow",
    "text-transform", "vertical-align", "visibility", "white-space", "width", "word-break", "word-spacing",
    "word-wrap",
    *(f"{name}-{side}" for name in ("border", "margin", "padding") for side in _SIDES),
    *(f"border-{side}-{part}" for side in _SIDES for part in ("color", "style", "width")),
    *(f"border-{row}-{column}-radius" for row in ("top", "bottom") for column in ("left", "right")),
}  # fmt: skip
_DISPLAYS = {
    "block", "inline", "inline-block", "inline-table", "list-item", "none", "table", "table-cell", "table-row",
}  # fmt: skip
_FUNCTIONS = {"calc", "hsl", "hsla", "linear-gradient", "max", "min", "radial-gradient", "rgb", "rgba"}
# Strings and up to two levels of parentheses belong to a declaration whole; what is not closed is part of it, too.
_DECLARATION = re.compile(r"""(?:[^;"'()]+|"[^"]*"|'[^']*'|\((?:[^()]++|\([^()]*+\))*+\)|["'()])+""")
_STRING = re.compile(r""""[^"]*"|'[^']*'""")
_CALL = re.compile(r"([\w-]{0,30})\s{0,5}\(")
_DISGUISE = re.compile(r"[\\@{}<>]|/\*")
_IMPORTANT = re.compile(r"\s*!\s*important\s*\Z", re.IGNORECASE)
_ADDRESS = re.compile(r"""url\((?:[^"')]|"[^"]*"|'[^']*')*\)?""", re.IGNORECASE)
_COLOUR = re.compile(
    r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl)a?\([^()]*\)"
    r"|\b(?:aqua|black|blue|fuchsia|gray|green|grey|lime|maroon|navy|olive|orange|purple|red|silver|teal|transparent|white"
    r"|yellow)\b",
    re.IGNORECASE,
)
_VENDORS = ("-", "mso-")


def clean(style: str) -> str:
    """The declarations that may stay, in their order."""
    kept = (_clean_declaration(*declaration) for declaration in _declarations(style))
    return ";".join(f"{name}:{value}" for name, value in kept if value)


def properties(style: str) -> set[str]:
    """The names of the properties, without those for single mail programs."""
    return {name[:30] for name, _ in _declarations(style) if not name.startswith(_VENDORS)}


def hides(style: str) -> bool:
    return any(name == "display" and _plain(value) == "none" for name, value in _declarations(style))


def _declarations(style: str) -> list[tuple[str, str]]:
    pairs = (part.partition(":") for part in _DECLARATION.findall(style))
    return [(name.strip().lower(), value.strip()) for name, colon, value in pairs if colon]


def _clean_declaration(name: str, value: str) -> tuple[str, str]:
    if name not in _ALLOWED or (name == "display" and _plain(value) not in _DISPLAYS):
        return name, ""
    if _is_harmless(value):
        return name, value
    if name == "background" and (colour := _COLOUR.search(_ADDRESS.sub(" ", value))):
        # Without the image; text is often unreadable without the colour.
        return "background-color", colour[0]
    return name, ""


def _is_harmless(value: str) -> bool:
    bare = _STRING.sub("", value)
    closed = not {'"', "'"} & set(bare) and bare.count("(") == bare.count(")")
    return closed and not _DISGUISE.search(value) and all(call.lower() in _FUNCTIONS for call in _CALL.findall(value))


def _plain(value: str) -> str:
    return _IMPORTANT.sub("", value[:50]).lower()

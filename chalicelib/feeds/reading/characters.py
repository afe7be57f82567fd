"""Characters that no feed should contain, and what becomes of them."""

import re

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_NONCHARACTERS = re.compile(
    "[\ufdd0-\ufdef" + "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF)) + "]"
)
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_REFERENCE = r"&#(?:[xX][0-9a-fA-F]+|[0-9]+);?"
_REFERENCES = re.compile(rf"(?:{_REFERENCE})+")
_ONE_REFERENCE = re.compile(_REFERENCE)
_LAST = 0x10FFFF
_UNKNOWN = "\ufffd"
# As browsers do: the controls U+0080 to U+009F are usually characters of Windows-1252.
_C1 = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}


def without_forbidden(text: str) -> str:
    """Without the characters XML forbids. Two halves of a character, as JavaScript and Java write an emoji, are put
    together; a half alone is unknown."""
    return _SURROGATES.sub(_join_halves, _NOT_XML.sub("", text))


def without_noncharacters(text: str) -> str:
    """Without what Unicode reserves for a program's own use: no text has it, but for those that want to hide
    something."""
    return _NONCHARACTERS.sub("", text)


def without_c1(text: str) -> str:
    return text.translate(_C1)


def repair_references(text: str) -> str:
    """The same for what is written as `&#55356;&#57225;`; references to other characters stay as they are."""
    return _REFERENCES.sub(_repair_run, text)


def _join_halves(found: re.Match[str]) -> str:
    return found[0].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _repair_run(found: re.Match[str]) -> str:
    references = _ONE_REFERENCE.findall(found[0])
    codes = [_code(reference) for reference in references]
    if all(_is_allowed(code) for code in codes):
        return found[0]
    kept = [
        reference if _is_allowed(code) else chr(code) if code <= _LAST else _UNKNOWN
        for reference, code in zip(references, codes, strict=True)
    ]
    return without_forbidden("".join(kept))


def _code(reference: str) -> int:
    digits = reference[2:].rstrip(";")
    hexadecimal = digits[0] in "xX"
    significant = digits.lstrip("xX0")[:12] or "0"  # more would be no character, and take Python ever longer
    return int(significant, 16 if hexadecimal else 10)


def _is_allowed(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= _LAST

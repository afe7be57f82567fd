"""From bytes to lines: which encoding a text has, and its physical lines, none longer than a bound."""

import codecs
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chalicelib.audience.imports.reading.model import UTF_8, UTF_16, WINDOWS_1252
from chalicelib.kernel.errors import Invalid

if TYPE_CHECKING:
    from chalicelib.audience.imports.reading.files import Text

# Our own export has up to 100 KB of metadata in one row, with every quote doubled.
LONGEST_LINE = 262_144
# Ten for each row of the longest list there may be. Lines without anything in them take their time, too.
MOST_LINES = 5_000_000
BLANK = b" \t\r\n\x00\x1a\xef\xbb\xbf\xff\xfe"
_CHUNK = 1024 * 1024
_SAMPLE = 65_536
_UTF_16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# PDF, PNG, JPEG, GIF, gzip, bzip2, xz, 7z, RAR, old Excel, SQLite: their beginning may look like text.
_BINARY = (
    b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!",
    b"\xd0\xcf\x11\xe0", b"SQLite format 3",
)  # fmt: skip
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x1a\x1b") + b"\x7f"
_FEW_CONTROLS = 4
_TOO_MANY_LINES = f"The file has more than {MOST_LINES:,} lines"
_NOT_TEXT = "The file is not text: export the list as CSV"


def check_text(beginning: bytes) -> None:
    """A few control characters can stand in a broken row; a file full of them is something else."""
    if beginning.startswith(_BINARY):
        raise Invalid(_NOT_TEXT)
    if _utf_16(beginning):
        return
    controls = len(beginning) - len(beginning.translate(None, _CONTROLS))
    if controls > max(_FEW_CONTROLS, len(beginning) // 20):
        raise Invalid(_NOT_TEXT)


def guess(text: "Text") -> str:
    """UTF-8 is recognised by its own rules over the whole file; what breaks them more often than it follows them is
    Windows-1252, which any bytes are."""
    with text.open() as stream:
        piece = stream.read(_SAMPLE)
        if _utf_16(piece):
            return UTF_16
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        right = wrong = 0
        while piece:
            # A piece that ended within a character is the reason not to skip the decoder for good.
            if not piece.isascii() or decoder.getstate()[0]:
                decoded = decoder.decode(piece)
                replaced = decoded.count("\ufffd")
                wrong += replaced
                right += len(decoded) - len(decoded.encode("ascii", "ignore")) - replaced
            piece = stream.read(_CHUNK)
    wrong += bool(decoder.getstate()[0])
    return UTF_8 if right > wrong or not wrong else WINDOWS_1252


def read_lines(text: "Text", encoding: str) -> Iterator[tuple[str, bool]]:
    """Each physical line without its end, whichever that is, and whether it was cut at the bound."""
    with text.open() as stream:
        beginning = stream.read(_SAMPLE) if encoding == UTF_16 else b""
    codec = _utf_16(beginning) or "utf-16-le" if encoding == UTF_16 else _CODECS[encoding]
    with text.open() as stream, io.TextIOWrapper(stream, codec, errors="replace", newline=None) as lines:
        left = MOST_LINES
        while line := lines.readline(LONGEST_LINE):
            left -= 1
            if left < 0:
                raise Invalid(_TOO_MANY_LINES)
            if line[-1] == "\n":
                yield line[:-1], False
            elif len(line) < LONGEST_LINE:
                yield line, False
            else:
                yield line, _skip_rest(lines)


def _skip_rest(lines: io.TextIOWrapper) -> bool:
    """Whether there was more than the end of the line."""
    more = False
    while piece := lines.readline(LONGEST_LINE):
        more = more or piece != "\n"
        if piece[-1] == "\n":
            break
    return more


_CODECS = {UTF_8: "utf-8-sig", WINDOWS_1252: "cp1252"}


def _utf_16(beginning: bytes) -> str:
    """The codec, or empty. Without a mark at the beginning, every other byte of Latin text is zero."""
    if beginning.startswith(_UTF_16_BOMS):
        return "utf-16"
    if len(beginning) < 4:
        return ""
    even, odd = beginning[::2].count(0) / len(beginning), beginning[1::2].count(0) / len(beginning)
    if odd > 0.3 and even < 0.05:
        return "utf-16-le"
    if even > 0.3 and odd < 0.05:
        return "utf-16-be"
    return ""

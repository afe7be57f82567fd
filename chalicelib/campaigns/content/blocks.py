"""The blocks of a Markdown body: texts, headings, items, images and dividers. Only this module reads and writes them.

An item stands between the lines `:::item` and `:::`, each field on a line of its own, continued on lines indented by
two spaces. Everything else is Markdown. Whatever somebody typed is read in one pass and nothing of it is lost.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from chalicelib.campaigns.content import item_lines
from chalicelib.campaigns.content.item_lines import Item as Item

MOST_ITEMS = 200

_FENCE = re.compile(r" {0,3}(`{3,}+(?=[^`]*\Z)|~{3,}+)")
_OPENS = re.compile(r":::[ \t]*item[ \t]*\Z")
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)\Z")
_DIVIDER = re.compile(r"(?:-{3,}|\*{3,}|_{3,})[ \t]*\Z")
# `\{{` are braces that are no placeholder, in an alternative text as anywhere: this backslash is not one of its own.
_IMAGE = re.compile(r"!\[((?:[^\[\]\\]|\\[\[\]]|\\\\(?!\{\{)|\\(?=\{\{))*+)\]\(([^\s()<>]++)\)[ \t]*\Z")
_IN_ALT = re.compile(r"[\[\]]|\\(?!\{\{)")
_ESCAPED_IN_ALT = re.compile(r"\\([\[\]\\])")
_NOT_IN_ADDRESS = re.compile(r"[\s()<>]")
# What Markdown would read: anywhere, after a number, at the beginning of a line, in an address.
_MEANINGFUL = re.compile(r"[\\`*_\[\]<>&|~#]|(?<=[0-9])[.)]|^[-+=:]|:(?=//)")


class Text(Struct, frozen=True):
    """Markdown of any length."""

    text: str


class Heading(Struct, frozen=True):
    """`text` is Markdown, too: a heading may contain a link or emphasis."""

    text: str
    level: int = 2


class Image(Struct, frozen=True):
    url: str
    alt: str = ""


class Divider(Struct, frozen=True):
    pass


Block = Text | Heading | Item | Image | Divider


def parse(body: str) -> tuple[Block, ...]:
    """A heading, an image or a divider is a block if it stands alone between blank lines."""
    blocks: list[Block] = []
    for piece in split(body):
        blocks.extend([piece] if isinstance(piece, Item) else _read_text(piece.split("\n")))
    return tuple(blocks)


def write(blocks: Iterable[Block]) -> str:
    """`parse` reads the same blocks, but adjacent texts are one, and an item that was never closed is closed."""
    written = [text for block in blocks if (text := _write(block))]
    # A code block that is left open would swallow everything after it.
    closed = [text + _missing_end(text) for text in written[:-1]]
    return "\n\n".join([*closed, *written[-1:]]) + "\n"


def items(body: str) -> tuple[Item, ...]:
    return tuple(piece for piece in split(body) if isinstance(piece, Item)) if ":::" in body else ()


def split(body: str) -> list[str | Item]:
    """The items, and the Markdown between them as it was typed. What is inside a code block is no item."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    pieces: list[str | Item] = []
    text: list[str] = []
    fence, at = "", 0
    while at < len(lines):
        if not fence and _OPENS.match(lines[at]):
            item, at = item_lines.read(lines, at + 1)
            pieces += ["\n".join(text), item] if text else [item]
            text = []
        else:
            fence = _fence_after(lines[at], fence)
            text.append(lines[at])
            at += 1
    return [*pieces, "\n".join(text)] if text else pieces


def literal(text: str) -> str:
    """One line as Markdown that shows it as it is. Placeholders are escaped by `placeholders.escape`."""
    return _MEANINGFUL.sub(r"\\\g<0>", " ".join(text.split()))


def _read_text(lines: list[str]) -> Iterator[Block]:
    kept: list[str] = []
    for paragraph in _paragraphs(lines):
        single = _read_single(paragraph[0]) if len(paragraph) == 1 else None
        if not single:
            kept += paragraph
            continue
        if text := _without_blank_ends(kept):
            yield Text(text)
        yield single
        kept = []
    if text := _without_blank_ends(kept):
        yield Text(text)


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines that belong together, and blank lines as paragraphs of their own; a code block is never cut."""
    paragraph: list[str] = []
    fence = ""
    for line in lines:
        fence = _fence_after(line, fence)
        if fence or line.strip():
            paragraph.append(line)
            continue
        if paragraph:
            yield paragraph
        yield [line]
        paragraph = []
    if paragraph:
        yield paragraph


def _read_single(line: str) -> Block | None:
    if heading := _HEADING.match(line):
        return Heading(heading[2].rstrip(), len(heading[1]))
    if image := _IMAGE.match(line):
        return Image(image[2], _ESCAPED_IN_ALT.sub(r"\1", image[1]))
    return Divider() if _DIVIDER.match(line) else None


def _write(block: Block) -> str:
    match block:
        case Text(text):
            return _without_blank_ends(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        case Heading(text, level):
            line = " ".join(text.split())
            return f"{'#' * level} {line}" if line else ""
        case Image(url, alt):
            address = _NOT_IN_ADDRESS.sub(lambda match: f"%{ord(match[0]):02X}", url)
            words = _IN_ALT.sub(r"\\\g<0>", " ".join(alt.split()))
            return f"![{words}]({address})"
        case Item():
            return item_lines.write(block)
        case Divider():
            return "---"


def _without_blank_ends(lines: list[str]) -> str:
    """Indentation of the first line stays: it may be code."""
    first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    last = next((at for at in range(len(lines), first, -1) if lines[at - 1].strip()), first)
    return "\n".join(lines[first:last])


def _fence_after(line: str, fence: str) -> str:
    """The fence of the code block that is open after this line, if there is one."""
    found = _FENCE.match(line)
    if not found:
        return fence
    if not fence:
        return found[1]
    ends = found[1][0] == fence[0] and len(found[1]) >= len(fence) and not line[found.end() :].strip()
    return "" if ends else fence


def _missing_end(text: str) -> str:
    fence = ""
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
    return f"\n{fence}" if fence else ""

"""The plain text of an HTML body: the same words in the same order, with the addresses of links."""

import re
from html.parser import HTMLParser

from chalicelib.campaigns.content import styles

_BLOCKS = {
    "p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote", "pre", "table", "figure", "address",
    "dl", "center", "figcaption", "caption", "details",
}  # fmt: skip
_VOID = {"br", "col", "hr", "img", "wbr"}
_LINES = {"li", "tr", "dt", "dd", "summary"}
_SPACES = re.compile(r"[ \t\r\n\f]+")
_GAPS = re.compile(r"\n{3,}")
_RULE = "----------"


def from_html(markup: str) -> str:
    """From sanitised HTML only: nothing here expects scripts or styles."""
    writer = _Writer()
    writer.feed(markup)
    writer.close()
    return writer.text()


class _Writer(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._out: list[str] = []
        self._lists: list[int | None] = []
        self._links: list[tuple[str, int]] = []
        self._quotes: list[int] = []
        self._pre = 0
        self._hidden = 0

    def text(self) -> str:
        lines = [line.rstrip() for line in "".join(self._out).replace("\xa0", " ").split("\n")]
        return _GAPS.sub("\n\n", "\n".join(lines)).strip()

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if not self._pre:
            data = _SPACES.sub(" ", data)
            if self._at_line_start():
                data = data.lstrip(" ")
        self._out.append(data)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if self._hidden or styles.hides(given.get("style") or ""):
            self._hidden += tag not in _VOID
            return
        if tag in _BLOCKS:
            self._gap(nested=bool(self._lists) and tag in ("ul", "ol", "p"))
        if tag in _LINES:
            self._newline()
        match tag:
            case "br":
                self._out.append("\n")
            case "hr":
                self._gap()
                self._out.append(_RULE)
                self._gap()
            case "img":
                self._image(given.get("alt") or "")
            case "a":
                self._links.append((given.get("href") or "", len(self._out)))
            case "ul" | "ol":
                self._lists.append(_start(given.get("start")) if tag == "ol" else None)
            case "li":
                self._bullet()
            case "td" | "th":
                self._cell()
            case "blockquote":
                self._quotes.append(len(self._out))
            case "pre":
                self._pre += 1

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            self._hidden -= 1
            return
        match tag:
            case "a" if self._links:
                self._end_link()
            case "ul" | "ol" if self._lists:
                self._lists.pop()
            case "blockquote" if self._quotes:
                self._end_quote()
            case "pre":
                self._pre = max(0, self._pre - 1)
        if tag in _BLOCKS:
            self._gap(nested=bool(self._lists) and tag in ("ul", "ol", "p"))

    def _end_link(self) -> None:
        href, start = self._links.pop()
        label = "".join(self._out[start:]).strip()
        address = href.removeprefix("mailto:").removeprefix("tel:")
        if address and address.rstrip("/") != label.rstrip("/"):
            self._out.append(f" ({address})" if label else address)

    def _end_quote(self) -> None:
        start = self._quotes.pop()
        quoted = "".join(self._out[start:]).strip("\n")
        self._out[start:] = ["\n".join(f"> {line}".rstrip() for line in _GAPS.sub("\n\n", quoted).split("\n"))]

    def _image(self, alt: str) -> None:
        if alt.strip():
            self._out.append(f"[{alt.strip()}]")

    def _bullet(self) -> None:
        indent = "  " * max(0, len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        self._out.append(f"{indent}{'-' if number is None else f'{number}.'} ")
        if number is not None:
            self._lists[-1] = number + 1

    def _cell(self) -> None:
        if not self._at_line_start():
            self._out.append("  ")

    def _gap(self, nested: bool = False) -> None:
        self._newline() if nested else self._out.append("\n\n")

    def _newline(self) -> None:
        if not self._at_line_start():
            self._out.append("\n")

    def _at_line_start(self) -> bool:
        last = next((piece for piece in reversed(self._out) if piece), "\n")
        return last.endswith("\n") or (last.endswith((" ", "- ")) and _is_bullet(last))


def _is_bullet(piece: str) -> bool:
    return bool(re.fullmatch(r" *(-|\d+\.) ", piece))


def _start(value: str | None) -> int:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 9 else 1

"""The documentation, taken apart: its code blocks, its commands, its links, its tables."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Block:
    page: str
    language: str
    text: str


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(language: str) -> list[Block]:
    return [block for page in pages() for block in _blocks(page) if block.language == language]


def commands() -> list[tuple[str, str]]:
    """Every line to be typed into a shell: of `sh` blocks, of indented blocks, and `make …` within sentences."""
    found = []
    for page in pages():
        lines = [line for block in _blocks(page) if block.language in ("sh", "") for line in block.text.splitlines()]
        lines += re.findall(r"`((?:make|\.venv/bin/\w+) [^`]+)`", page.read_text())
        found += [(_name(page), line.split("  #")[0].strip()) for line in lines if line.strip()]
    return sorted(set(found))


def links() -> list[tuple[str, str]]:
    """Links to other files of the project, and to headings in them."""
    pattern = r"\]\(([^)\s]+)\)|src=\"([^\"]+)\""
    return sorted(
        {
            (_name(page), target)
            for page in pages()
            for pair in re.findall(pattern, _prose(page))
            for target in pair
            if target and "://" not in target and not target.startswith("mailto:")
        }
    )


def headings(page: Path) -> set[str]:
    """As GitHub makes anchors of them."""
    titles = re.findall(r"^#+ (.+)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def rows(page: Path) -> Iterator[list[str]]:
    """Cells of every line of a table, without the markup around them."""
    for line in page.read_text().splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def _blocks(page: Path) -> list[Block]:
    text = page.read_text()
    fenced = r"^( *)```(\w*)\n(.*?)^ *```$"
    found = [
        Block(_name(page), language, textwrap.dedent(body))
        for _, language, body in re.findall(fenced, text, re.MULTILINE | re.DOTALL)
    ]
    plain = re.sub(fenced, "", text, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"(?:^\n)((?:^    (?:make |cp |git |curl |\.venv/|python ).*\n)+)", plain, re.MULTILINE)
    return found + [Block(_name(page), "", textwrap.dedent(body)) for body in indented]


def _prose(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))

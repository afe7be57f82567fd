"""Names, tags and JSON in cells, made to fit: what does not fit is left out, and never stops a row."""

import csv
import json
import re
import unicodedata
from functools import lru_cache
from typing import Any

from chalicelib.audience import model
from chalicelib.kernel import spreadsheets
from chalicelib.kernel.errors import Invalid

_LONGEST_TAGS = 20_000
# Longer than any that fits.
_LONGEST_TAG = 200
_LONGEST_JSON = 131_072
_SPACE = re.compile(r"\s+")
_GHOSTS_ESCAPE = re.compile(r"\A'(?=[=+\-@\t\r])")


def unescape(cells: list[str], format: str) -> list[str]:
    """Without the apostrophes that keep spreadsheets from taking a cell for a formula."""
    if format == "gna":
        return [spreadsheets.unescape(cell) if "'" in cell else cell for cell in cells]
    if format == "ghost":
        return [_GHOSTS_ESCAPE.sub("", cell) for cell in cells]
    return cells


def fit_name(text: str) -> str | None:
    """A nickname by the rules of `check_nickname`, shortened if need be; None if nothing usable is left."""
    if not text or "\ufffd" in text:
        return None
    text = unicodedata.normalize("NFC", text[: 10 * model.LONGEST_NICKNAME])
    if not text.isprintable():
        text = "".join(" " if unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") else each for each in text)
    text = _SPACE.sub(" ", text).strip()[: model.LONGEST_NICKNAME].strip()
    try:
        return model.check_nickname(text) if text else None
    except Invalid:
        return None


def read_tags(cell: str) -> tuple[frozenset[str], bool]:
    """And whether some had to be left out."""
    if not cell or not cell.strip():
        return frozenset(), False
    if len(cell) > _LONGEST_TAGS:
        return frozenset(), True
    fitted = [_fit_tag(part.strip()[:_LONGEST_TAG]) for part in _split(cell.strip()) if part.strip()]
    tags = list(dict.fromkeys(tag for tag in fitted if tag is not None))
    lost = None in fitted or len(tags) > model.MOST_TAGS_IN_ALL
    return frozenset(tags[: model.MOST_TAGS_IN_ALL]), lost


@lru_cache(maxsize=4096)
def _fit_tag(text: str) -> str | None:
    """Most people of a list have the same few."""
    try:
        (tag,) = model.check_tags([text])
    except Invalid:
        return None
    return tag


def _split(cell: str) -> list[str]:
    """A JSON list, Mailchimp's quoted list, or words with commas or semicolons between them."""
    if cell.startswith("["):
        value = _load(cell)
        if isinstance(value, list):
            return [each for each in value if isinstance(each, str)]
    if '"' in cell:
        try:
            return next(csv.reader([cell], skipinitialspace=True, strict=True))
        except (csv.Error, StopIteration):
            cell = cell.replace('"', "")
    return re.split(r"[,;]", cell)


def read_words(cell: str) -> tuple[str, ...]:
    """A JSON list of texts, such as our own sources."""
    value = _load(cell)
    words = value if isinstance(value, list) else []
    return tuple(word for word in words if isinstance(word, str) and fit_source(word) == word)[: model.MOST_SOURCES]


def fit_source(text: str) -> str | None:
    try:
        return model.parse_capture(text, None, None, None).source
    except Invalid:
        return None


def read_metadata(cell: str) -> dict[str, Any] | None:
    return fit_metadata(_load(cell))


def read_metadata_by_source(cell: str) -> dict[str, dict[str, Any]]:
    value = _load(cell)
    by_source = value if isinstance(value, dict) else {}
    return {
        source: fitting
        for source, metadata in by_source.items()
        if fit_source(source) == source and (fitting := fit_metadata(metadata))
    }


def fit_metadata(value: Any) -> dict[str, Any] | None:
    """By the rules for sign-ups; None if it does not follow them, or is empty."""
    if not isinstance(value, dict) or not value:
        return None
    try:
        model.parse_capture(None, None, value, None)
        model.encode_metadata(value).encode()
    except (Invalid, ValueError):
        return None
    return value


def _load(cell: str) -> Any:
    """None if it is no JSON."""
    if not cell or len(cell) > _LONGEST_JSON:
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None

"""A reader of `.po` files, for where nobody has compiled them: at home, in tests, and with plain `chalice deploy`.

It gives what Babel compiles for the deployed package; a test compares the two. Fuzzy and obsolete entries are left
out.
"""

import ast
import re
import struct
from collections.abc import Iterator

_FIELD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d)\])?\s+(".*")\Z')
_MAGIC = 0x950412DE

Entry = dict[str, str]


def compile_catalogue(text: str) -> bytes:
    """The bytes of the `.mo` file: what `gettext` reads."""
    pairs = sorted((_key(entry).encode(), _value(entry).encode()) for entry in _entries(text) if _value(entry))
    keys = b"".join(key + b"\0" for key, _ in pairs)
    values = b"".join(value + b"\0" for _, value in pairs)
    start = 28 + 16 * len(pairs)
    tables = (_table([key for key, _ in pairs], start), _table([value for _, value in pairs], start + len(keys)))
    header = struct.pack("<7I", _MAGIC, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, start)
    return b"".join((header, *tables, keys, values))


def _entries(text: str) -> Iterator[Entry]:
    """One for each block between empty lines."""
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.splitlines()]
        if any(line.startswith("#,") and "fuzzy" in line for line in lines):
            continue
        entry = _entry(line for line in lines if line and not line.startswith("#"))
        if "msgid" in entry:
            yield entry


def _entry(lines: Iterator[str]) -> Entry:
    """Fields by name, plural forms as `msgstr0`, `msgstr1`. A line that is only a text continues the one before."""
    entry: Entry = {}
    name = ""
    for line in lines:
        if match := _FIELD.match(line):
            name = match[1] + (match[2] or "")
            entry[name] = ""
            line = match[3]
        entry[name] += ast.literal_eval(line)
    return entry


def _key(entry: Entry) -> str:
    context = f"{entry['msgctxt']}\x04" if "msgctxt" in entry else ""
    plural = f"\0{entry['msgid_plural']}" if "msgid_plural" in entry else ""
    return f"{context}{entry['msgid']}{plural}"


def _value(entry: Entry) -> str:
    """Empty if there is no translation, or not of every form."""
    forms = [text for name, text in sorted(entry.items()) if name.startswith("msgstr")]
    return "\0".join(forms) if all(forms) else ""


def _table(texts: list[bytes], start: int) -> bytes:
    """Length and place of each text."""
    places = []
    for text in texts:
        places.append(struct.pack("<2I", len(text), start))
        start += len(text) + 1
    return b"".join(places)

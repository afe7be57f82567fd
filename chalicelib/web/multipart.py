"""Forms sent as `multipart/form-data`, as browsers send them (RFC 7578, and the encoding of the HTML standard).

One pass, no nesting, every length and count bounded: the parser of the email package needs quadratic time for many
small parts, and recurses into comments. An unusual header or a body that does not end is refused, and so is a file
where none is expected.
"""

import re

from msgspec import Struct

from chalicelib.kernel.errors import Invalid

_LONGEST_TYPE = 300
_LONGEST_HEAD = 1_024
_MOST_TEXT = 64 * 1024
_BOUNDARY = re.compile(r"[A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-]\Z")
# .NET writes names without quotes. `name*=` is forbidden in forms; `filename` means a file, and may be written in any
# way (with `filename*=` beside it, too): it is a hint at most, and only read where it is written as browsers do.
_DISPOSITION = re.compile(
    rb'form-data *; *name=(?:"([^"]*)"|([A-Za-z0-9_.-]+)) *(; *filename\*?=.*)?\Z', re.IGNORECASE | re.DOTALL
)
_FILENAME = re.compile(rb'; *filename="([^"]{1,255})"\Z', re.IGNORECASE)
_NOT_ENCODED = (b"", b"7bit", b"8bit", b"binary")
# What browsers write for the three characters that a name in quotes cannot hold; nothing else is escaped.
_ESCAPED = ((b"%0D", b"\r"), (b"%0A", b"\n"), (b"%22", b'"'))


class Form(Struct, frozen=True):
    """Of several fields with the same name the last counts, as in other forms. `names` are those of the files on the
    sender's machine, without folders, as far as they can be read."""

    fields: dict[str, str]
    files: dict[str, bytes]
    names: dict[str, str] = {}


class _Part(Struct, frozen=True):
    name: str
    content: bytes
    is_file: bool
    filename: str = ""


def read(content_type: str, body: bytes, most_fields: int) -> dict[str, str]:
    """The fields by name, of a form without files. The route bounds how large it is."""
    parts = _parts(content_type, body, most_fields)
    if any(part.is_file for part in parts):
        raise _unreadable("files are not accepted")
    return _fields(parts)


def read_form(content_type: str, body: bytes, most_fields: int) -> Form:
    """A form that may have files, beside not more text than a form without any."""
    parts = _parts(content_type, body, most_fields)
    if sum(len(part.content) for part in parts if not part.is_file) > _MOST_TEXT:
        raise _unreadable("it has too much text")
    files = {part.name: part for part in parts if part.is_file}
    if len(files) < sum(part.is_file for part in parts):
        raise _unreadable("it has several files where one is expected")
    contents = {name: part.content for name, part in files.items()}
    return Form(_fields(parts), contents, {name: part.filename for name, part in files.items()})


def _fields(parts: list[_Part]) -> dict[str, str]:
    return {part.name: _text(part.content) for part in parts if not part.is_file}


def _parts(content_type: str, body: bytes, most_fields: int) -> list[_Part]:
    delimiter = b"\r\n--" + _boundary(content_type)
    before, *parts = (b"\r\n" + body).split(delimiter, most_fields + 1)
    if before or not parts:
        raise _unreadable("it does not begin with its boundary")
    if parts.pop() not in (b"--", b"--\r\n"):
        raise _unreadable("it has too many fields" if len(parts) == most_fields else "it does not end properly")
    return [_part(part) for part in parts]


def _boundary(content_type: str) -> bytes:
    given = [parameter.partition("=") for parameter in content_type[:_LONGEST_TYPE].split(";")[1:]]
    found = [value.strip() for name, _, value in given if name.strip().lower() == "boundary"]
    boundary = found[0] if len(found) == 1 and len(content_type) <= _LONGEST_TYPE else ""
    if re.match(r'"[^"]*"\Z', boundary):
        boundary = boundary[1:-1]
    if not _BOUNDARY.match(boundary):
        raise _unreadable("Content-Type has no valid boundary")
    return boundary.encode()


def _part(part: bytes) -> _Part:
    """A part begins with the end of the delimiter's line; an empty line is between its headers and its value."""
    end = part.find(b"\r\n\r\n", 0, _LONGEST_HEAD)
    if not part.startswith(b"\r\n") or end < 0:
        raise _unreadable("a field has no proper headers")
    headers = _headers(part[2:end])
    if headers.get(b"content-transfer-encoding", b"").lower() not in _NOT_ENCODED:
        raise _unreadable("a field has a transfer encoding")
    disposition = headers.get(b"content-disposition", b"")
    name, is_file = _name(disposition)
    return _Part(_text(name), part[end + 4 :], is_file, _filename(disposition))


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise _unreadable("it is not UTF-8") from None


def _headers(head: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for line in head.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon or name.lower() in found:
            raise _unreadable("a field has no proper headers")
        found[name.lower()] = value.strip()
    return found


def _name(disposition: bytes) -> tuple[bytes, bool]:
    """The name, and whether it is that of a file."""
    matched = _DISPOSITION.match(disposition)
    if not matched:
        raise _unreadable("a field has no proper name")
    name = _unescape(matched[1]) if matched[1] is not None else matched[2]
    return name, matched[3] is not None


def _filename(disposition: bytes) -> str:
    """Empty if there is none, or one that is not written as browsers do."""
    matched = _FILENAME.search(disposition)
    try:
        name = _unescape(matched[1]).decode() if matched else ""
    except UnicodeDecodeError:
        return ""
    plain = re.split(r"[/\\]", name)[-1]
    return plain if plain.isprintable() else ""


def _unescape(name: bytes) -> bytes:
    for written, meant in _ESCAPED:
        name = name.replace(written, meant)
    return name


def _unreadable(why: str) -> Invalid:
    return Invalid(f"The form could not be read: {why}")

"""Opens what was uploaded: one CSV text, or a zip of some. Texts are streamed, so none is in memory as a whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct

from chalicelib.audience.imports.reading import encodings, zips
from chalicelib.kernel.errors import Invalid

_SAMPLE = 65_536
_EMPTY = "The file is empty"


class Text(Struct, frozen=True):
    """One CSV text: the uploaded file, or a file in the zip (`member` is its place there)."""

    name: str
    path: Path
    # In bytes; of a file in a zip, unpacked.
    size: int
    member: int | None = None

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        if self.member is None:
            with self.path.open("rb") as stream:
                yield stream
        else:
            with zips.open_member(self.path, self.member) as stream:
                yield stream


class Upload(Struct, frozen=True):
    texts: tuple[Text, ...]
    # Names of files in the zip that are not read.
    ignored: tuple[str, ...] = ()
    # The name of the uploaded file, if the caller knows it: with some services it tells the status.
    name: str = ""


def open_upload(path: Path, content_type: str, name: str = "") -> Upload:
    """What the file contains decides; `content_type` only says which refusal helps."""
    with path.open("rb") as stream:
        beginning = stream.read(_SAMPLE)
    if not beginning:
        raise Invalid(_EMPTY)
    if zips.is_zip(beginning) or "zip" in content_type:
        return _open_zip(path, name)
    text = Text("", path, path.stat().st_size)
    if not _check_text(text):
        raise Invalid(_EMPTY)
    return Upload((text,), name=name)


def _open_zip(path: Path, name: str) -> Upload:
    members, ignored = zips.list_members(path)
    texts = [Text(shown, path, size, member) for member, shown, size in members]
    full = tuple(text for text in texts if _check_text(text))
    if not full:
        raise Invalid("The zip contains no CSV file with something in it")
    return Upload(full, ignored, name)


def _check_text(text: Text) -> bool:
    """Whether there is anything in it."""
    with text.open() as stream:
        beginning = stream.read(_SAMPLE)
        encodings.check_text(beginning)
        while not beginning.strip(encodings.BLANK):
            beginning = stream.read(_SAMPLE)
            if not beginning:
                return False
    return True

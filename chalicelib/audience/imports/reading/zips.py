"""The CSV files in a zip. What a zip says about itself is not believed: sizes are measured while it is unpacked, and
no name in it is used as a path."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from chalicelib.kernel.errors import Invalid

MOST_FILES = 20
MOST_BYTES = 100 * 1024 * 1024
_READABLE = (".csv", ".tsv", ".txt")
_END_OF_DIRECTORY = b"PK\x05\x06"
_LONGEST_END = 22 + 65_535
# Of the list of files alone, which is read whole: thousands of files, more than any service puts into an export.
_LARGEST_DIRECTORY = 1024 * 1024
_CHUNK = 65_536
_LONGEST_NAME = 100
_UNREADABLE = "The zip cannot be read"
_TOO_LARGE = "The zip is larger than 100 MB unpacked"
# Substack's whole export has hundreds of files, and lists of who got or opened each post, left or not. This one
# holds the subscribers.
_SUBSTACK_LIST = "email_list."


def is_zip(beginning: bytes) -> bool:
    return beginning.startswith((b"PK\x03\x04", _END_OF_DIRECTORY))


def list_members(path: Path) -> tuple[list[tuple[int, str, int]], tuple[str, ...]]:
    """Place, name and unpacked size of each CSV file, and the names of what is not read."""
    _check_directory(path)
    with _open(path) as archive:
        infos = archive.infolist()
        files = [(place, info) for place, info in enumerate(infos) if not _is_noise(info.filename)]
        lists = [(place, info) for place, info in files if _base(info.filename).startswith(_SUBSTACK_LIST)]
        if not lists and len(files) > MOST_FILES:
            raise Invalid(f"The zip contains more than {MOST_FILES} files")
        chosen = lists or [(place, info) for place, info in files if _is_readable(info.filename)]
        if not chosen:
            raise Invalid(_why_nothing(files))
        sizes = _measure(archive, [info for _, info in chosen])
        names = _distinct([info.filename for _, info in chosen])
        places = [place for place, _ in chosen]
    others = tuple(_printable(_base(info.filename)) for place, info in files if place not in places)
    return list(zip(places, names, sizes, strict=True)), others[:MOST_FILES]


@contextmanager
def open_member(path: Path, place: int) -> Iterator[IO[bytes]]:
    with _open(path) as archive, archive.open(archive.infolist()[place]) as stream:
        yield stream


@contextmanager
def _open(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OSError, ValueError):
        raise Invalid(_UNREADABLE) from None


def _check_directory(path: Path) -> None:
    """Before the library reads all of it into memory."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - _LONGEST_END))
        end = stream.read()
    at = end.rfind(_END_OF_DIRECTORY)
    if at < 0 or len(end) - at < 22:
        raise Invalid(_UNREADABLE)
    # The larger format says so by this value; it is for sizes beyond what is accepted here.
    if int.from_bytes(end[at + 12 : at + 16], "little") > _LARGEST_DIRECTORY:
        raise Invalid(f"The zip contains more than {MOST_FILES} files")


def _measure(archive: zipfile.ZipFile, chosen: list[zipfile.ZipInfo]) -> list[int]:
    """How large each is unpacked."""
    sizes: list[int] = []
    for info in chosen:
        if info.flag_bits & 0x1:
            raise Invalid("The zip is encrypted: remove its password first")
        # Others need memory that the file itself chooses.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Invalid(_UNREADABLE)
        sizes.append(0)
        with archive.open(info) as stream:
            while piece := stream.read(_CHUNK):
                sizes[-1] += len(piece)
                if sum(sizes) > MOST_BYTES:
                    raise Invalid(_TOO_LARGE)
    return sizes


def _is_noise(name: str) -> bool:
    """Directories, and what macOS and Windows add to every zip."""
    parts = name.replace("\\", "/").split("/")
    return name.endswith(("/", "\\")) or "__MACOSX" in parts or parts[-1].startswith(("._", ".DS_Store", "Thumbs.db"))


def _is_readable(name: str) -> bool:
    return name.lower().endswith(_READABLE)


def _why_nothing(files: list[tuple[int, zipfile.ZipInfo]]) -> str:
    names = [info.filename.lower() for _, info in files]
    if any(name.startswith("xl/") for name in names):
        return "This is a spreadsheet: save it as CSV first"
    if any(name.endswith(".zip") for name in names):
        return "The zip contains another zip: unpack it first"
    return "The zip contains no CSV file"


def _distinct(names: list[str]) -> list[str]:
    """By their last part where that is enough."""
    bases = [_base(name) for name in names]
    shown = [_printable(base if bases.count(base) == 1 else name) for base, name in zip(bases, names, strict=True)]
    return [
        name if shown.count(name) == 1 else f"{name} ({shown[: place + 1].count(name)})"
        for place, name in enumerate(shown)
    ]


def _base(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name


def _printable(name: str) -> str:
    return "".join(character for character in name if character.isprintable())[-_LONGEST_NAME:]

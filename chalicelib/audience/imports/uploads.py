"""The uploaded file and the parts of the report, in the private bucket: in a folder that a rule empties daily."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir

from chalicelib.audience.imports import model
from chalicelib.audience.imports.model import Import
from chalicelib.kernel.aws import objects

_UPLOAD_SECONDS = 600
_FOLDERS = "import-"
# Longer than any call may take.
_LEFT_BEHIND = timedelta(hours=1)


class Gone(Exception):
    """The file is not there, or not yet."""


def sign(found: Import) -> tuple[str, dict[str, str]]:
    """Where to post the file, within ten minutes, and the fields that go before it."""
    return objects.sign_post(_file(found.id), found.content_type, model.MOST_BYTES, _UPLOAD_SECONDS)


def keep(import_id: str, content: bytes, content_type: str) -> None:
    objects.put(_file(import_id), content, content_type)


@contextmanager
def folder() -> Iterator[Path]:
    """For what is needed during one call. What a call left behind that was killed is removed by a later one."""
    _clear_up()
    with TemporaryDirectory(prefix=_FOLDERS) as name:
        yield Path(name)


def _clear_up() -> None:
    long_ago = time.time() - _LEFT_BEHIND.total_seconds()
    for path in Path(gettempdir()).glob(f"{_FOLDERS}*"):
        try:
            if path.stat().st_mtime < long_ago:
                rmtree(path)
        except OSError:
            continue  # another call was faster, or it is not ours


def fetch(found: Import, into: Path) -> Path:
    path = into / "file"
    if not objects.download(_file(found.id), path):
        raise Gone
    return path


def keep_part(import_id: str, start: int, path: Path) -> None:
    """Rows of the report from this row of the file on."""
    objects.put_file(_part(import_id, start), path, "text/csv")


def read_part(import_id: str, start: int) -> Iterator[str] | None:
    return objects.read_text(_part(import_id, start))


def forget_file(import_id: str) -> None:
    objects.delete(_file(import_id))


def forget_report(found: Import) -> None:
    for start in found.parts:
        objects.delete(_part(found.id, start))


def _file(import_id: str) -> str:
    return f"incoming/imports/{import_id}/file"


def _part(import_id: str, start: int) -> str:
    return f"incoming/imports/{import_id}/report-{start:07}"

"""Texts as uploads, and what is read from them."""

import io
import zipfile
from pathlib import Path

from chalicelib.audience.imports.reading import files, recogniser, row_reader
from chalicelib.audience.imports.reading.files import Upload
from chalicelib.audience.imports.reading.model import Reading, Row, Wanted

SAMPLES = Path(__file__).parents[4] / "fixtures" / "imports"


class Opener:
    """Writes uploads into a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def __call__(self, content: str | bytes, content_type: str = "text/csv", name: str = "") -> Upload:
        self._count += 1
        path = self._folder / f"upload-{self._count}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return files.open_upload(path, content_type, name)

    def zip(self, members: dict[str, str | bytes]) -> Upload:
        return self(zipped(members), "application/zip")

    def reading(self, content: str | bytes, name: str = "", **wanted: object) -> Reading:
        return recogniser.recognise(self(content, name=name), Wanted(**wanted))

    def rows(self, content: str | bytes, name: str = "", **wanted: object) -> list[Row]:
        return read(self(content, name=name), **wanted)


def read(upload: Upload, **wanted: object) -> list[Row]:
    return list(row_reader.rows(upload, recogniser.recognise(upload, Wanted(**wanted))))


def zipped(members: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()

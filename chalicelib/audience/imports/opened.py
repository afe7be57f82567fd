"""An import's file during one call: fetched, recognised, and read once to see who stands in it twice."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from chalicelib.audience.imports import uploads
from chalicelib.audience.imports.model import Columns, Import
from chalicelib.audience.imports.people import People
from chalicelib.audience.imports.reading import files, recogniser, row_reader
from chalicelib.audience.imports.reading.files import Upload
from chalicelib.audience.imports.reading.model import Reading, Row, Wanted

_PREVIEWED = 10
_LARGE = 8_000_000


class Sheets(Struct, frozen=True):
    """A file that was recognised."""

    upload: Upload
    reading: Reading

    def rows(self, skip: int = 0) -> Iterator[Row]:
        return row_reader.rows(self.upload, self.reading, skip)

    @property
    def is_large(self) -> bool:
        """Too large to be read as a whole while somebody waits, whatever its size in a zip."""
        return sum(text.size for text in self.upload.texts) > _LARGE

    def preview(self) -> list[Row]:
        return [row for row, _ in zip(self.rows(), range(_PREVIEWED), strict=False)]

    def columns(self) -> Columns:
        reading = self.reading
        return Columns(
            reading.format,
            reading.delimiter,
            reading.encoding,
            reading.header,
            _names(reading.columns),
            reading.mapping,
            reading.date_format,
            reading.ignored,
        )


def _names(columns: Sequence[str]) -> tuple[str, ...]:
    """Numbers instead, if the owner takes a row of addresses for a header: names of columns are kept for long."""
    if not any("@" in name for name in columns):
        return tuple(columns)
    return tuple(f"Column {number}" for number in range(1, len(columns) + 1))


def recognise(path: Path, content_type: str, name: str, wanted: Wanted) -> Sheets:
    upload = files.open_upload(path, content_type, name)
    return Sheets(upload, recogniser.recognise(upload, wanted))


@contextmanager
def sheets(found: Import) -> Iterator[Sheets]:
    """Raises `uploads.Gone` if the file is not there."""
    with uploads.folder() as folder:
        yield recognise(uploads.fetch(found, folder), found.content_type, found.name, found.wanted)


@contextmanager
def people(opened: Sheets) -> Iterator[People]:
    with uploads.folder() as folder:
        index = People(folder)
        try:
            index.add(opened.rows())
            yield index
        finally:
            index.close()

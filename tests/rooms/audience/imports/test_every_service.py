"""The samples of every service, imported: counts add up, and the report brings nobody in whom the file did not."""

import pytest

from chalicelib.audience.imports.reading import recogniser
from chalicelib.audience.imports.reading.model import Status
from tests.rooms.audience.imports.reading.reading import SAMPLES, Opener, read, zipped

FILES = sorted(path for path in SAMPLES.glob("*.*"))
FOLDERS = sorted(path for path in SAMPLES.iterdir() if path.is_dir())


def imported(editor, content, content_type="text/csv"):
    answer = editor.bring(content, content_type)
    assert answer.status == 201, answer.text
    tried = answer.json
    assert editor.start(tried["id"]).status == 202
    editor.work()
    done = editor.see(tried["id"])
    assert (done["state"], done["done"]) == ("done", done["rows"])
    assert done["counts"] == tried["counts"]
    return done


def expected(rows):
    """How many people are to be mailed, by the rows as they were read."""
    people = {}
    for row in rows:
        if row.address:
            people[row.address.key] = max(people.get(row.address.key, Status.MAILABLE), row.status)
    return sum(status is Status.MAILABLE for status in people.values())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_imported(editor, tmp_path, path):
    upload = Opener(tmp_path)(path.read_bytes())
    rows = read(upload)
    done = imported(editor, path.read_bytes())
    assert done["format"] == recogniser.recognise(upload).format
    assert done["rows"] == len(rows)
    assert done["counts"]["imported"] == expected(rows) == len(editor.subscribers())
    again = imported(editor, editor.report(done["id"]).text.encode()) if done["rows"] > expected(rows) else done
    assert again is done or again["counts"]["imported"] == 0


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_zip_is_imported(editor, tmp_path, folder):
    content = zipped({path.name: path.read_bytes() for path in folder.iterdir()})
    rows = read(Opener(tmp_path)(content))
    done = imported(editor, content, "application/zip")
    assert done["counts"]["imported"] == expected(rows) == len(editor.subscribers())
    assert done["counts"]["left_elsewhere"] > 0
    assert done["counts"]["suppressed"] > 0

"""What we export can be read again without loss."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.audience import export
from chalicelib.audience.imports.reading import recogniser
from chalicelib.audience.imports.reading.model import Status
from chalicelib.audience.listing import Filter
from chalicelib.kernel import clock, spreadsheets
from tests.rooms.audience.imports.reading.reading import read


def write(*rows, columns=export.FULL_COLUMNS):
    return "".join(spreadsheets.write(columns, rows))


def full_row(email="ann@example.org", name="", status="Activated", sources=("default",), tags=(), metadata=""):
    words = [json.dumps(list(each), ensure_ascii=False, separators=(",", ":")) for each in (sources, tags)]
    return (email, name, status, "2023-01-05T10:11:12.345Z", "id", "2023-01-05T10:10:00.000Z", *words, metadata)


def test_the_real_export_of_real_readers_comes_back(opened, reader):
    reader("ann@example.org").join(
        nickname="=Ann; +Lee",
        source="Blog",
        tags=["a;=b", "vip, gold"],
        metadata={"town": "Bern", "n": [1, {"x": "=1"}]},
    )
    reader("ann@example.org").join(source="side; -bar", tags=["@other"], metadata={"x": "y;\t=z"})
    reader("ben@example.org").subscribe(nickname="Ben", source="blog", tags=["wait"], metadata={"k": "v"})
    exported = "".join(export.csv_parts(Filter(), full=True))
    upload = opened(exported)
    reading = recogniser.recognise(upload)
    assert (reading.format, reading.encoding) == ("gna", "utf-8")
    rows = {row.typed: row for row in read(upload)}
    ann, ben = rows["ann@example.org"], rows["ben@example.org"]
    assert ann.name == "=Ann; +Lee"
    assert ann.tags == {"a;=b", "vip, gold", "@other"}
    assert set(ann.sources) == {"blog", "side; -bar"}
    assert ann.metadata_by_source == {
        "blog": {"town": "Bern", "n": [1, {"x": "=1"}]},
        "side; -bar": {"x": "y;\t=z"},
    }
    assert ann.status is Status.MAILABLE
    assert ann.confirmed_at >= ann.joined_at
    assert clock.text(ann.joined_at) in exported
    assert clock.text(ann.confirmed_at) in exported
    assert (ben.status, ben.confirmed_at, ben.name) == (Status.UNCONFIRMED, None, "Ben")
    assert (ben.sources, ben.tags, ben.metadata_by_source) == (("blog",), {"wait"}, {"blog": {"k": "v"}})
    assert not any(row.repaired or row.dropped or row.problem for row in rows.values())


def test_the_short_export_is_recognised_too(opened):
    content = write(("ann@example.org", "Ann", "Pending", ""), columns=export.COLUMNS)
    assert opened.reading(content).format == "gna"
    (row,) = opened.rows(content)
    assert (row.name, row.status) == ("Ann", Status.UNCONFIRMED)


def test_activated_is_a_word_of_ours_alone(opened):
    assert opened.rows(write(full_row()))[0].status is Status.MAILABLE
    assert opened.rows("email,status\nann@example.org,activated\n")[0].status is Status.UNCONFIRMED


def test_the_most_that_somebody_can_have_is_read(opened):
    metadata = {f"source-{n}": {"text": '"' * 4900} for n in range(10)}
    cell = json.dumps(metadata, ensure_ascii=False, separators=(",", ":"))
    assert 90_000 < len(cell) < 102_400
    tags = [f"{n:03}" + "x" * 61 for n in range(200)]
    sources = [f"source-{n}" for n in range(40)]
    (row,) = opened.rows(write(full_row(sources=sources, tags=tags, metadata=cell)))
    assert (row.problem, row.dropped) == (None, ())
    assert (row.metadata_by_source, row.tags, row.sources) == (metadata, set(tags), tuple(sources))


def test_who_is_paused_stays_so_whatever_columns_are_chosen(opened):
    content = write((*full_row(), "hard_bounce"), (*full_row("ben@example.org"), ""), full_row("cy@example.org"))
    assert [row.paused for row in opened.rows(content)] == ["hard_bounce", None, None]
    upload = opened(content)
    assert [row.paused for row in read(upload, mapping={"email": 0})] == ["hard_bounce", None, None]
    assert not any(row.problem for row in read(upload)), "Excel leaves out empty cells at the end of a row"
    assert opened.rows(write((*full_row(), "because")))[0].paused == "editor"


def test_what_our_export_cannot_contain_is_left_out(opened):
    (row,) = opened.rows(
        write(full_row(sources=["ok", "UPPER", "", 7], tags=["ok", "", "x" * 65], metadata='{"a": 1}'))
    )
    assert (row.sources, row.tags, row.metadata_by_source) == (("ok",), {"ok"}, {})
    assert row.dropped == ("tags", "metadata")


@given(st.text(alphabet='aA=+-@;\t "ü,＝', min_size=1, max_size=10))
def test_any_cell_is_read_as_it_was_written(name):
    """But for an apostrophe of its own before what looks like a formula."""
    assert spreadsheets.unescape(spreadsheets.escape(name)) == name


@pytest.mark.parametrize("cell", ["=1+1", "-1", "x;=1", "\t=1", '"=1', " @a", "x", "'x", "O'Neil; O'Hara"])
def test_escapes_are_undone(cell):
    assert spreadsheets.unescape(spreadsheets.escape(cell)) == cell


def test_the_report_of_an_import_can_be_imported_again(opened):
    columns = ("email", "name", "status", "joined_at", "tags", "file", "line", "result", "reason")
    content = write(
        (
            "+ann@example.org",
            "=Ann",
            "",
            "2023-01-05T10:11:12.345Z",
            "a,b",
            "list.csv",
            "2",
            "invalid",
            "No email address",
        ),
        ("ben@example.org", "Ben", "unsubscribed", "", "", "list.csv", "3", "left_elsewhere", "Unsubscribed"),
        columns=columns,
    )
    ann, ben = opened.rows(content)
    assert (ann.typed, ann.name, ann.tags, ann.status) == ("+ann@example.org", "=Ann", {"a", "b"}, Status.MAILABLE)
    assert ann.joined_at.year == 2023
    assert ben.status is Status.LEFT

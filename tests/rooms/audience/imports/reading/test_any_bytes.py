"""Whatever arrives: either a refusal, or rows that add up. Examples are the same in every run."""

import codecs
import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.audience import model as audience
from chalicelib.audience.imports.reading import proofs, recogniser, row_reader
from chalicelib.audience.imports.reading.model import DATE_FORMATS, DELIMITERS, ENCODINGS, Status, Wanted
from chalicelib.kernel import addresses
from chalicelib.kernel.errors import Invalid
from tests.rooms.audience.imports.reading.reading import SAMPLES, zipped

same_examples = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
_PIECES = st.sampled_from(
    [
        "email", "Email Address", "status", "name", "tags", "OPTIN_TIME", "LEID,EUID", "unsubscribed_at",
        "ann@example.org", "Ann <ann@example.org>", "a@b", "@", ",", ";", "\t", "|", '"', '""', "\n", "\r", "\r\n",
        "\0", "\x1a", "ü", "\u200b", "\ufeff", "\ud7ff", "\U0001f426", "active", "inactive", "01/02/2023",
        "2023-01-05T10:11:12Z", "sep=;", "'=1", '["a","b"]', '{"a": 1}', "{" * 60, "[" * 2000, "=", "mailto:", "%40",
        " ", "\u00a0", "\u2028", "\x85", "x" * 300,
    ]
)  # fmt: skip
_TEXTS = st.lists(_PIECES, max_size=60).map("".join)
_CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\n\r"), max_size=12)
_WANTED = st.builds(
    Wanted,
    delimiter=st.sampled_from([None, "", *DELIMITERS]),
    encoding=st.sampled_from([None, *ENCODINGS]),
    header=st.sampled_from([None, True, False]),
    date_format=st.sampled_from([None, *DATE_FORMATS]),
    status=st.sampled_from([None, *Status]),
    mapping=st.none()
    | st.dictionaries(st.sampled_from(["email", "name", "status", "tags", "metadata"]), st.integers(0, 3)),
)


def check(opened, content, wanted=None):
    """Everything that is promised of every row."""
    try:
        upload = opened(content)
        reading = recogniser.recognise(upload, wanted)
    except Invalid:
        return []
    rows = list(row_reader.rows(upload, reading))
    assert [row.number for row in rows] == list(range(len(rows)))
    counter = proofs.ProofCounter()
    for row in rows:
        counter.add(row)
        assert (row.address is None) is (row.problem is not None)
        assert any(cell.strip() for cell in row.cells)
        assert audience.check_nickname(row.name) == row.name
        assert audience.check_tags(sorted(row.tags), audience.MOST_TAGS_IN_ALL) == row.tags
        if row.address:
            assert addresses.parse(row.typed) == row.address
    assert all(counter.is_weak(row) in (True, False) for row in rows)
    return rows


@same_examples
@given(st.binary(max_size=400))
def test_any_bytes(opened, content):
    check(opened, content)


@same_examples
@given(_TEXTS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"]), _WANTED)
def test_any_text_in_any_encoding_with_any_choice(opened, text, encoding, wanted):
    check(opened, text.encode(encoding, errors="replace"), wanted)


@same_examples
@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=30), max_size=10))
def test_every_line_with_something_in_it_is_a_row_of_a_list_of_lines(opened, lines):
    lines = ["ann@example.org", *lines]
    content = "\n".join(lines).encode()
    rows = check(opened, content, Wanted(delimiter="", header=False, encoding="utf-8"))
    universal = content.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert len(rows) == sum(1 for line in universal if line.strip())


@same_examples
@given(st.binary(max_size=300), st.integers(0, 5000), st.sampled_from(sorted(SAMPLES.rglob("*.*"))))
def test_a_sample_with_bytes_thrown_into_it(opened, noise, place, path):
    content = path.read_bytes()
    place %= len(content)
    check(opened, content[:place] + noise + content[place:])


@same_examples
@given(st.binary(max_size=300), st.integers(0, 5000))
def test_a_zip_with_bytes_thrown_into_it(opened, noise, place):
    content = zipped({"subscribed.csv": "email\nann@example.org\n" * 20, "cleaned.csv": "email\nben@example.org\n"})
    place %= len(content)
    check(opened, content[:place] + noise + content[place + len(noise) :])


@same_examples
@given(st.lists(st.lists(_CELLS, min_size=2, max_size=4), max_size=8), st.sampled_from(DELIMITERS))
def test_a_well_formed_file_has_as_many_rows_as_were_written(opened, table, delimiter):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    width = 4
    rows = [[f"r{n}@example.org", *(cells + [""] * width)[: width - 1]] for n, cells in enumerate(table)]
    writer.writerow(["email", "a", "b", "c"])
    writer.writerows(rows)
    read = check(opened, buffer.getvalue().encode(), Wanted(delimiter=delimiter, encoding="utf-8"))
    assert [row.typed for row in read] == [row[0] for row in rows]


@pytest.mark.parametrize("bom", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
@pytest.mark.parametrize("rest", [b"", b"\n", b"a", b"email\n", b"\xff", b"\0\0\0"])
def test_a_bom_with_anything_behind_it(opened, bom, rest):
    check(opened, bom + rest)

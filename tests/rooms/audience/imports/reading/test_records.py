"""Lines and quotes: a broken one costs its own row, and none of those around it."""

import time

import pytest

from chalicelib.audience.imports.reading import recogniser, records, row_reader
from chalicelib.audience.imports.reading.model import Status
from chalicelib.kernel.errors import Invalid

HEAD = "email,name,note\n"


def told(rows):
    return [(row.line, row.typed.partition("@")[0] if row.address else row.problem) for row in rows]


def test_a_quote_that_never_closes_costs_one_row(opened):
    rows = opened.rows(HEAD + 'ann@example.org,"Ann,x\n' + "".join(f"r{n}@example.org,R,\n" for n in range(500)))
    assert told(rows)[:2] == [(2, records.BROKEN_QUOTES), (3, "r0")]
    assert len(rows) == 501
    assert all(row.address for row in rows[1:])


def test_a_quote_that_seems_to_close_in_the_next_row_costs_one_row(opened):
    rows = opened.rows(HEAD + 'ann@example.org,"Ann,x\nben@example.org,"Ben",y\ncem@example.org,Cem,"z"\n')
    assert told(rows) == [(2, records.BROKEN_QUOTES), (3, "ben"), (4, "cem")]


def test_an_unclosed_quote_in_the_last_row_is_told(opened):
    assert told(opened.rows(HEAD + 'ann@example.org,Ann,\nben@example.org,"Ben')) == [
        (2, "ann"),
        (3, records.BROKEN_QUOTES),
    ]


def test_a_cell_may_have_many_lines_and_lines_are_counted_as_they_stand(opened):
    note = "\n".join(f"line {n}, with a comma and a quote" for n in range(50))
    rows = opened.rows(f'{HEAD}\nann@example.org,Ann,"{note}"\n\n\nben@example.org,Ben,\n')
    assert told(rows) == [(3, "ann"), (55, "ben")]


def test_quotes_within_a_cell_without_quotes_are_text(opened):
    (row,) = opened.rows(HEAD + 'ann@example.org,Ann "the wren" Lee,5" nails\n')
    assert row.name == 'Ann "the wren" Lee'
    assert row.cells[2] == '5" nails'


def test_spaces_beside_quotes_are_taken_for_what_they_are(opened):
    rows = opened.rows(
        HEAD + 'ann@example.org, "Lee, Ann", "x"\nben@example.org ,"Ben" ,"y"\n"cem@example.org" ,"Cem" , "z"\n'
    )
    assert [(row.typed, row.name) for row in rows] == [
        ("ann@example.org", "Lee, Ann"),
        ("ben@example.org", "Ben"),
        ("cem@example.org", "Cem"),
    ]


def test_a_header_that_stands_again_between_joined_files_is_no_row(opened):
    rows = opened.rows(HEAD + "ann@example.org,Ann,\n" + HEAD + "ben@example.org,Ben,\nemail,name,other\n")
    assert told(rows) == [(2, "ann"), (4, "ben"), (5, "The email address has no @")]


def test_doubled_quotes_are_one(opened):
    (row,) = opened.rows(HEAD + 'ann@example.org,"Ann ""the"" Lee",""\n')
    assert row.name == 'Ann "the" Lee'


def test_empty_lines_and_rows_of_delimiters_are_no_rows(opened):
    rows = opened.rows(HEAD + '\n   \n,,\n"","",""\n \t,, \nann@example.org,,\n')
    assert told(rows) == [(7, "ann")]


def test_a_row_without_an_address_is_a_row(opened):
    assert told(opened.rows(HEAD + ",Ann,\n")) == [(2, "No email address")]


def test_more_cells_than_the_header_are_refused_unless_they_are_empty(opened):
    rows = opened.rows(HEAD + "ann@example.org,Lee, Ann,x\nben@example.org,Ben,x,,,\n")
    assert told(rows) == [(2, "The row has more cells than the header"), (3, "ben")]


def test_fewer_cells_than_the_header_are_taken_unless_a_status_may_be_missing(opened):
    assert told(opened.rows(HEAD + "ann@example.org\n")) == [(2, "ann")]
    rows = opened.rows("email,name,status\nann@example.org,Ann\nben@example.org,Ben,\n")
    assert told(rows) == [(2, "The row has fewer cells than the header"), (3, "ben")]


def test_the_status_of_a_misshapen_row_is_looked_for_in_every_cell_and_otherwise_not_known(opened):
    """What says that somebody has left may have moved into the next cell."""
    rows = opened.rows("email,name,status\nann@example.org,Lee, Ann,unsubscribed\nben@example.org,Ben\n")
    assert [row.status for row in rows] == [Status.LEFT, Status.UNCONFIRMED]
    (row,) = opened.rows("email,status,note\nann@example.org,unsubscribed,a,b\n")
    assert row.status is Status.LEFT


def test_a_line_of_ten_megabytes_is_one_row_with_a_problem(opened):
    rows = opened.rows(HEAD.encode() + b"x" * 10_000_000 + b"@example.org,Ann,\nben@example.org,Ben,\n")
    assert told(rows) == [(2, records.TOO_LONG), (3, "ben")]
    assert len(rows[0].cells[0]) < 1000


def test_a_line_of_ten_megabytes_within_quotes_costs_only_itself(opened):
    rows = opened.rows(HEAD + 'ann@example.org,"Ann,\n' + "x" * 10_000_000 + "\nben@example.org,Ben,\n")
    assert told(rows) == [(2, records.BROKEN_QUOTES), (3, records.TOO_LONG), (4, "ben")]


def test_a_file_that_is_one_endless_line_is_read_or_refused(opened):
    assert [row.problem for row in opened.rows(b"ann@example.org" * 500_000)] == [records.TOO_LONG]
    assert [row.problem for row in opened.rows(b"ann@example.org," * 500_000)] == [records.TOO_LONG]
    with pytest.raises(Invalid, match="more than 500 columns"):
        opened.rows(b"ann@example.org,Ann," * 500_000)


def test_nul_bytes_spoil_an_address_and_nothing_else(opened):
    rows = opened.rows(HEAD + "ann\0@example.org,Ann,\nben@example.org,B\0en,\ncem@example.org,Cem,\n")
    assert told(rows) == [(2, "The email address contains a control character"), (3, "ben"), (4, "cem")]
    assert rows[1].name == "B en"


def test_line_ends_of_all_kinds_in_one_file(opened):
    rows = opened.rows("email,name\rann@example.org,Ann\r\nben@example.org,Ben\n\rcem@example.org,Cem")
    assert told(rows) == [(2, "ann"), (3, "ben"), (5, "cem")]


def test_a_file_full_of_open_quotes_is_read_in_time(opened):
    """Looking ahead for the end of each would take hundreds of times as long."""
    started = time.process_time()
    rows = opened.rows(HEAD + 'ann@example.org,"Ann\n' * 50_000)
    assert len(rows) == 50_000
    assert time.process_time() - started < 20


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_every_delimiter_is_recognised(opened, delimiter):
    content = "email,name,status\nann@example.org,Lee; Ann,active\nben@example.org,Ben,active\n".replace(
        ",", delimiter
    )
    quoted = content.replace("Lee; Ann", '"Lee; Ann"')
    reading = opened.reading(quoted)
    assert reading.delimiter == delimiter
    assert [row.name for row in opened.rows(quoted)] == ["Lee; Ann", "Ben"]


def test_excels_hint_is_no_row(opened):
    content = "sep=;\nemail;name\nann@example.org;Lee, Ann\n"
    assert opened.reading(content).delimiter == ";"
    assert [(row.line, row.name) for row in opened.rows(content)] == [(3, "Lee, Ann")]


def test_rows_go_on_after_those_that_were_done(opened):
    upload = opened.zip({"b.csv": "email\nann@example.org\nben@example.org\n", "a.csv": "email\ncem@example.org\n"})
    reading = recogniser.recognise(upload)
    rows = list(row_reader.rows(upload, reading))
    assert [(row.number, row.file, row.line) for row in rows] == [(0, "a.csv", 2), (1, "b.csv", 2), (2, "b.csv", 3)]
    for done in range(5):
        assert list(row_reader.rows(upload, reading, skip=done)) == rows[done:]

"""Rows as they come out, and that whatever is in a file becomes a row and nothing else."""

import pytest

from chalicelib.audience.imports.reading.model import Status


def test_a_plain_file_is_read_as_it_looks(opened):
    content = "email,name,status\nann@example.org,Ann Lee,active\nben@example.org,,unsubscribed\n"
    reading = opened.reading(content)
    assert (reading.format, reading.delimiter, reading.encoding, reading.header) == ("generic", ",", "utf-8", True)
    assert reading.columns == ("email", "name", "status")
    assert reading.mapping == {"email": 0, "name": 1, "status": 2}
    ann, ben = opened.rows(content)
    assert (ann.number, ann.file, ann.line, ann.name) == (0, "", 2, "Ann Lee")
    assert ann.address.key == "ann@example.org"
    assert (ann.status, ben.status, ben.name) == (Status.MAILABLE, Status.LEFT, None)
    assert not ann.problem
    assert not ann.repaired


def test_a_row_with_a_bad_address_keeps_the_rest_so_that_it_can_be_corrected(opened):
    (row,) = opened.rows("email,name,tags,created_at\nann@example,Ann,vip,2023-01-05\n")
    assert (row.address, row.name, row.tags, row.joined_at.year) == (None, "Ann", {"vip"}, 2023)


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("  Ann  Lee ", "Ann Lee"),
        ("x" * 80, "x" * 50),
        ("Ann\u2028Lee", "Ann Lee"),
        ("\u0007", None),
        ("A\u030angstro\u0308m", "Ångström"),
        ("ann@example.org", None),
        ("x" * 49 + " y", "x" * 49),
    ],
)
def test_a_name_is_made_to_fit_and_never_stops_a_row(opened, cell, name):
    (row,) = opened.rows(f'email,name\nann@example.org,"{cell}"\n')
    assert (row.name, row.problem) == (name, None)


def test_a_name_that_had_to_be_shortened_is_told(opened):
    assert opened.rows(f"email,name\nann@example.org,{'x' * 80}\n")[0].dropped == ("name",)


def test_first_and_last_name_are_one(opened):
    rows = opened.rows("email,first name,last name\na@example.org,Ann,Lee\nb@example.org,,Lee\nc@example.org,Cem,\n")
    assert [row.name for row in rows] == ["Ann Lee", "Lee", "Cem"]


@pytest.mark.parametrize(
    ("cell", "tags"),
    [
        ('"a, B,  c"', {"a", "b", "c"}),
        ('"a;b"', {"a", "b"}),
        ('"""VIP"",""Blog, daily"""', {"vip", "blog, daily"}),
        ('"[""x"", ""y,z"", 7]"', {"x", "y,z"}),
        ('",, ,"', set()),
        ("a", {"a"}),
        ('"a, A, a"', {"a"}),
    ],
)
def test_tags_are_read_in_every_form(opened, cell, tags):
    assert opened.rows(f"email,tags\nann@example.org,{cell}\n")[0].tags == tags


def test_tags_that_do_not_fit_are_left_out_and_told(opened):
    (row,) = opened.rows(f'email,tags\nann@example.org,"ok,{"x" * 65}"\n')
    assert (row.tags, row.dropped) == ({"ok"}, ("tags",))
    many = ",".join(map(str, range(300)))
    (row,) = opened.rows(f'email,tags\nann@example.org,"{many}"\n')
    assert (len(row.tags), row.dropped) == (200, ("tags",))


@pytest.mark.parametrize(
    "cell", ["[[" * 5000, '{""a"": NaN}', '{""a"": ""\\ud800""}', "7", "nonsense", '{""x"": ' * 20]
)
def test_metadata_that_cannot_be_kept_is_left_out(opened, cell):
    content = f'uuid,email,attributes,status\n1,ann@example.org,"{cell}",enabled\n'
    (row,) = opened.rows(content)
    assert (row.problem, row.metadata, row.dropped) == (None, None, ("metadata",))

"""Rows as they come out, and that whatever is in a file becomes a row and nothing else."""

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

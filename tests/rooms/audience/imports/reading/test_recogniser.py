"""What is guessed, and that each guess can be replaced."""

import time

import pytest

from chalicelib.audience.imports.reading import recogniser
from chalicelib.audience.imports.reading.model import FIELDS, Status, Wanted
from chalicelib.kernel.errors import Invalid
from tests.rooms.audience.imports.reading.reading import SAMPLES, read

LIST = "email,name\nann@example.org,Ann\n"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"delimiter": ":"}, "delimiter must be"),
        ({"encoding": "latin-9"}, "encoding must be one of utf-8, utf-16, windows-1252"),
        ({"date_format": "YYYY/DD/MM"}, "date_format must be one of"),
        ({"mapping": {"email": 0, "shoe_size": 1}}, "mapping may contain only"),
        ({"mapping": {"email": 2}}, "email must be the number of a column"),
        ({"mapping": {"email": -1}}, "email must be the number of a column"),
        ({"mapping": {"email": True}}, "email must be the number of a column"),
        ({"mapping": {"email": 0, "name": "1"}}, "name must be the number of a column"),
        ({"mapping": {"name": 0}}, "which column has the email address"),
        ({"mapping": {"email": None}}, "which column has the email address"),
        ({"mapping": {}}, "which column has the email address"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(opened, wanted, reason):
    with pytest.raises(Invalid, match=reason):
        opened.reading(LIST, **wanted)


def test_the_delimiter_can_be_chosen(opened):
    content = "email;name,x\nann@example.org;Ann,y\n"
    assert opened.reading(content, delimiter=",").columns == ("email;name", "x")
    assert opened.reading(content, delimiter=";").columns == ("email", "name,x")
    assert opened.reading(content, delimiter="", header=True).columns == ("email;name,x",)


def test_a_bom_is_not_part_of_the_first_name(opened):
    reading = opened.reading(b"\xef\xbb\xbf" + LIST.encode())
    assert (reading.columns, reading.encoding) == (("email", "name"), "utf-8")


def test_windows_1252_is_recognised_and_can_be_chosen(opened):
    content = "email,name\nann@example.org,Zoë €Wren™ Müller\n"
    assert opened.reading(content.encode("cp1252")).encoding == "windows-1252"
    assert opened.rows(content.encode("cp1252"))[0].name == "Zoë €Wren™ Müller"
    assert opened.rows(content.encode(), encoding="windows-1252")[0].name.startswith("ZoÃ«")


def test_one_broken_byte_does_not_spoil_every_other_name(opened):
    names = ["Zoë", "Jürg", "Šárka"] * 50
    content = "email,name\n" + "".join(f"r{n}@example.org,{name}\n" for n, name in enumerate(names))
    rows = opened.rows(content.encode() + b"last@example.org,J\xfcrg\nl\xe4st@example.org,x\n")
    assert [row.name for row in rows[:3]] == ["Zoë", "Jürg", "Šárka"]
    assert rows[-2].name is None
    assert rows[-2].address
    assert rows[-2].dropped == ("name",)
    assert rows[-1].problem == "The email address contains a character that cannot be read in this encoding"


def test_an_encoding_far_into_the_file_is_seen(opened):
    content = "email,name\n" + "".join(f"r{n}@example.org,Ann\n" for n in range(10_000))
    assert opened.reading(content.encode() + "z@example.org,Zoë\n".encode("cp1252")).encoding == "windows-1252"
    assert opened.rows(content.encode() + "z@example.org,Zoë\n".encode())[-1].name == "Zoë"


def test_a_wrong_encoding_chosen_by_hand_is_bounded(opened):
    assert all(row.problem for row in opened.rows(LIST, encoding="utf-16"))
    assert opened.rows(LIST.encode("utf-16-le"), encoding="utf-8")[0].problem


def test_a_header_is_found_whatever_its_case_order_and_unknown_columns(opened):
    content = "X,STATUS,y,First_Name,z,E-MAIL\na,Inactive,b,Ann,c,ann@example.org\n"
    assert opened.reading(content).mapping == {"email": 5, "status": 1, "first_name": 3}
    (row,) = opened.rows(content)
    assert (row.name, row.status) == ("Ann", Status.UNCONFIRMED)


@pytest.mark.parametrize(
    "name",
    [
        "Email", "email", "Email Address", "Deine E-Mail Adresse", "E-Mail-Adresse", "Adresse e-mail", "Courriel",
        "Correo electrónico", "Indirizzo e-mail", "E-mailadres", "Endereço de e-mail", "SUBSCRIBER EMAIL",
        "EmailAddress",
    ],
)  # fmt: skip
def test_address_columns_are_known_in_other_languages(opened, name):
    assert opened.reading(f"id;{name};x\n1;nonsense;y\n").mapping["email"] == 1


def test_an_unknown_address_column_is_found_by_what_it_holds(opened):
    content = "Kto?,Gdzie?\nAnn,ann@example.org\nBen,ben@example.org\n"
    reading = opened.reading(content)
    assert (reading.header, reading.mapping) == (True, {"email": 1})


def test_a_column_with_the_right_name_and_nothing_in_it_yields_to_the_other(opened):
    content = "email,name,email\n,Ann,ann@example.org\n,Ben,ben@example.org\n"
    reading = opened.reading(content)
    assert reading.columns == ("email", "name", "email")
    assert reading.mapping["email"] == 2


def test_a_header_alone_has_no_rows_and_is_not_counted_as_invalid(opened):
    assert opened.reading("email,name\n").header
    assert opened.rows("email,name\n") == []
    assert opened.rows("email") == []


def test_files_without_a_header_are_recognised(opened):
    content = '"Ann","ann@example.org","active"\n"Ben","ben@example.org","unsubscribed"\n'
    reading = opened.reading(content)
    assert (reading.header, reading.columns) == (False, ("Column 1", "Column 2", "Column 3"))
    assert reading.mapping == {"email": 1, "status": 2, "name": 0}
    assert [row.status for row in opened.rows(content)] == [Status.MAILABLE, Status.LEFT]


def test_the_header_can_be_chosen(opened):
    content = "ann@example.org,Ann\nben@example.org,Ben\n"
    assert len(opened.rows(content)) == 2
    assert len(opened.rows(content, header=True)) == 1
    assert [row.problem for row in opened.rows(LIST, header=False)] == ["The email address has no @", None]


def test_a_mistyped_first_line_of_pasted_addresses_is_a_row(opened):
    rows = opened.rows("ann at example.org\nben@example.org\n")
    assert [(row.line, row.address is None) for row in rows] == [(1, True), (2, False)]
    assert len(opened.rows("E-Mail\nben@example.org\n")) == 1


def test_a_comma_behind_every_address_is_a_column(opened):
    assert all(row.address for row in opened.rows("ann@example.org,\nben@example.org,\n"))


def test_a_trailing_comma_in_a_file_of_one_column_is_a_mistake(opened):
    rows = opened.rows("email\nann@example.org,\nben@example.org\n")
    assert [row.problem for row in rows] == ["The email address ends with a comma or semicolon", None]


def test_a_mapping_replaces_the_guess(opened):
    content = "email,name,other\nann@example.org,Ann,ben@example.org\n"
    (row,) = opened.rows(content, mapping={"email": 2})
    assert (row.typed, row.name) == ("ben@example.org", None)


def test_a_mapping_cannot_forget_by_accident_who_has_left(opened):
    content = "email,status,unsubscribed_at,x\nann@example.org,active,2023-01-01,y\n"
    (kept,) = opened.rows(content, mapping={"email": 0})
    assert kept.status is Status.LEFT
    (chosen,) = opened.rows(content, mapping={"email": 0, "left_at": None, "status": 1})
    assert chosen.status is Status.MAILABLE
    (other,) = opened.rows(content, mapping={"email": 0, "tags": 2})
    assert other.status is Status.MAILABLE


def test_a_mapping_is_for_every_file_of_a_zip_by_name(opened):
    upload = opened.zip(
        {
            "subscribed.csv": "Email Address,Town,Rank,LEID,EUID\nann@example.org,Bern,1,1,a\n",
            "unsubscribed.csv": "Town,Email Address,UNSUB_TIME,LEID,EUID\nBasel,ben@example.org,2023-01-01,1,a\n",
        }
    )
    reading = recogniser.recognise(upload, Wanted(mapping={"email": 0, "name": 1, "tags": 2}))
    assert reading.mapping == {"email": 0, "name": 1, "tags": 2}
    ben, ann = read(upload, mapping={"email": 0, "name": 1, "tags": 2})
    assert (ann.name, ann.tags, ben.name, ben.status) == ("Bern", {"1"}, "Basel", Status.LEFT)


def shown(reading):
    """What a page sends back that shows one field for each column: every other field is refused."""
    by_column = {column: field for field, column in reading.mapping.items()}
    return dict.fromkeys(FIELDS) | {field: column for column, field in by_column.items()}


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.*")), ids=lambda path: path.stem)
def test_sending_back_what_was_shown_lets_nobody_in(opened, path):
    upload = opened(path.read_bytes(), name=path.name)
    mapping = shown(recogniser.recognise(upload))
    before, after = read(upload), read(upload, mapping=mapping)
    assert [(row.typed, row.status, row.problem) for row in after] == [
        (row.typed, row.status, row.problem) for row in before
    ]


def test_sending_back_what_was_shown_of_a_zip_lets_nobody_in(opened):
    upload = opened.zip({path.name: path.read_bytes() for path in (SAMPLES / "mailchimp").iterdir()})
    before, after = read(upload), read(upload, mapping=shown(recogniser.recognise(upload)))
    assert [(row.typed, row.status) for row in after] == [(row.typed, row.status) for row in before]
    assert Status.COMPLAINED in {row.status for row in after}


def test_refusing_a_column_refuses_the_one_of_that_name_in_other_files_and_no_other(opened):
    upload = opened.zip(
        {
            "a.csv": "email,status\nann@example.org,shipped\n",
            "b.csv": "status,email,unsubscribed_at\nshipped,ben@example.org,\nshipped,cem@example.org,2023-01-01\n",
            "c.csv": "email,subscriber status\ndora@example.org,unsubscribed\n",
        }
    )
    rows = read(upload, mapping=dict.fromkeys(FIELDS) | {"email": 0})
    assert {row.typed.partition("@")[0]: row.status.name for row in rows} == {
        "ann": "MAILABLE", "ben": "MAILABLE", "cem": "LEFT", "dora": "LEFT"
    }  # fmt: skip


def test_choices_for_the_main_file_do_not_break_another_kind_of_file(opened):
    upload = opened.zip(
        {
            "people.csv": "email,name\nann@example.org,Zoë\nben@example.org,Ben\n",
            "unsubscribed.csv": "E-Mail;Stadt\nann@example.org;Zürich\n".encode("cp1252"),
            "bounced.txt": "ben@example.org\n",
        }
    )
    rows = read(upload, delimiter=",", encoding="utf-8", header=True, mapping=dict.fromkeys(FIELDS) | {"email": 0})
    assert [(row.file, row.typed, row.status.name) for row in rows] == [
        ("unsubscribed.csv", "ann@example.org", "LEFT"),
        ("bounced.txt", "ben@example.org", "BOUNCED"),
        ("people.csv", "ann@example.org", "MAILABLE"),
        ("people.csv", "ben@example.org", "MAILABLE"),
    ]


def test_a_whole_upload_can_be_read_as_bounces_or_complaints(opened):
    content = "ann@example.org\nben@example.org\n"
    assert {row.status for row in opened.rows(content, status=Status.BOUNCED)} == {Status.BOUNCED}
    assert {row.status for row in opened.rows(content, status=Status.COMPLAINED)} == {Status.COMPLAINED}
    (row,) = opened.rows("email,status\nann@example.org,unsubscribed\n", status=Status.BOUNCED)
    assert row.status is Status.LEFT


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("cleaned_segment_export_1.csv", Status.BOUNCED),
        ("unsubscribed_segment_export_1.csv", Status.LEFT),
        ("nonsubscribed_members.csv", Status.UNCONFIRMED),
        ("birds-unconfirmed.csv", Status.UNCONFIRMED),
        ("birds-marked-as-spam.csv", Status.COMPLAINED),
        ("birds-unsubscribed.csv", Status.LEFT),
        ("birds-active.csv", Status.MAILABLE),
        ("subscribed_segment_export_1.csv", Status.MAILABLE),
        ("birds-all.csv", Status.MAILABLE),
        ("inactivespam.csv", Status.MAILABLE),
    ],
)
def test_a_file_name_tells_the_status(opened, name, status):
    assert opened.rows("ann@example.org\n", name=name)[0].status is status


def test_mailchimps_cleaned_file_is_known_without_its_name(opened):
    content = "Email Address,LEID,EUID,CLEAN_TIME\nann@example.org,1,a,\n"
    assert opened.rows(content)[0].status is Status.BOUNCED


@pytest.mark.parametrize(
    ("dates", "format", "months"),
    [
        (["03/04/2023", "13/04/2023"], "DD/MM/YYYY", [4, 4]),
        (["03/04/2023", "04/13/2023"], "MM/DD/YYYY", [3, 4]),
        (["03/04/2023", "04/03/2023"], "MM/DD/YYYY", [3, 4]),
        (["03-04-2023", "04-03-2023"], "DD/MM/YYYY", [4, 3]),
        (["3.4.2023", "4.3.2023"], "DD/MM/YYYY", [4, 3]),
        (["2023-03-04", "2023-04-03"], None, [3, 4]),
        (["03/04/2023", "13/04/2023", "04/13/2023"], "DD/MM/YYYY", [4, 4, 4]),
    ],
)
def test_whether_the_day_or_the_month_comes_first_is_decided_over_the_file(opened, dates, format, months):
    content = "email,date\n" + "".join(f"r{n}@example.org,{date}\n" for n, date in enumerate(dates))
    assert opened.reading(content).date_format == format
    assert [row.joined_at.month for row in opened.rows(content)] == months


def test_the_order_of_dates_is_decided_by_a_row_far_below(opened):
    content = "email,date\n" + "r@example.org,03/04/2023\n" * 5000 + "z@example.org,31/12/2022\n"
    assert opened.reading(content).date_format == "DD/MM/YYYY"


def test_the_order_of_dates_can_be_chosen(opened):
    content = "email,date\nann@example.org,03/04/2023\n"
    assert opened.rows(content, date_format="DD/MM/YYYY")[0].joined_at.month == 4
    assert opened.rows(content, date_format="MM/DD/YYYY")[0].joined_at.month == 3


def test_very_many_columns_are_refused(opened):
    with pytest.raises(Invalid, match="more than 500 columns"):
        opened.reading(",".join(["email", *map(str, range(500))]) + "\n")


def test_a_file_without_addresses_reads_as_rows_with_a_reason(opened):
    rows = opened.rows("town,rank\nBern,1\nBasel,2\n")
    assert {row.problem for row in rows} == {"No column is chosen for the email address"}


def test_a_state_is_a_status_only_if_it_reads_like_one(opened):
    assert "status" not in opened.reading("email,state\nann@example.org,Ohio\n").mapping
    assert opened.reading("email,state\nann@example.org,Bounced\n").mapping["status"] == 1


def test_every_field_is_explained_in_the_documentation():
    page = (SAMPLES.parents[2] / "docs" / "importing.md").read_text()
    assert not [field for field in FIELDS if f"`{field}`" not in page]


def test_the_recipients_of_an_email_are_one_row_each(opened):
    content = "Ann Lee <ann@example.org>, ben@example.org,  <cem@example.org>,\n"
    rows = opened.rows(content)
    assert [(row.number, row.line, row.typed, row.name) for row in rows] == [
        (0, 1, "ann@example.org", "Ann Lee"),
        (1, 1, "ben@example.org", None),
        (2, 1, "cem@example.org", None),
    ]
    reading = opened.reading(content)
    assert (reading.format, reading.delimiter, reading.columns) == ("lines", ",", ("Column 1",))
    again = opened.rows(content, delimiter=",", header=False, mapping={"email": 0})
    assert again == rows
    assert len(opened.rows("ann@example.org;ben@example.org")) == 2


def test_two_columns_of_addresses_are_not_recipients(opened):
    rows = opened.rows("ann@example.org,referrer@example.org\nben@example.org,referrer@example.org\n")
    assert [row.typed for row in rows] == ["ann@example.org", "ben@example.org"]
    assert [row.typed for row in opened.rows("ann@example.org,Ann,ben@example.org\n")] == ["ann@example.org"]


def test_a_title_above_the_header_is_no_row(opened):
    content = "Subscribers of The Birds,,\n,,\n\nName,E-Mail,Status\nAnn,ann@example.org,unsubscribed\n"
    assert opened.reading(content).columns == ("Name", "E-Mail", "Status")
    (row,) = opened.rows(content)
    assert (row.line, row.name, row.status) == (5, "Ann", Status.LEFT)
    assert len(opened.rows(content, header=False)) == 3


def test_patterns_take_no_time_with_long_cells(opened):
    started = time.process_time()
    for line in ("<" + "@" * 200_000, "a@" + "." * 200_000 + "<", "a" * 200_000 + "1", "'" * 200_000, "' " * 90_000):
        opened.rows(line)
        opened.rows(f"email,name\n{line},{line}\n")
        opened.rows(f"{line},ann@example.org\n", header=False, delimiter=",")
    assert time.process_time() - started < 20

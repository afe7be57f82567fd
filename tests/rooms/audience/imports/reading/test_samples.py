"""An invented export of every service, with the rows that importers stumble over."""

import pytest

from chalicelib.audience.imports.reading import recogniser
from chalicelib.audience.imports.reading.model import Status
from tests.rooms.audience.imports.reading.reading import SAMPLES, read

M, U, B, L, C = Status.MAILABLE, Status.UNCONFIRMED, Status.BOUNCED, Status.LEFT, Status.COMPLAINED
INVALID = None


def sample(opened, name):
    path = SAMPLES / name
    return opened(path.read_bytes(), name=path.name)


# Of each sample: its format, its delimiter, and what its rows come to, in order.
EXPECTED = {
    "mailchimp/subscribed_segment_export_1a2b3c.csv": ("mailchimp", ",", [M, M, M, M, M, INVALID]),
    "mailchimp/unsubscribed_segment_export_1a2b3c.csv": ("mailchimp", ",", [L, C, L]),
    "mailchimp/cleaned_segment_export_1a2b3c.csv": ("mailchimp", ",", [B]),
    "mailchimp/nonsubscribed_segment_export_1a2b3c.csv": ("mailchimp", ",", [U]),
    "mailchimp_german.csv": ("mailchimp", ",", [INVALID, M, M]),
    "substack_email_list.csv": ("substack", ",", [M, M, L, M, INVALID]),
    "substack_older.csv": ("substack", ",", [M, L]),
    "substack_dashboard.csv": ("substack", ",", [M, M]),
    "substack_subscribers.csv": ("substack", ",", [M, M]),
    "ghost.csv": ("ghost", ",", [M, L, M, L, U]),
    "ghost_older.csv": ("ghost", ",", [M, L]),
    "buttondown.csv": ("buttondown", ",", [M, U, M, L, B, C, U, M, U, L]),
    "kit.csv": ("kit", ",", [M, U, L, B, C, M]),
    "kit_words.csv": ("kit", ",", [M, U, U]),
    "beehiiv.csv": ("beehiiv", ",", [M, L, L, U, U, B]),
    "mailerlite.csv": ("mailerlite", ",", [M, M, L]),
    "mailerlite_api.csv": ("mailerlite", ",", [M, C, U, B]),
    "brevo.csv": ("brevo", ";", [M, INVALID, L, M]),
    "brevo_minimal.csv": ("brevo", ";", [M, INVALID]),
    "listmonk.csv": ("listmonk", ",", [M, U, L, M]),
    "keila.csv": ("keila", ",", [M, L, B, U]),
    "sendy/birds-active.csv": ("sendy", ",", [M, M, M, M, INVALID, M]),
    "sendy/birds-bounced.csv": ("sendy", ",", [B, B]),
    "sendy/birds-marked-as-spam.csv": ("sendy", ",", [C]),
    "curated.csv": ("curated", ",", [M, M]),
    "campaign_monitor.csv": ("generic", ",", [M, L, L, U]),
    "pasted.txt": ("lines", "", [M, M, M, M, M, M, INVALID, INVALID, INVALID, INVALID, M, M]),
    "generic.csv": ("generic", ";", [M, L, M, INVALID, INVALID, INVALID]),
}


def test_every_sample_is_tried():
    assert {str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*.*")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_is_recognised_and_read(opened, name):
    format, delimiter, expected = EXPECTED[name]
    upload = sample(opened, name)
    reading = recogniser.recognise(upload)
    assert (reading.format, reading.delimiter) == (format, delimiter)
    rows = read(upload)
    assert [row.status if row.address else INVALID for row in rows] == expected
    assert all((row.problem is None) is (row.address is not None) for row in rows)
    assert [row.number for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_sample_reads_the_same_in_every_encoding(opened, name, encoding):
    path = SAMPLES / name
    text = path.read_bytes().decode("utf-8-sig")
    plain = read(opened(text, name=path.name))
    other = read(opened(text.encode(encoding), name=path.name))
    assert other == plain


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_a_sample_reads_the_same_with_every_line_end(opened, name, end):
    path = SAMPLES / name
    text = path.read_bytes().decode().replace("\r\n", "\n")
    plain = read(opened(text, name=path.name))
    other = read(opened(text.replace("\n", end), name=path.name))
    assert [(row.typed, row.status, row.line) for row in other] == [
        (row.typed, row.status, row.line) for row in plain
    ]


def by_local_part(rows):
    return {row.typed.partition("@")[0]: row for row in rows}


def test_mailchimps_zip_is_read_whole_and_the_file_is_the_status(opened):
    folder = SAMPLES / "mailchimp"
    upload = opened.zip({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    reading = recogniser.recognise(upload)
    assert [sheet.file.partition("_")[0] for sheet in reading.sheets] == [
        "unsubscribed", "cleaned", "nonsubscribed", "subscribed"
    ]  # fmt: skip
    assert reading.main.file.startswith("subscribed")
    assert reading.mapping["tags"] == 20
    rows = read(upload)
    assert [row.number for row in rows] == list(range(11))
    # Who stands in two files is first met where the more restrictive status is.
    dora = [row for row in rows if row.typed == "left.since@example.org"]
    assert [row.status for row in dora] == [L, M]
    assert by_local_part(rows)["eve"].status is C


def test_mailchimps_tags_dates_and_proof_are_read(opened):
    rows = by_local_part(read(sample(opened, "mailchimp/subscribed_segment_export_1a2b3c.csv")))
    assert rows["ann"].tags == {"vip", "blog, daily"}
    assert rows["ann"].name == "Ann Lee"
    assert rows["ann"].proof == {"optin_at": "2021-03-04T10:11:12.000Z", "confirmed_at": "2021-03-04T10:13:20.000Z"}
    assert rows["ann"].ips == {"optin_ip": "198.51.100.7", "confirm_ip": "198.51.100.7"}
    assert rows["ann"].joined_at.isoformat() == "2021-03-04T10:11:12+00:00"
    # Imported there by an administrator: confirmed, without ever having asked.
    assert rows["ben"].optin_at is None
    assert rows["ben"].joined_at is not None
    assert rows["ben"].name == 'Ben O"Hara, Jr.'
    assert rows["cem"].line == 5


def test_one_person_in_punycode_and_in_letters_has_one_key(opened):
    _, letters, punycode = read(sample(opened, "mailchimp_german.csv"))
    assert letters.address.key == punycode.address.key
    assert letters.name == "Jörg Groß"


def test_what_is_about_payment_says_nothing_about_mail(opened):
    rows = by_local_part(read(sample(opened, "substack_email_list.csv")))
    assert rows["ann"].status is M  # no active subscription: they do not pay
    assert rows["gift"].proof == {"joined_at": "not a date"}
    assert rows["gift"].joined_at is None


def test_ghosts_escapes_are_undone_and_its_labels_are_tags(opened):
    ann, ben, plus, _, eve = read(sample(opened, "ghost.csv"))
    assert ann.tags == {"vip", "blog"}
    assert (ben.name, plus.name, eve.name) == ("=Ben", "@cem", "O'Neil")
    assert plus.typed == "+plus@example.org"
    assert not plus.repaired
    assert plus.cells[1] == "'+plus@example.org"
    assert plus.line == 5  # the note before it has two lines


def test_buttondowns_metadata_and_origin_are_kept(opened):
    rows = by_local_part(read(sample(opened, "buttondown.csv")))
    assert rows["ann"].metadata == {"city": "Bern"}
    assert rows["ann"].tags == {"vip", "blog"}
    assert rows["ann"].ips == {"optin_ip": "198.51.100.7"}
    assert rows["import"].proof["origin"] == "import"
    assert rows["import"].metadata is None
    assert rows["import"].dropped == ("metadata",)


def test_mailerlites_pair_is_the_confirmation(opened):
    ann, *_ = read(sample(opened, "mailerlite_api.csv"))
    assert ann.optin_at.minute == 11
    assert ann.confirmed_at.minute == 15
    first, second, _ = read(sample(opened, "mailerlite.csv"))
    assert first.tags == second.tags == {"vip", "blog"}
    assert (first.name, first.joined_at.year) == ("Ann Lee", 2023)


def test_brevos_dates_begin_with_the_day(opened):
    upload = sample(opened, "brevo.csv")
    assert recogniser.recognise(upload).date_format == "DD/MM/YYYY"
    ann, nobody, _, cem = read(upload)
    assert (ann.joined_at.month, ann.joined_at.day) == (1, 5)
    assert nobody.problem == "No email address"
    assert cem.name == "Cem Öztürk; Dr."


def test_sendys_quotes_are_not_doubled_and_cost_at_most_their_own_row(opened):
    rows = read(sample(opened, "sendy/birds-active.csv"))
    assert [row.name for row in rows] == ["Ann Lee", 'Ben "the wren" Smith', None, 'Dora, "Dr." Meier', None, "Finn"]
    assert rows[4].problem == "The quotes in this line do not match"
    assert [row.line for row in rows] == [1, 2, 3, 4, 5, 6]


def test_what_is_repaired_in_pasted_lines_is_told_and_the_rest_has_a_reason(opened):
    rows = read(sample(opened, "pasted.txt"))
    assert [row.typed.partition("@")[0] for row in rows if row.repaired] == [
        "ben",
        "cem",
        "dora",
        "eve",
        "finn",
        "gil",
    ]
    assert [row.name for row in rows if row.name] == ["Cem Öz", "Meier, Dora"]
    assert [row.problem for row in rows if row.problem] == [
        "The email address ends with a comma or semicolon",
        "The email address contains an invisible character",
        "The email address contains a space",
        "The email address has no @",
    ]
    assert rows[0].address.key == rows[-1].address.key


def test_unknown_columns_in_between_shift_nothing(opened):
    upload = sample(opened, "generic.csv")
    reading = recogniser.recognise(upload)
    assert reading.mapping == {"email": 2, "name": 4, "joined_at": 5, "status": 6}
    ann, ben, cem, *_ = read(upload)
    assert (ann.name, ann.joined_at.month) == ("Ann Lee", 12)
    assert ben.status is L  # from the second column of that name
    assert cem.joined_at is None

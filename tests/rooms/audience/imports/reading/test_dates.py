from datetime import UTC, datetime

import pytest

from chalicelib.audience.imports.reading import dates
from chalicelib.audience.imports.reading.model import DAY_FIRST

NOW = datetime(2026, 11, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2023-01-05T10:11:12.345Z", "2023-01-05T10:11:12Z", "2023-01-05T12:11:12+02:00", "2023-01-05 10:11:12",
        "2023-01-05 10:11:12 UTC", "2023-01-05 10:11:12 +0000", "2023-01-05 05:11:12 -0500", "2023/01/05 10:11:12",
        "05-01-2023 10:11:12", "05/01/2023 10:11:12", "5.1.2023, 10:11:12", "Jan 05 2023 10:11:12",
        "January 5, 2023 10:11:12 AM", "5 Jan 2023 10:11:12", "Thu, 05 Jan 2023 10:11:12 +0000",
        " 2023-01-05 10:11:12 ", "05/01/2023 10:11:12 am", "5-Jan-2023 10:11:12 GMT",
    ],
)  # fmt: skip
def test_a_moment_is_read_in_every_form(text):
    assert dates.parse(text, DAY_FIRST, NOW).replace(microsecond=0) == datetime(2023, 1, 5, 10, 11, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2023-01-05", "05-01-2023", "Jan 05 2023", "2023-1-5", "5.1.2023", "20230105", "1672876800"]
)
def test_a_day_is_read_in_every_form(text):
    assert dates.parse(text, DAY_FIRST, NOW) == datetime(2023, 1, 5, tzinfo=UTC)


def test_afternoons_are_understood():
    assert dates.parse("01/05/2023 3:04 PM", "MM/DD/YYYY", NOW) == datetime(2023, 1, 5, 15, 4, tzinfo=UTC)
    assert dates.parse("01/05/2023 12:04 AM", "MM/DD/YYYY", NOW) == datetime(2023, 1, 5, 0, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "yesterday", "2023-02-30", "31/31/2023", "99/99/9999", "0000-00-00 00:00:00", "1989-12-31",
        "1970-01-01", "2999-01-01", "2026-11-19", "Foo 05 2023", "2023-01-05T25:00:00", "05/01/2023 99:99",
        "1" * 5000,
        "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "05/01/2023 +9999", "２０２３-01-05",
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_ignored(text):
    assert dates.parse(text, None, NOW) is None


def test_a_bad_date_stops_nothing(opened):
    rows = opened.rows("email,created_at\nann@example.org,31/31/2023\nben@example.org,2999-01-01\n")
    assert [(row.joined_at, row.address is not None) for row in rows] == [(None, True), (None, True)]
    assert rows[0].proof == {"joined_at": "31/31/2023"}

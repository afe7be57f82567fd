from datetime import UTC, date, datetime

import pytest

from chalicelib.kernel import languages, zones
from chalicelib.kernel.errors import Invalid


def test_a_zone_is_known_by_its_name():
    assert zones.parse("Europe/Berlin") == "Europe/Berlin"


@pytest.mark.parametrize(
    "value", ["", "Mars/Olympus", "../etc/passwd", "/etc/x", "Europe", "a\0b", 5, None, "x" * 99]
)
def test_a_zone_that_is_refused(value):
    with pytest.raises(Invalid):
        zones.parse(value)


def test_a_day_begins_by_the_clock_of_its_zone():
    assert zones.first_moment(date(2026, 7, 1), "Europe/Berlin") == datetime(2026, 6, 30, 22, tzinfo=UTC)


def test_a_zone_that_nobody_knows_is_utc_on_pages_and_in_plans(configure):
    """`SITE_ZONE` is only checked for its form when a function starts."""
    configure(SITE_ZONE="Europe/Berlim")
    assert zones.find("Europe/Berlim") is UTC
    assert languages.write_date(datetime(2026, 11, 18, 23, 30, tzinfo=UTC), "en") == "18 November 2026"

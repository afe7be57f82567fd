from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.admin import labels
from chalicelib.admin.pages.feed import _told
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.feeds.state import Check, Result, Trigger

AT = datetime(2026, 7, 1, 7, 5, tzinfo=UTC)


def test_a_time_is_said_in_utc_and_as_it_is_where_the_author_lives():
    assert labels.moment(AT) == labels.moment("2026-07-01T07:05:00.000Z") == "1 Jul 2026, 07:05 UTC"
    assert labels.in_zone(AT, "Europe/Berlin") == "Wed 1 Jul 2026, 09:05"
    assert labels.input_value(AT, "America/New_York") == "2026-07-01T03:05"


@pytest.mark.parametrize(
    ("dollars", "said"),
    [(0, "less than $0.01"), (0.0049, "less than $0.01"), (0.1, "about $0.10"), (1234.5, "about $1,234.50")],
)
def test_money_is_not_said_more_exactly_than_it_is_known(dollars, said):
    assert labels.money(dollars) == said


def test_one_is_one_and_others_are_many():
    assert [labels.people(count) for count in (0, 1, 1234)] == ["0 people", "1 person", "1,234 people"]


def test_an_audience_is_said_in_words():
    assert labels.targeting(Targeting()) == "All subscribers"
    assert labels.targeting(Targeting(Terms(any=("a", "b")), Terms(all=("c",), none=("d",)))) == (
        "any of the sources a, b; all of the tags c; none of the tags d"
    )


def test_a_state_nobody_has_heard_of_is_said_as_it_is():
    assert (labels.state("publishing"), labels.state("odd"), labels.tone("odd")) == ("Sending", "Odd", "quiet")


def test_looks_that_found_the_same_are_told_once():
    def look(minutes: int, result: Result) -> Check:
        return Check(AT - timedelta(minutes=minutes), Trigger.SCHEDULE, result, result.value)

    history = [
        look(0, Result.UNCHANGED),
        look(1, Result.UNCHANGED),
        look(2, Result.FAILED),
        look(3, Result.UNCHANGED),
    ]
    assert [(check.at, times) for check, times in _told(history)] == [
        (AT, 2),
        (AT - timedelta(minutes=2), 1),
        (AT - timedelta(minutes=3), 1),
    ]

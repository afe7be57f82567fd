from datetime import UTC, datetime

import pytest

from chalicelib.admin import labels
from chalicelib.campaigns.model import Targeting, Terms

AT = datetime(2026, 7, 1, 7, 5, tzinfo=UTC)


def test_a_time_is_shown_in_utc_and_in_the_authors_time_zone():
    assert labels.moment(AT) == labels.moment("2026-07-01T07:05:00.000Z") == "1 Jul 2026, 07:05 UTC"
    assert labels.in_zone(AT, "Europe/Berlin") == "Wed 1 Jul 2026, 09:05"
    assert labels.input_value(AT, "America/New_York") == "2026-07-01T03:05"


@pytest.mark.parametrize(
    ("dollars", "said"),
    [(0, "less than $0.01"), (0.0049, "less than $0.01"), (0.1, "about $0.10"), (1234.5, "about $1,234.50")],
)
def test_costs_are_rounded(dollars, said):
    assert labels.money(dollars) == said


def test_nouns_follow_their_number():
    assert [labels.people(count) for count in (0, 1, 1234)] == ["0 people", "1 person", "1,234 people"]


def test_targeting_is_described_in_words():
    assert labels.targeting(Targeting()) == "All subscribers"
    assert labels.targeting(Targeting(Terms(any=("a", "b")), Terms(all=("c",), none=("d",)))) == (
        "any of the sources a, b; all of the tags c; none of the tags d"
    )


def test_an_unknown_state_is_shown_as_it_is():
    assert (labels.state("publishing"), labels.state("odd"), labels.tone("odd")) == ("Sending", "Odd", "quiet")


def test_one_of_a_kind_is_singular():
    assert [labels.count_of(number, "message") for number in (0, 1, 1200)] == [
        "0 messages",
        "1 message",
        "1,200 messages",
    ]
    assert labels.count_of(1, "entry", "entries") == "1 entry"

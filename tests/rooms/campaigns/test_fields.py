from datetime import UTC, date, datetime

import pytest

from chalicelib.campaigns import fields
from chalicelib.campaigns.content import placeholders
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.kernel.errors import Invalid
from chalicelib.mail.message import check_subject

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "  ",
        5,
        [],
        "a" * 251,
        "two\nlines",
        "a\r\nBcc: x@y",
        "nul\0",
        "\ud800",
        "a\u2028b",
        "bell\a",
        "{{nickname}}",  # nothing is left of it for who has none
        "{{nickname|a}}" * 17,  # far too long for who has a long one
    ],
)
def test_a_subject_that_is_refused(value):
    with pytest.raises(Invalid):
        fields.subject(value)


def test_the_longest_subject_with_the_longest_nickname_can_be_shown_and_sent():
    subject = fields.subject("s" * 230 + " {{nickname|you}}")
    shortest, longest = placeholders.extremes(subject)
    assert (shortest[-4:], len(longest)) == (" you", 281)
    check_subject(longest)


def test_a_subject_may_have_any_letters_and_joined_emoji():
    assert fields.subject("  Grüße 👩‍💻  ") == "Grüße 👩‍💻"


@pytest.mark.parametrize("value", [None, "", " \n", 5, {}, "x" * 500_001, "ü" * 250_001, "\0", "a\ud800b"])
def test_a_body_that_is_refused(value):
    with pytest.raises(Invalid):
        fields.body(value)


def test_a_blank_text_means_make_it_from_the_body():
    assert fields.text("  ") is None
    assert fields.text("Hi\n\tyou") == "Hi\n\tyou"


@pytest.mark.parametrize(
    ("value", "zone", "expected"),
    [
        ("2026-11-20T09:00:00Z", None, (20, 9)),
        ("2026-11-20T09:00:00+08:00", None, (20, 1)),
        ("2026-11-20T09:00-05:00", None, (20, 14)),
        ("20261120T090000Z", None, (20, 9)),
        ("2026-11-20T09:00", "Europe/Berlin", (20, 8)),
        ("2026-11-20T09:00+00:00", "Europe/Berlin", (20, 9)),
        ("2026-11-20 09:00:00.5+00:00", None, (20, 9)),
    ],
)
def test_times_are_taken_with_any_offset_and_kept_in_utc(value, zone, expected):
    when = fields.moment(value, zone, NOW)
    assert when.tzinfo is UTC
    assert (when.day, when.hour) == expected


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "",
        "soon",
        "2026-11-20T09:00:00",
        "2026-13-20T09:00:00Z",
        "2026-11-16T09:00:00Z",
        "2026-11-16T08:59:59Z",
        "2026-11-16T12:00:00+08:00",
        "9999-12-31T23:59:59-14:00",
        "2040-01-01T00:00:00Z",
        "x" * 1000,
    ],
)
def test_a_time_that_is_refused(value):
    with pytest.raises(Invalid):
        fields.moment(value, None, NOW)


def test_an_aim_is_read_and_repetitions_are_dropped():
    read = fields.targeting({"sources": {"any": ["blog", " Blog"]}, "tags": {"none": ["x"]}})
    assert read == Targeting(Terms(any=("blog",)), Terms(none=("x",)))
    assert fields.targeting(None) == fields.targeting({}) == Targeting()


@pytest.mark.parametrize(
    "value",
    [
        [],
        "all",
        {"who": {}},
        {"tags": []},
        {"tags": {"some": []}},
        {"tags": {"any": "x"}},
        {"tags": {"any": [""]}},
        {"tags": {"any": [5]}},
        {"tags": {"any": ["x" * 65]}},
        {"tags": {"any": ["a"] * 51}},
        {"joined_after": ""},
        {"joined_after": 20261118},
        {"joined_after": True},
        {"joined_after": []},
        {"joined_after": "20261118"},
        {"joined_after": "2026-W47-3"},
        {"joined_after": "2026-11-18T00:00:00Z"},
        {"joined_after": " 2026-11-18"},
        {"joined_after": "２０２６-11-18"},
        {"joined_before": "2026-02-30"},
        {"joined_before": "2027-02-29"},
        {"joined_before": "2026-13-01"},
        {"joined_before": "0001-01-01"},
        {"joined_before": "1969-12-31"},
        {"joined_before": "9999-12-31"},
        {"joined_before": "3000-01-01"},
        {"joined_after": "2026-11-18", "joined_before": "2026-11-18"},
        {"joined_after": "2026-11-19", "joined_before": "2026-11-18"},
    ],
)
def test_an_aim_that_is_refused(value):
    with pytest.raises(Invalid):
        fields.targeting(value)


def test_an_aim_has_no_more_words_than_a_filter_can_ask_for():
    most = {name: [f"{name}{number}" for number in range(30)] for name in ("any", "all")}
    assert fields.targeting({"sources": most, "tags": most}).word_count == fields.MOST_WORDS_IN_ALL
    with pytest.raises(Invalid, match="Aim must have at most 120 sources and tags in all"):
        fields.targeting({"sources": most, "tags": most | {"none": ["one more"]}})


def test_an_aim_has_days():
    read = fields.targeting({"joined_after": "2024-02-29", "joined_before": None})
    assert read == Targeting(joined_after=date(2024, 2, 29))
    assert not read.everybody
    assert fields.targeting({"joined_after": None, "joined_before": None}).everybody
    assert fields.targeting({"joined_before": "2999-12-31"}).joined_before == date(2999, 12, 31)


@pytest.mark.parametrize("value", [None, 5, [], "", "  ", "x" * 65, "two\nlines", "nul\0", "\ud800", "a\u2028b"])
def test_a_name_of_a_segment_that_is_refused(value):
    with pytest.raises(Invalid, match="Name must be 1–64 characters"):
        fields.segment_name(value)


def test_the_longest_name_of_a_segment():
    assert fields.segment_name(f" {'ü' * 64} ") == "ü" * 64

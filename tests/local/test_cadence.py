from datetime import UTC, datetime
from itertools import islice

import pytest

from local.cadence import times

START = datetime(2026, 11, 13, 7, 58, 30, tzinfo=UTC)  # a Friday


def next_times(expression, count=2):
    return [f"{moment:%a %d %H:%M:%S}" for moment in islice(times(expression, START), count)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("rate(5 minutes)", ["Fri 13 08:03:30", "Fri 13 08:08:30"]),
        ("rate(1 hour)", ["Fri 13 08:58:30", "Fri 13 09:58:30"]),
        ("cron(0 8 * * ? *)", ["Fri 13 08:00:00", "Sat 14 08:00:00"]),
        ("cron(0/15 * * * ? *)", ["Fri 13 08:00:00", "Fri 13 08:15:00"]),
        ("cron(30 9 ? * MON-THU *)", ["Mon 16 09:30:00", "Tue 17 09:30:00"]),
        ("cron(0 0 1,15 * ? *)", ["Sun 15 00:00:00", "Tue 01 00:00:00"]),
    ],
)
def test_a_schedule_is_due_when_eventbridge_says_so(expression, expected):
    assert next_times(expression) == expected


def test_an_invalid_expression_is_named():
    with pytest.raises(ValueError, match="often"):
        next_times("often")

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from chalicelib.feeds.reading import reader
from chalicelib.feeds.reading.reader import Unreadable, Validators


def failure(url: str) -> Unreadable:
    with pytest.raises(Unreadable) as raised:
        reader.read(url)
    return raised.value


def test_a_validator_that_is_none_is_not_sent_back(blog):
    blog.answer = (
        200,
        {"ETag": '"' + "x" * 500 + '"', "Last-Modified": "Mon, 16 Nov 2026 08:00:00 GMT"},
        blog.feed(),
    )
    known = reader.read(f"{blog.url}/feed.xml").validators
    assert (known.etag, known.last_modified) == ("", "Mon, 16 Nov 2026 08:00:00 GMT")
    assert reader.read(f"{blog.url}/feed.xml", known).feed is None
    assert blog.asked[1]["if-modified-since"] == "Mon, 16 Nov 2026 08:00:00 GMT"
    assert "if-none-match" not in blog.asked[1]


def test_an_equal_body_is_recognised_before_it_is_parsed(blog, monkeypatch):
    known = reader.read(f"{blog.url}/feed.xml").validators
    monkeypatch.setattr("chalicelib.feeds.reading.entries.parse", None)
    assert reader.read(f"{blog.url}/feed.xml", Validators(body_hash=known.body_hash)).feed is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120), ("999999999999", 86400), ("", 0), ("soon", 0), ("-5", 0), ("Mon, 16 Nov 2020 08:00:00 GMT", 0)],
)
def test_retry_after(value, seconds):
    assert reader._retry_after(value) == seconds


def test_retry_after_as_a_date():
    moment = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)
    assert 290 <= reader._retry_after(moment) <= 300


@pytest.mark.parametrize(("status", "kind"), [(404, "status"), (204, "status"), (304, "status"), (410, "gone")])
def test_other_answers_are_failures(blog, status, kind):
    blog.answer = (status, {}, b"")
    assert failure(f"{blog.url}/feed.xml").kind == kind


def test_fifty_megabytes_are_given_up_early(blog):
    blog.answer = (200, {}, b"<rss>" + bytes(50_000_000))
    assert failure(f"{blog.url}/feed.xml").kind == "too_large"

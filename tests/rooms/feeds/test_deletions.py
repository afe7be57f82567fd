"""Which entries a push says were deleted, whatever else is in its body."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chalicelib.feeds import deletions

# As YouTube sends it.
YOUTUBE = b"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns="http://www.w3.org/2005/Atom">
  <at:deleted-entry ref="yt:video:dQw4w9WgXcQ" when="2026-11-16T12:00:00+00:00">
    <link href="https://www.youtube.com/watch?v=dQw4w9WgXcQ"/>
    <at:by><name>A channel</name><uri>https://www.youtube.com/channel/UCuAXFkgsw1L7xaCfnd5JJOw</uri></at:by>
  </at:deleted-entry>
</feed>"""
FEED = '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:t="http://purl.org/atompub/tombstones/1.0">{}</feed>'


def find(*inside: str) -> tuple[str, ...]:
    return deletions.find(FEED.format("".join(inside)).encode())


def tombstone(ref: str) -> str:
    return f'<t:deleted-entry ref="{ref}" when="2026-11-16T12:00:00Z"/>'


def test_a_deleted_video_is_found():
    assert deletions.find(YOUTUBE) == ("yt:video:dQw4w9WgXcQ",)


def test_an_entry_that_was_published_is_not_a_deleted_one():
    assert find("<entry><id>yt:video:a</id></entry>") == ()


def test_the_name_counts_in_its_namespace_only():
    other = '<o:deleted-entry xmlns:o="http://example.org/" ref="a"/>'
    assert find(other, '<deleted-entry ref="b"/>', tombstone("c")) == ("c",)


def test_a_ref_that_is_missing_empty_or_too_long_is_passed_over():
    assert find("<t:deleted-entry/>", tombstone(" "), tombstone("x" * 201), tombstone("y" * 200)) == ("y" * 200,)


def test_each_is_named_once_and_at_most_fifty_are():
    assert find(tombstone("a"), tombstone("b"), tombstone("a")) == ("a", "b")
    assert len(find(*(tombstone(str(number)) for number in range(80)))) == 50


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"\x00\xff",
        YOUTUBE[:-4],
        YOUTUBE + b"<more/>",
        YOUTUBE.replace(b"<link", b"<!-- "),
        YOUTUBE.replace(b"yt:video:", b"&unknown;"),
        YOUTUBE.replace(b"yt:video:", b"\xff"),
        YOUTUBE.replace(b"<feed ", b'<!DOCTYPE feed [<!ENTITY a "yt:video:b">]><feed '),
        YOUTUBE.replace(b"<feed ", b'<!DOCTYPE feed SYSTEM "file:///etc/passwd"><feed '),
    ],
)
def test_a_body_that_is_not_plain_whole_xml_names_none(body):
    assert deletions.find(body) == ()


def test_an_encoding_that_python_knows_and_feeds_do_not_use_is_not_looked_up():
    assert deletions.find(YOUTUBE.replace(b"UTF-8", b"zlib")) == ("yt:video:dQw4w9WgXcQ",)


@pytest.mark.parametrize(
    "body",
    [
        b"<a>" * 2_000_000,
        b"<a>" * 33_000,
        b'<a xmlns="' + b"x" * 50_000 + b'">' + b"<b/>" * 12_000 + b"</a>",
        b'<a xmlns="' + b"x" * 3_000_000 + b'">' + b"<b/>" * 700_000 + b"</a>",
        b"<a " + b" ".join(b"a%d=''" % number for number in range(9_000)) + b"/>",
    ],
)
def test_a_hostile_body_takes_no_time(body):
    started = time.monotonic()
    assert deletions.find(body) == ()
    assert time.monotonic() - started < 2


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: FEED.format(text).encode("utf-8", "replace")))
@example(b"<feed><![")
def test_nothing_that_is_pushed_makes_it_fail(body):
    assert all(0 < len(ref) <= 200 for ref in deletions.find(body))

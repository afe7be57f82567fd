"""A document that was cut off gives nothing: half a post must not be mailed, nor the whole one twice."""

import gzip
import zlib

import pytest

from chalicelib.feeds.reading import reader
from chalicelib.feeds.reading.document import NotAFeed
from chalicelib.feeds.reading.model import Entry
from chalicelib.feeds.reading.reader import Unreadable
from tests.rooms.feeds.documents import ALL, LENIENT, WORDPRESS
from tests.rooms.feeds.parsing import item, parse


def entries(body: bytes) -> tuple[Entry, ...]:
    try:
        return parse(body, "text/xml").entries
    except NotAFeed:
        return ()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_whatever_is_cut_off_no_entry_differs_from_the_whole_one(name, encoding):
    body = ALL[name].encode(encoding)
    whole = parse(body).entries
    assert len(whole) == 2
    different = [at for at in range(len(body)) if entries(body[:at]) not in ((), whole)]
    assert different == []


@pytest.mark.parametrize("name", ALL)
def test_a_feed_cut_off_inside_an_entry_gives_nothing(name):
    body = ALL[name].encode()
    for part in (0.5, 0.7, 0.85):
        assert entries(body[: int(len(body) * part)]) == ()


def test_the_reason_is_that_it_was_cut_off():
    with pytest.raises(NotAFeed) as raised:
        parse(WORDPRESS[:900])
    assert (raised.value.kind, raised.value.reason) == ("cut", "the document ends in the middle")


@pytest.mark.parametrize(
    "added", ["<script>count()</script>", "<!-- cached", "\n<?php", "<p>&nbsp;", "</rss>", "\0\0"]
)
def test_what_a_host_adds_after_the_end_changes_nothing(added):
    assert parse(WORDPRESS.strip() + added).entries == parse(WORDPRESS).entries


def test_an_entry_that_is_never_closed_does_not_count_among_those_that_are():
    half = LENIENT.replace("<item><title>Tea", "<item><title>Half a post</title><item><title>Tea")
    assert [entry.title for entry in parse(half).entries] == ["Fish & chips today", "Tea"]
    torn = LENIENT.replace("<item><title>Tea", "<item><title>Half a post<item><title>Tea")
    assert [entry.title for entry in parse(torn).entries] == ["Fish & chips today"]


def test_an_entry_is_the_same_with_and_without_mistakes_elsewhere_in_the_document():
    inside = "<title>x</title><guid>https://blog.example.org/?a=1&amp;b=2</guid>"
    assert parse(item(inside)).entries == parse(item(inside).replace("<title>t", "<title>t &bad;")).entries


def unreadable(blog, body: bytes, **headers: str) -> str:
    blog.answer = (200, headers, body)
    with pytest.raises(Unreadable) as raised:
        reader.read(f"{blog.url}/feed.xml")
    return raised.value.kind


def test_a_compressed_answer_must_end_too(blog):
    whole = WORDPRESS.encode() + b" " * 100_000
    for encoding, compressed in (("gzip", gzip.compress(whole)), ("deflate", zlib.compress(whole))):
        headers = {"Content-Encoding": encoding}
        blog.answer = (200, headers, compressed)
        assert len(reader.read(f"{blog.url}/feed.xml").feed.entries) == 2
        # The document is whole where only spaces are missing, but nobody can know that.
        assert unreadable(blog, compressed[:-12], **headers) == "cut"


def test_fewer_bytes_than_announced_are_a_failure(blog):
    assert unreadable(blog, WORDPRESS.encode(), **{"Content-Length": "9000"}) == "cut"

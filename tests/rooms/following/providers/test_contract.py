"""What is true of every provider. A new one is a line in `sources.CASES`."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import pytest

from chalicelib.following.providers import contract
from chalicelib.following.providers.contract import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    Access,
    Channel,
    Down,
    Found,
    Known,
    Page,
    ProviderFailed,
    Reference,
    Source,
    Throttled,
)
from chalicelib.following.providers.registry import GRANTS, SOURCES, recognise
from chalicelib.inbox.model import LONGEST_EXCERPT, LONGEST_TITLE
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.following.providers.sources import CASES, Case, spoilt

ACCESS = Access(token="a-token")
# What a provider is asked, by name.
CALLS: dict[str, Callable[[Source, Case], Any]] = {
    "resolve": lambda source, case: source.resolve(Reference(case.provider, "id", case.channel_id), ACCESS),
    "latest": lambda source, case: source.latest(Known(case.channel_id), ACCESS),
    "complete": lambda source, case: complete(source, case, tell_shorts=True),
    "refresh": lambda source, case: source.refresh(["aaaaaaaaaa1", "512ojhOuo1ktJprKbVc003"], ACCESS),
    "mine": lambda source, case: source.mine(ACCESS),
    "search": lambda source, case: source.search("walks & talks", 20, ACCESS),
}

OUTAGES = [
    *((500, b"oops"), (503, {"error": {}}), (302, b""), (200, b"<html>"), (200, b""), (200, b'{"items": [{"id"')),
    *(FetchFailed("timeout", "no complete response in time"), FetchFailed("cut", "the response ends in the middle")),
]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.provider)


def complete(source: Source, case: Case, tell_shorts: bool = False) -> tuple[Found, ...]:
    known = Known(case.channel_id)
    return source.complete(known, source.latest(known, ACCESS).items, ACCESS, tell_shorts)


def check_channel(channel: Channel) -> None:
    assert channel.channel_id
    assert 0 < len(channel.name) <= LONGEST_NAME
    assert len(channel.description) <= LONGEST_DESCRIPTION
    assert channel.name.isprintable()
    assert channel.description.isprintable()
    assert all(is_web(url) for url in (channel.image_url, channel.external_url) if url)
    assert all(number is None or number >= 0 for number in (channel.total_items, channel.subscriber_count))
    (channel.name + channel.description + channel.handle).encode()


def check_found(found: Found, today: datetime) -> None:
    assert 0 < len(found.id) <= 1_000
    assert 0 < len(found.title) <= LONGEST_TITLE
    assert len(found.excerpt) <= LONGEST_EXCERPT
    assert (found.title + found.excerpt).isprintable()
    (found.title + found.excerpt + found.id).encode()
    assert is_web(found.url)
    assert not found.image or is_web(found.image)
    assert found.published_at is None or (found.published_at.tzinfo and found.published_at <= today)
    assert found.duration_seconds is None or found.duration_seconds > 0


def check(answer: Any, today: datetime) -> None:
    """Whatever the provider made of what it was answered."""
    if isinstance(answer, Channel):
        check_channel(answer)
    if isinstance(answer, Page):
        assert len({found.id for found in answer.items}) == len(answer.items)
        assert answer.total_items is None or answer.total_items >= 0
        check([*answer.items, *([answer.channel] if answer.channel else [])], today)
    if isinstance(answer, Found):
        check_found(answer, today)
    for one in answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list | tuple) else ():
        check(one, today)


def is_web(url: str) -> bool:
    return urlsplit(url).scheme in ("http", "https") and bool(urlsplit(url).hostname) and len(url) <= 6_000


def test_every_provider_is_tried_here():
    assert [case.provider for case in CASES] == list(SOURCES)
    assert set(GRANTS) < set(SOURCES)
    assert all(source.provider is provider for provider, source in SOURCES.items())


@each_case
def test_an_id_is_what_it_says(case):
    source = SOURCES[case.provider]
    assert source.check_id(case.channel_id) == case.channel_id
    for junk in case.junk:
        with pytest.raises(Invalid) as refused:
            source.check_id(junk)
        assert len(junk) < 3 or junk not in refused.value.reason


@each_case
def test_what_it_tells_is_plain_bounded_and_published(case, web, today):
    case.serve(web)
    source = SOURCES[case.provider]
    channel = source.resolve(Reference(case.provider, "id", case.channel_id), ACCESS)
    page = source.latest(Known(case.channel_id), ACCESS)
    assert channel.channel_id == case.channel_id
    assert page.items
    check([channel, page], today)
    completed = complete(source, case)
    assert completed
    assert {found.id for found in completed} <= {found.id for found in page.items}


@each_case
def test_what_recognises_urls_survives_any_text(case):
    texts = [
        "",
        " ",
        "@",
        "http://",
        "https://[",
        "//x",
        "spotify:",
        "spotify:show:",
        "a" * 5_000,
        "\ud800",
        "http://a:b@c/",
    ]
    texts += [
        "https://www.youtube.com",
        "https://youtu.be/",
        "https://open.spotify.com/show",
        "https://www.youtube.com/%00",
    ]
    texts += ["https://www.youtube.com/watch?" + "&" * 2_000, "https://ⅷ.example/", "https://exa\u2028mple.org/"]
    for text in texts:
        named = SOURCES[case.provider].recognise(text)
        assert named is None or (named.provider is case.provider and named.value)


@each_case
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "outage",
    OUTAGES,
    ids=str,
)
def test_an_outage_is_down_and_nothing_else(case, call, outage, web):
    web.answers = dict.fromkeys(case.answers, outage)
    with pytest.raises(ProviderFailed) as failed:
        CALLS[call](SOURCES[case.provider], case)
    expected = (Down, contract.Unknown) if case.provider == "RSS" else Down
    assert isinstance(failed.value, expected)
    assert "oops" not in failed.value.reason


@each_case
@pytest.mark.parametrize("call", ["resolve", "latest"])
def test_too_many_requests_say_when_to_come_back(case, call, web):
    web.answers = dict.fromkeys(case.answers, (429, {"error": {"status": 429, "message": "API rate limit exceeded"}}))
    web.headers = {"retry-after": "79892"}
    with pytest.raises(Throttled) as failed:
        CALLS[call](SOURCES[case.provider], case)
    assert failed.value.retry_after == 79_892


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("case", [case for case in CASES if case.provider != "RSS"], ids=lambda case: case.provider)
def test_no_shape_of_an_answer_breaks_it(case, call, web, today):
    """Each field of each answer, missing, null, of a wrong type or huge."""
    case.serve(web)
    source, tried = SOURCES[case.provider], 0
    attempt(source, case, call, today)
    used = {asked.place: asked for asked in web.asked}
    for place, asked in used.items():
        whole = case.answers[place]
        for bad in spoilt(whole(asked) if callable(whole) else whole):
            web.answers[place] = (200, bad)
            attempt(source, case, call, today)
            tried += 1
        web.answers[place] = whole
    assert tried > 100


def attempt(source: Source, case: Case, call: str, today: datetime) -> None:
    """It may fail as providers fail, and in no other way."""
    with suppress(ProviderFailed):
        check(CALLS[call](source, case), today)


def test_a_page_that_names_the_wrong_thing_is_not_recognised():
    for junk in (
        "",
        "   ",
        "hello",
        "ftp://a.example/",
        "javascript:alert(1)",
        "a b",
        "https://" + "x" * 3_000,
        "@",
        "//",
    ):
        with pytest.raises(Invalid) as refused:
            recognise(junk)
        assert "Enter the address" in refused.value.reason

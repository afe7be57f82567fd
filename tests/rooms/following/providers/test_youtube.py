from datetime import UTC, datetime

import pytest

from chalicelib.following.providers.contract import (
    SEARCHES,
    UNITS,
    Access,
    Down,
    Forbidden,
    Found,
    Known,
    ProviderFailed,
    QuotaExceeded,
    Reference,
    Throttled,
    Unauthorised,
    Unknown,
)
from chalicelib.following.providers.registry import SOURCES, recognise
from chalicelib.following.providers.youtube_videos import parse_duration
from chalicelib.inbox.model import ContentType, Provider
from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.following.providers.sources import API, CHANNEL
from tests.rooms.following.providers.web import recorded

YOUTUBE = SOURCES[Provider.YOUTUBE]
TOKEN, KEY = Access(token="a-token"), Access(key="a-key")
KNOWN = Known(CHANNEL)


def resolve(kind: str, value: str) -> str:
    return YOUTUBE.resolve(Reference(Provider.YOUTUBE, kind, value), KEY).channel_id


def latest(web, access=KEY):
    web.answers.setdefault(f"{API}/playlistItems", recorded("youtube/uploads"))
    return YOUTUBE.latest(KNOWN, access)


def failure(web, status, answer, access=TOKEN) -> ProviderFailed:
    web.answers[f"{API}/playlistItems"] = (status, answer)
    with pytest.raises(ProviderFailed) as failed:
        YOUTUBE.latest(KNOWN, access)
    return failed.value


def test_a_channel_is_described_by_the_list_of_channels(web):
    web.answers[f"{API}/channels"] = recorded("youtube/channels")
    channel = YOUTUBE.resolve(Reference(Provider.YOUTUBE, "id", CHANNEL), KEY)
    assert channel.name == "Jago & Friends"
    assert channel.description == "Tales from the Tube. New ones on Wednesdays & Sundays."
    assert channel.handle == "@jagohazzard"
    assert channel.external_url == f"https://www.youtube.com/channel/{CHANNEL}"
    assert (channel.total_items, channel.subscriber_count) == (412, 503_000)
    assert web.asked[0].query["id"] == CHANNEL


def test_a_channel_that_does_not_exist_has_no_items_at_all(web):
    web.answers[f"{API}/channels"] = recorded("youtube/channels_none")
    with pytest.raises(Unknown):
        resolve("id", CHANNEL)


def test_a_handle_and_an_old_user_name_are_looked_up(web):
    web.answers[f"{API}/channels"] = recorded("youtube/channels")
    assert resolve("handle", "jagohazzard") == CHANNEL
    assert resolve("username", "jago") == CHANNEL
    assert [asked.query.get("forHandle") for asked in web.asked] == ["@jagohazzard", None]
    assert web.asked[1].query["forUsername"] == "jago"


def test_a_video_stands_for_its_channel(web):
    web.answers[f"{API}/channels"] = recorded("youtube/channels")
    web.answers[f"{API}/videos"] = recorded("youtube/videos")
    assert resolve("video", "aaaaaaaaaa1") == CHANNEL
    web.answers[f"{API}/videos"] = {"kind": "youtube#videoListResponse", "items": []}
    with pytest.raises(Unknown):
        resolve("video", "aaaaaaaaaa1")


@pytest.mark.parametrize(
    "link",
    [
        f'<link rel="canonical" href="https://www.youtube.com/channel/{CHANNEL}">',
        f"<link type=application/rss+xml rel=alternate href='/feeds/videos.xml?channel_id={CHANNEL}'>",
    ],
)
def test_the_page_of_a_custom_name_says_which_channel_it_is(web, link):
    web.answers[f"{API}/channels"] = recorded("youtube/channels")
    noise = '<script>"<link rel=canonical href=https://www.youtube.com/channel/UCxxxxxxxxxxxxxxxxxxxxxx>"</script>'
    web.answers["www.youtube.com/c/jago"] = (200, f"<!doctype html><![if lt IE 9]>{noise}{link}".encode())
    assert resolve("page", "c/jago") == CHANNEL


def test_a_page_without_a_channel_is_none(web):
    web.answers["www.youtube.com/c/jago"] = [
        (200, b"<p>Before you continue"),
        (404, b""),
        (429, b""),
        FetchFailed("cut", ""),
    ]
    for expected in (Unknown, Unknown, Down, Down):
        with pytest.raises(expected):
            resolve("page", "c/jago")


@pytest.mark.parametrize(
    ("url", "kind", "value"),
    [
        ("@jago.hazzard", "handle", "jago.hazzard"),
        ("https://www.youtube.com/@jago/videos", "handle", "jago"),
        ("https://www.youtube.com/%40%E6%97%A5%E6%9C%AC", "handle", "日本"),
        ("youtube.com/@jago", "handle", "jago"),
        (f"https://m.youtube.com/channel/{CHANNEL}/about?x=1", "id", CHANNEL),
        (CHANNEL, "id", CHANNEL),
        ("http://youtube.com/user/jago", "username", "jago"),
        ("https://www.youtube.com/c/jago", "page", "c/jago"),
        ("https://www.youtube.com/jago", "page", "jago"),
        ("https://youtu.be/aaaaaaaaaa1?si=x", "video", "aaaaaaaaaa1"),
        ("https://www.youtube.com/watch?list=PL1&v=aaaaaaaaaa1", "video", "aaaaaaaaaa1"),
        ("https://www.youtube.com/shorts/aaaaaaaaaa1", "video", "aaaaaaaaaa1"),
        ("https://www.youtube.com/live/aaaaaaaaaa1", "video", "aaaaaaaaaa1"),
        (f"https://www.youtube.com/feeds/videos.xml?channel_id={CHANNEL}", "id", CHANNEL),
        (f"https://www.youtube.com/xml/feeds/videos.xml?channel_id={CHANNEL}", "id", CHANNEL),
    ],
)
def test_what_a_url_names(url, kind, value):
    assert recognise(url) == Reference(Provider.YOUTUBE, kind, value)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/feeds/videos.xml?playlist_id=PL4QobU6STFB0P71PMvOGN5A",
        "https://www.youtube.com/playlist?list=PL4QobU6STFB0P71PMvOGN5A",
        "https://www.youtube.com/",
        "https://youtube.com.example.org/@jago",
        "https://notyoutube.com/@jago",
        "https://www.youtube.com/channel/nonsense",
    ],
)
def test_the_feed_of_a_playlist_and_other_sites_are_no_channels(url):
    assert recognise(url).provider is Provider.RSS


def test_the_uploads_are_asked_for_without_looking_up_their_list(web):
    latest(web)
    assert [asked.place for asked in web.asked] == [f"{API}/playlistItems"]
    assert web.asked[0].query == {
        "part": "snippet,contentDetails,status",
        "playlistId": "UU" + CHANNEL[2:],
        "maxResults": "50",
        "key": "a-key",
    }


def test_what_is_private_deleted_unlisted_undated_or_to_come_is_left_out(web):
    found = {found.id[-2:]: found for found in latest(web).items}
    assert set(found) == {"a1", "a2", "a4", "a5", "b1"}


def test_the_date_is_that_of_the_publication_not_of_the_upload(web):
    """Scheduled videos surface below older ones."""
    items = latest(web).items
    newest = max(items, key=lambda found: found.published_at)
    assert newest.id == "aaaaaaaaaa5" != items[0].id
    assert newest.published_at == datetime(2026, 11, 15, 18, tzinfo=UTC)


def test_a_video_is_told_in_plain_words(web):
    assert latest(web).items[0] == Found(
        id="aaaaaaaaaa1",
        title="Newest: Bow & Arrow",
        url="https://www.youtube.com/watch?v=aaaaaaaaaa1",
        content_type=ContentType.VIDEO,
        published_at=datetime(2026, 11, 14, 9, tzinfo=UTC),
        excerpt="First line. Second line with https://example.org/x",
        image="https://i.ytimg.com/vi/aaaaaaaaaa1/maxresdefault.jpg",
    )


def test_whether_there_are_older_ones_is_said_by_the_token_not_by_the_count(web):
    page = latest(web)
    assert (page.has_older, page.total_items) == (True, 412)
    whole = recorded("youtube/uploads")
    del whole["nextPageToken"]
    web.answers[f"{API}/playlistItems"] = whole
    assert not latest(web).has_older


def test_a_page_on_which_everything_is_hidden_is_not_the_end(web):
    web.answers[f"{API}/playlistItems"] = [recorded("youtube/uploads_hidden"), recorded("youtube/uploads")]
    assert len(latest(web).items) == 5
    assert web.asked[1].query["pageToken"] == "CDIQAA"


def test_pages_of_nothing_are_not_followed_for_ever(web):
    web.answers[f"{API}/playlistItems"] = recorded("youtube/uploads_hidden")
    page = latest(web)
    assert (page.items, page.has_older, len(web.asked)) == ((), True, 3)


def test_a_channel_that_has_uploaded_nothing_is_an_empty_page(web):
    web.answers[f"{API}/playlistItems"] = (404, recorded("youtube/uploads_none"))
    page = latest(web)
    assert (page.items, page.has_older) == ((), False)
    assert page.topic


def test_push_is_subscribed_with_the_topic_the_hub_knows(web):
    page = latest(web)
    assert page.hub == "https://pubsubhubbub.appspot.com/subscribe"
    assert page.topic == f"https://www.youtube.com/xml/feeds/videos.xml?channel_id={CHANNEL}"


def complete(web, tell_shorts=False):
    found = latest(web).items
    web.answers[f"{API}/videos"] = recorded("youtube/videos")
    return {one.id[-2:]: one for one in YOUTUBE.complete(KNOWN, found, KEY, tell_shorts)}


def test_the_length_comes_from_the_list_of_videos_and_what_is_announced_is_left_out(web):
    completed = complete(web)
    assert {name: found.duration_seconds for name, found in completed.items()} == {
        "a1": 843,
        "a2": 58,
        "a5": 179,
        "b1": 45,
    }
    assert not any(found.is_short for found in completed.values())
    assert web.asked[-1].query["id"] == "aaaaaaaaaa1,aaaaaaaaaa2,aaaaaaaaaa4,aaaaaaaaaa5,aaaaaaaaab1"
    assert completed["a5"].published_at == datetime(2026, 11, 15, 18, tzinfo=UTC)


def test_a_short_is_brief_no_stream_and_not_among_the_long_ones(web):
    """a5 is brief, but long by the channel's own list; b1 was a live stream."""
    web.answers[f"{API}/playlistItems"] = [recorded("youtube/uploads"), recorded("youtube/long")]
    shorts = {name for name, found in complete(web, tell_shorts=True).items() if found.is_short}
    assert shorts == {"a2"}
    assert web.asked[-1].query["playlistId"] == "UULF" + CHANNEL[2:]


def test_a_channel_without_long_videos_has_no_list_of_them(web):
    web.answers[f"{API}/playlistItems"] = [recorded("youtube/uploads"), (404, recorded("youtube/uploads_none"))]
    shorts = {name for name, found in complete(web, tell_shorts=True).items() if found.is_short}
    assert shorts == {"a2", "a5"}


def test_the_list_of_long_videos_is_read_only_when_something_is_brief(web):
    videos = recorded("youtube/videos")
    videos["items"] = [item | {"contentDetails": {"duration": "PT10M"}} for item in videos["items"]]
    found = latest(web).items
    web.answers[f"{API}/videos"] = videos
    YOUTUBE.complete(KNOWN, found, KEY, tell_shorts=True)
    assert [asked.place for asked in web.asked].count(f"{API}/playlistItems") == 1


def test_nothing_new_costs_nothing(web):
    assert YOUTUBE.complete(KNOWN, [], KEY, tell_shorts=True) == ()
    assert not web.asked


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("PT14M3S", 843), ("PT1H", 3_600), ("P1DT2H3M4S", 93_784), ("P1W", 604_800), ("PT59.5S", 59)),
        *(("PT0S", None), ("P0D", None), ("P", None), ("", None), ("14:03", None), ("PT-5S", None), ("PT1S\n", None)),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


def test_refreshing_tells_what_is_left(web):
    videos = recorded("youtube/videos")
    videos["items"][1]["status"]["privacyStatus"] = "private"
    videos["items"][3]["status"]["uploadStatus"] = "deleted"
    web.answers[f"{API}/videos"] = videos
    found = YOUTUBE.refresh(["aaaaaaaaaa1", "aaaaaaaaaa2", "aaaaaaaaaa5", "aaaaaaaaaa9", "not an id"], KEY)
    assert set(found) == {"aaaaaaaaaa1"}
    assert found["aaaaaaaaaa1"].duration_seconds == 843
    assert "not an id" not in web.asked[0].query["id"]


@pytest.mark.parametrize("answer", [{}, {"items": []}, {"kind": 7}, {"kind": "drive#file", "items": []}])
def test_an_empty_answer_from_elsewhere_deletes_nothing(web, answer):
    web.answers[f"{API}/videos"] = answer
    with pytest.raises(Down):
        YOUTUBE.refresh(["aaaaaaaaaa1"], KEY)


def test_all_pages_of_what_somebody_follows_are_read(web):
    web.answers[f"{API}/subscriptions"] = [recorded("youtube/subscriptions_1"), recorded("youtube/subscriptions_2")]
    channels = YOUTUBE.mine(TOKEN)
    assert [(channel.name, channel.total_items) for channel in channels] == [
        ("Jago & Friends", 412),
        ("Tim's Trains", 88),
    ]
    assert [asked.query.get("pageToken") for asked in web.asked] == [None, "CAEQAA"]
    with pytest.raises(Unauthorised):
        YOUTUBE.mine(KEY)


def test_endless_pages_end(web):
    web.answers[f"{API}/subscriptions"] = recorded("youtube/subscriptions_1")
    assert len(YOUTUBE.mine(TOKEN)) == 1
    assert len(web.asked) == 20


def test_names_found_by_a_search_are_not_escaped_and_hidden_counts_are_none(web):
    web.answers[f"{API}/search"] = recorded("youtube/search")
    web.answers[f"{API}/channels"] = recorded("youtube/channels_of_search")
    found = YOUTUBE.search("trains", 20, KEY)
    assert [(channel.name, channel.subscriber_count) for channel in found] == [
        ("Jago & Friends", 503_000),
        ("Tim's Trains", None),
    ]
    assert web.asked[0].query["type"] == "channel"


def test_a_search_that_finds_nothing_asks_no_further(web):
    web.answers[f"{API}/search"] = {"kind": "youtube#searchListResponse", "items": []}
    assert YOUTUBE.search("trains", 20, KEY) == []
    assert len(web.asked) == 1


def test_what_is_spent_is_counted_before_the_request(web):
    spent: list[tuple[str, int]] = []
    access = Access(key="a-key", spend=lambda bucket, cost: spent.append((bucket, cost)))
    web.answers[f"{API}/search"] = recorded("youtube/search")
    web.answers[f"{API}/channels"] = recorded("youtube/channels_of_search")
    YOUTUBE.search("trains", 20, access)
    assert spent == [(SEARCHES, 1), (UNITS, 1)]


def test_without_quota_nothing_is_asked(web):
    def refuse(bucket: str, cost: int) -> None:
        raise QuotaExceeded("Nothing is left", bucket)

    with pytest.raises(QuotaExceeded):
        YOUTUBE.latest(KNOWN, Access(key="a-key", spend=refuse))
    assert not web.asked


def test_a_token_is_a_header_and_then_there_is_no_key(web):
    latest(web, Access(token="a-token", key="a-key"))
    assert web.asked[0].headers["Authorization"] == "Bearer a-token"
    assert "key" not in web.asked[0].query
    assert "a-token" not in web.asked[0].url
    latest(web, KEY)
    assert "Authorization" not in web.asked[1].headers


def test_without_token_and_key_nothing_is_asked(web):
    with pytest.raises(Unauthorised):
        YOUTUBE.latest(KNOWN, Access())
    assert not web.asked


@pytest.mark.parametrize(
    ("status", "name", "expected"),
    [
        (403, "quota", QuotaExceeded),
        (403, "daily", QuotaExceeded),
        (429, "search_quota", QuotaExceeded),
        (403, "rate", Throttled),
        (403, "user_rate", Throttled),
        (429, "minute_quota", Throttled),
        (403, "not_configured", Forbidden),
        (400, "key", Forbidden),
        (403, "private", Forbidden),
        (403, "backend", Down),
        (401, "token", Unauthorised),
    ],
)
def test_what_a_refusal_means(web, status, name, expected):
    failed = failure(web, status, recorded(f"youtube/error_{name}"))
    assert type(failed) is expected
    assert "quota metric" not in failed.reason


def test_no_403_means_that_somebody_withdrew_consent(web):
    for name in ("quota", "daily", "rate", "user_rate", "not_configured", "private", "backend"):
        assert not isinstance(failure(web, 403, recorded(f"youtube/error_{name}")), Unauthorised)
    for body in (b"", b"<html>Sorry\xe2\x80\xa6", b"[]", b'{"error": "x"}', b'{"error": {"errors": 7}}'):
        assert type(failure(web, 403, body)) in (Down, Forbidden)


def test_the_quota_of_searches_is_another_one(web):
    web.answers[f"{API}/search"] = (429, recorded("youtube/error_search_quota"))
    with pytest.raises(QuotaExceeded) as failed:
        YOUTUBE.search("trains", 20, KEY)
    assert failed.value.bucket == SEARCHES
    assert failure(web, 403, recorded("youtube/error_quota")).bucket == UNITS


@pytest.mark.parametrize(("header", "seconds"), [("79892", 79_892), ("9999999", 604_800), ("", 60), ("soon", 60)])
def test_retry_after_is_kept_up_to_a_week(web, header, seconds):
    web.headers = {"retry-after": header}
    assert failure(web, 429, b"").retry_after == seconds

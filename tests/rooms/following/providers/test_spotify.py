import json
from datetime import UTC, datetime

import pytest

from chalicelib.following.providers.contract import (
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
from chalicelib.inbox.model import ContentType, Provider
from tests.rooms.following.providers.sources import SHOW
from tests.rooms.following.providers.sources import SPOTIFY as API
from tests.rooms.following.providers.web import recorded

SPOTIFY = SOURCES[Provider.SPOTIFY]
TOKEN = Access(token="a-token")
KNOWN = Known(SHOW)
EPISODE = "512ojhOuo1ktJprKbVc003"


def serve(web, dates, total=None, last=None):
    """A show whose first page has episodes of these dates."""
    show = recorded("spotify/show")
    show["episodes"]["items"] = [episode(number, date) for number, date in enumerate(dates)]
    show["episodes"]["total"] = show["total_episodes"] = total or len(dates)
    web.answers[f"{API}/shows/{SHOW}"] = show
    if last is not None:
        page = show["episodes"] | {"items": [episode(100 + number, date) for number, date in enumerate(last)]}
        web.answers[f"{API}/shows/{SHOW}/episodes"] = page


def episode(number, date):
    made = json.loads(json.dumps(recorded("spotify/episode")))
    return made | {"id": f"512ojhOuo1ktJprKbVc{number:03}", "release_date": date}


def dates_found(web):
    return [found.published_at.date().isoformat() for found in SPOTIFY.latest(KNOWN, TOKEN).items]


def failure(web, status, answer) -> ProviderFailed:
    web.answers[f"{API}/shows/{SHOW}"] = (status, answer)
    with pytest.raises(ProviderFailed) as failed:
        SPOTIFY.latest(KNOWN, TOKEN)
    return failed.value


def test_one_request_tells_about_the_show_and_its_episodes(web):
    web.answers[f"{API}/shows/{SHOW}"] = recorded("spotify/show")
    page = SPOTIFY.latest(KNOWN, TOKEN)
    assert page.channel.name == "Talks & Walks"
    assert page.channel.image_url == "https://i.scdn.co/image/ab6765630000ba8a640"
    assert (page.channel.total_items, page.channel.subscriber_count, page.total_items) == (5, None, 5)
    assert len(web.asked) == 1
    assert web.asked[0].query == {"market": "DE"}
    assert web.asked[0].headers["Authorization"] == "Bearer a-token"


def test_an_episode_is_told_in_plain_words(web):
    web.answers[f"{API}/shows/{SHOW}"] = recorded("spotify/show")
    assert SPOTIFY.latest(KNOWN, TOKEN).items[0] == Found(
        id=EPISODE,
        title="The third",
        url=f"https://open.spotify.com/episode/{EPISODE}",
        content_type=ContentType.PODCAST,
        published_at=datetime(2026, 11, 10, tzinfo=UTC),
        excerpt="What they talk about.",
        image="https://i.scdn.co/image/ab6765630000f68d640",
        duration_seconds=1_686,
    )


def test_null_episodes_and_those_of_the_future_are_left_out_and_dates_may_be_rough(web):
    web.answers[f"{API}/shows/{SHOW}"] = recorded("spotify/show")
    assert dates_found(web) == ["2026-11-10", "2026-11-01", "2025-01-01"]


def test_an_episode_of_today_is_out_and_one_of_tomorrow_is_not(web):
    serve(web, ["2026-11-17", "2026-11-16", "2026-12", "2027"])
    assert dates_found(web) == ["2026-11-16"]


@pytest.mark.parametrize("date", ["0000", "", "soon", "2026-13-01", None, 2026, "1066-10-14", "2026-1"])
def test_an_episode_without_a_date_is_still_one(web, date):
    serve(web, [date])
    (found,) = SPOTIFY.latest(KNOWN, TOKEN).items
    assert found.published_at is None


def test_the_newest_of_a_show_that_lists_its_oldest_first_are_on_the_last_page(web):
    serve(web, ["2020-01-01", "2020-02-01"], total=120, last=["2026-10-01", "2026-11-01"])
    assert dates_found(web) == ["2026-10-01", "2026-11-01"]
    assert web.asked[1].query == {"market": "DE", "limit": "50", "offset": "70"}
    assert SPOTIFY.latest(KNOWN, TOKEN).has_older


def test_a_show_that_lists_its_newest_first_needs_one_page(web):
    serve(web, ["2026-11-01", "2020-02-01"], total=120)
    assert dates_found(web) == ["2026-11-01", "2020-02-01"]
    assert SPOTIFY.latest(KNOWN, TOKEN).has_older
    assert len(web.asked) == 2


def test_a_show_that_fits_on_one_page_needs_one_in_any_order(web):
    serve(web, ["2020-02-01", "2026-11-01"])
    assert dates_found(web) == ["2020-02-01", "2026-11-01"]
    assert not SPOTIFY.latest(KNOWN, TOKEN).has_older


def test_a_last_page_with_nothing_on_it_is_not_believed(web):
    serve(web, ["2020-01-01", "2020-02-01"], total=120, last=[])
    assert dates_found(web) == ["2020-01-01", "2020-02-01"]


def test_saved_shows_are_paged_until_there_is_no_next_page(web):
    web.answers[f"{API}/me/shows"] = [recorded("spotify/saved_1"), recorded("spotify/saved_2")]
    assert [channel.name for channel in SPOTIFY.mine(TOKEN)] == ["Talks & Walks", "Other Voices"]
    assert [asked.query["offset"] for asked in web.asked] == ["0", "50"]
    web.answers[f"{API}/me/shows"] = recorded("spotify/saved_1")
    SPOTIFY.mine(TOKEN)
    assert len(web.asked) == 2 + 20


def test_a_search_asks_for_ten_at_a_time(web):
    def answer(asked):
        page = recorded("spotify/search")
        offset = int(asked.query["offset"])
        shows = [page["shows"]["items"][0] | {"id": f"{offset + number:022}"} for number in range(9)]
        page["shows"] |= {"items": [*shows, None], "next": "https://api.spotify.com/v1/search?offset=10"}
        return page

    web.answers[f"{API}/search"] = answer
    assert len(SPOTIFY.search("walks", 20, TOKEN)) == 18
    assert [(asked.query["limit"], asked.query["offset"]) for asked in web.asked] == [("10", "0"), ("10", "10")]
    assert {asked.query["market"] for asked in web.asked} == {"DE"}
    assert len(SPOTIFY.search("walks", 5, TOKEN)) == 5
    assert len(SPOTIFY.search("walks", 500, TOKEN)) == 45


def test_a_search_ends_where_there_is_no_next_page(web):
    web.answers[f"{API}/search"] = recorded("spotify/search")
    assert [show.name for show in SPOTIFY.search("walks", 50, TOKEN)] == ["Talks & Walks", "Other Voices"]
    assert len(web.asked) == 1


def test_episodes_are_refreshed_one_by_one(web):
    web.answers[f"{API}/episodes/{EPISODE}"] = recorded("spotify/episode")
    web.answers[f"{API}/episodes/512ojhOuo1ktJprKbVc004"] = (404, recorded("spotify/error_unknown"))
    assert set(SPOTIFY.refresh([EPISODE, "512ojhOuo1ktJprKbVc004", "no id"], TOKEN)) == {EPISODE}
    assert len(web.asked) == 2


def test_an_empty_answer_deletes_nothing(web):
    web.answers[f"{API}/episodes/{EPISODE}"] = {}
    with pytest.raises(Down):
        SPOTIFY.refresh([EPISODE], TOKEN)


def test_an_episode_stands_for_its_show(web):
    web.answers[f"{API}/episodes/{EPISODE}"] = recorded("spotify/episode")
    web.answers[f"{API}/shows/{SHOW}"] = recorded("spotify/show")
    assert SPOTIFY.resolve(Reference(Provider.SPOTIFY, "episode", EPISODE), TOKEN).channel_id == SHOW


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (f"spotify:show:{SHOW}", "id"),
        (f"https://open.spotify.com/show/{SHOW}?si=abc", "id"),
        (f"https://open.spotify.com/intl-de/show/{SHOW}", "id"),
        (f"open.spotify.com/embed/show/{SHOW}", "id"),
        (f"https://open.spotify.com/episode/{SHOW}", "episode"),
        (f"spotify:episode:{SHOW}", "episode"),
    ],
)
def test_what_a_url_names(url, kind):
    assert recognise(url) == Reference(Provider.SPOTIFY, kind, SHOW)


@pytest.mark.parametrize(
    "url", [f"https://open.spotify.com/album/{SHOW}", "https://open.spotify.com/show/x", "spotify:show:x"]
)
def test_what_is_no_show_is_not_recognised(url):
    assert SPOTIFY.recognise(url) is None


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (429, recorded("spotify/error_rate"), Throttled),
        (429, b"Too many requests", Throttled),
        (429, recorded("spotify/error_quota"), QuotaExceeded),
        (404, recorded("spotify/error_unknown"), Unknown),
        (400, recorded("spotify/error_id"), Unknown),
        (400, {"error": {"status": 400, "message": "Only valid bearer authentication supported"}}, Forbidden),
        (401, recorded("spotify/error_token"), Unauthorised),
        (403, recorded("spotify/error_scope"), Forbidden),
        (403, b"User not registered in the Developer Dashboard", Forbidden),
        (502, b"Bad gateway", Down),
        (200, b"null", Down),
    ],
)
def test_what_a_refusal_means(web, status, answer, expected):
    web.headers = {"retry-after": "79892"}
    failed = failure(web, status, answer)
    assert type(failed) is expected
    assert failed.retry_after == (79_892 if status in (429, 502) or expected is Down else 0)


def test_an_answer_that_is_no_show_says_nothing_about_the_show(web):
    web.answers[f"{API}/shows/{SHOW}"] = {"id": None}
    with pytest.raises(Down):
        SPOTIFY.latest(KNOWN, TOKEN)


def test_without_a_token_nothing_is_asked(web):
    for call in (SPOTIFY.mine, lambda access: SPOTIFY.latest(KNOWN, access)):
        with pytest.raises(Unauthorised):
            call(Access(key="a-key"))
    assert not web.asked

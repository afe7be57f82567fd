"""What there is to follow: what the account follows at the provider, and what a search finds."""

import pytest

from chalicelib.following import discovery
from chalicelib.following.stores import counters
from local.providers.catalogue import CHANNELS, SHOWS
from tests.rooms.following.conftest import ALLOTMENT, HEDGE, MEND, SLOW_SOIL

FIELDS = {"provider_channel_id", "name", "description", "image_url", "subscriber_count", "is_subscribed"}


def search(owner, provider="YOUTUBE", query="q=hedge"):
    return owner.call("GET", f"discover/{provider}/search?{query}")


def test_what_the_account_follows_at_youtube(desk):
    desk.connect("YOUTUBE")
    desk.follow("YOUTUBE", HEDGE)
    found = desk.call("GET", "discover/YOUTUBE").json
    assert [one["name"] for one in found] == ["Allotment No. 9", "Mend & Keep", "The Hedge Birds"]
    assert {frozenset(one) for one in found} == {frozenset(FIELDS)}
    assert {one["provider_channel_id"]: one["is_subscribed"] for one in found} == {
        ALLOTMENT: False,
        MEND: False,
        HEDGE: True,
    }


def test_what_the_account_has_saved_at_spotify(desk):
    desk.connect("SPOTIFY")
    found = desk.call("GET", "discover/SPOTIFY").json
    assert [one["name"] for one in found] == ["Dawn Chorus", "Slow Soil"]
    assert {one["subscriber_count"] for one in found} == {None}


@pytest.mark.parametrize("provider", ["YOUTUBE", "SPOTIFY"])
def test_lists_are_paged_through_wholly_also_when_pages_come_short(desk, provider):
    desk.connect(provider)
    whole = desk.call("GET", f"discover/{provider}").json
    desk.providers.set_fault(provider.lower(), short_pages=1)
    assert desk.call("GET", f"discover/{provider}").json == whole


def test_the_list_needs_a_connection_even_where_following_does_not(desk):
    answer = desk.call("GET", "discover/YOUTUBE")
    assert (answer.status, answer.json) == (409, {"error": "Connect YouTube first"})
    assert desk.call("GET", "discover/SPOTIFY").status == 409


def test_there_are_two_directories(desk):
    for path in ("RSS", "LINK", "youtube", "VIMEO", "%20", "RSS/search?q=x"):
        assert desk.call("GET", f"discover/{path}").status == 404, path


def test_a_search_finds_channels_with_plain_names(desk):
    (found,) = search(desk, query="q=mend").json
    assert (found["name"], found["subscriber_count"]) == ("Mend & Keep", 231_000)
    assert (set(found), found["is_subscribed"]) == (FIELDS, False)


def test_a_search_needs_no_connection_where_there_is_a_key(desk, configure):
    assert search(desk).status == 200
    configure(YOUTUBE_API_KEY="")
    assert search(desk, query="q=other").status == 409
    assert search(desk).status == 409
    assert search(desk, "SPOTIFY").status == 409


def test_a_search_for_shows(desk):
    desk.connect("SPOTIFY")
    desk.follow("SPOTIFY", SLOW_SOIL)
    (found,) = search(desk, "SPOTIFY", "q=slow").json
    assert (found["provider_channel_id"], found["is_subscribed"]) == (SLOW_SOIL, True)


def test_as_many_as_were_asked_for(desk):
    assert len(search(desk, query="q=o&limit=2").json) == 2
    assert len(search(desk, query="q=o&limit=50").json) > 2


def test_the_same_words_are_answered_from_memory_for_a_day(desk, member, later):
    first = search(desk).json
    desk.providers.forget_calls()
    assert search(desk, query="q=%20HEDGE%20").json == first
    assert search(member("ada")).json == first
    assert desk.providers.calls()["searches"] == 0
    later(days=1, minutes=1)
    search(desk)
    assert desk.providers.calls()["searches"] == 1


def test_whether_it_is_followed_is_as_of_now_and_ones_own(desk, member):
    search(desk)
    desk.follow("YOUTUBE", HEDGE)
    assert search(desk).json[0]["is_subscribed"] is True
    assert search(member("ada")).json[0]["is_subscribed"] is False


def test_what_has_ended_is_not_followed(desk):
    desk.unfollow(desk.follow("YOUTUBE", HEDGE))
    assert search(desk).json[0]["is_subscribed"] is False


def test_what_was_searched_for_is_stored_as_a_hash_only(desk):
    search(desk, query="q=allotment")
    (row,) = [row for row in counters.SearchRow.scan() if row.id.startswith("search ")]
    assert "allotment" not in row.part.casefold()


def test_a_search_that_makes_no_sense_is_refused(desk):
    texts = ("", "q=", "q=%20%20", "q=" + "x" * 101, "q=a%00b")
    for query in (*texts, "q=x&limit=0", "q=x&limit=51", "q=x&limit=many"):
        assert search(desk, query=query).status == 400, query
    assert desk.providers.calls()["searches"] == 0


def test_hundred_characters_are_not_too_many(desk):
    assert search(desk, query="q=" + "x" * 100).json == []


@pytest.mark.parametrize(("fault", "status"), [({"outage": True}, 503), ({"rate_limit": 60}, 429)])
def test_a_provider_that_does_not_answer_is_told_so(desk, fault, status):
    desk.connect("SPOTIFY")
    desk.providers.set_fault("spotify", **fault)
    for path in ("discover/SPOTIFY", "discover/SPOTIFY/search?q=soil"):
        answer = desk.call("GET", path)
        assert answer.status == status
        assert answer.headers["Retry-After"]


def test_an_answer_that_failed_is_not_remembered(desk):
    desk.connect("SPOTIFY")
    desk.providers.set_fault("spotify", outage=True)
    search(desk, "SPOTIFY", "q=soil")
    desk.providers.set_fault("spotify", reset=True)
    assert len(search(desk, "SPOTIFY", "q=soil").json) == 1


def test_there_is_a_limit_to_both_an_hour(desk, still, monkeypatch):
    monkeypatch.setattr(discovery, "_LISTS_PER_HOUR", 2)
    monkeypatch.setattr(discovery, "_SEARCHES_PER_HOUR", 2)
    desk.connect("SPOTIFY")
    assert [desk.call("GET", "discover/SPOTIFY").status for _ in range(3)] == [200, 200, 429]
    assert [search(desk, "SPOTIFY", f"q=soil{n}").status for n in range(3)] == [200, 200, 429]


def test_everything_that_is_offered_can_be_followed(desk):
    desk.connect("SPOTIFY")
    known = {*(channel.id for channel in CHANNELS), *(show.id for show in SHOWS)}
    for provider, query in (("YOUTUBE", "q=o"), ("SPOTIFY", "q=a")):
        for one in search(desk, provider, query).json:
            assert one["provider_channel_id"] in known
            assert desk.follow(provider, one["provider_channel_id"])["name"] == one["name"]

"""Following by id and by link, and the list of what is followed."""

import pytest

from chalicelib.following import model, service
from tests.rooms.following import made
from tests.rooms.following.conftest import ALLOTMENT, HEDGE, MEND, MOSS, SLOW_SOIL, TOOL_SHED

FIELDS = {
    *("id", "provider", "provider_channel_id", "creator_id", "name", "description", "image_url", "external_url"),
    *("total_items", "last_published_at", "last_polled_at", "poll_interval_seconds", "status", "disconnected_at"),
    *("disconnected_reason", "created_at", "updated_at", "options"),
}


def post(owner, **body):
    return owner.call("POST", "follows", json=body)


def test_a_channel_is_followed_by_its_id(desk):
    answer = post(desk, provider="YOUTUBE", provider_channel_id=ALLOTMENT)
    follow = answer.json
    assert (answer.status, set(follow)) == (201, FIELDS)
    assert (follow["provider"], follow["provider_channel_id"], follow["status"]) == ("YOUTUBE", ALLOTMENT, "ACTIVE")
    assert (follow["name"], follow["total_items"]) == ("Allotment No. 9", 7)
    assert follow["description"].startswith("Ten metres")
    assert follow["external_url"] == f"https://www.youtube.com/channel/{ALLOTMENT}"
    assert follow["image_url"].startswith("http")
    assert follow["options"] == {"action": "inbox", "newest_only": False, "hide_shorts": False}
    assert follow["last_polled_at"] >= follow["created_at"] > 1_700_000_000_000
    assert follow["last_published_at"] < follow["created_at"]


def test_a_show_is_followed_by_its_id(desk):
    desk.connect("SPOTIFY")
    follow = desk.follow("SPOTIFY", SLOW_SOIL)
    assert (follow["name"], follow["total_items"], follow["provider"]) == ("Slow Soil", 5, "SPOTIFY")
    assert follow["external_url"] == f"https://open.spotify.com/show/{SLOW_SOIL}"


def test_following_again_what_is_active_is_200_and_the_same(desk):
    first = desk.follow("YOUTUBE", ALLOTMENT)
    again = post(desk, provider="YOUTUBE", provider_channel_id=ALLOTMENT)
    assert (again.status, again.json["id"]) == (200, first["id"])
    assert len(desk.follows()) == 1


NO_CHANNEL = "Invalid YouTube channel ID format. Expected UC + 22 characters"
NO_SHOW = "Invalid Spotify show ID format. Expected 22 alphanumeric characters"
WRONG_IDS = [
    *(("YOUTUBE", text, NO_CHANNEL) for text in ("", "UC", "@allotmentno9", "UC" + "x" * 21, "UC" + "x" * 23)),
    *(("YOUTUBE", text, NO_CHANNEL) for text in ("XX" + "x" * 22, "UC" + "x" * 21 + "!", ALLOTMENT + "\n")),
    *(("SPOTIFY", text, NO_SHOW) for text in ("", "x" * 21, "x" * 23, "x" * 21 + "-", "x" * 21 + "ä")),
]


def test_ids_are_checked_before_anybody_is_asked(desk):
    for provider, channel_id, error in WRONG_IDS:
        answer = post(desk, provider=provider, provider_channel_id=channel_id)
        assert (answer.status, answer.json) == (400, {"error": error}), channel_id
    assert desk.providers.calls()["youtube"] == {}


@pytest.mark.parametrize(("provider", "channel_id"), [("YOUTUBE", "UC" + "x" * 22), ("SPOTIFY", "x" * 22)])
def test_what_does_not_exist_is_not_found(desk, provider, channel_id):
    desk.connect("SPOTIFY")
    assert post(desk, provider=provider, provider_channel_id=channel_id).status == 404
    assert desk.follows() == []


@pytest.mark.parametrize(
    ("provider", "channel_id", "label"), [("YOUTUBE", ALLOTMENT, "YouTube"), ("SPOTIFY", SLOW_SOIL, "Spotify")]
)
def test_without_a_connection_where_one_is_needed_it_is_refused(desk, token_only, provider, channel_id, label):
    answer = post(desk, provider=provider, provider_channel_id=channel_id)
    assert (answer.status, answer.json) == (409, {"error": f"Connect {label} first"})


def test_somebody_elses_connection_is_none_of_mine(desk, member, token_only):
    desk.connect("YOUTUBE")
    desk.follow("YOUTUBE", ALLOTMENT)
    ada = member("ada")
    assert post(ada, provider="YOUTUBE", provider_channel_id=ALLOTMENT).status == 409
    assert ada.follows() == []


def test_with_a_key_youtube_is_followed_without_a_connection(desk):
    assert post(desk, provider="YOUTUBE", provider_channel_id=ALLOTMENT).status == 201
    assert post(desk, provider="SPOTIFY", provider_channel_id=SLOW_SOIL).status == 409


LINKS = [
    "https://www.youtube.com/@allotmentno9",
    "@allotmentno9",
    "youtube.com/@AllotmentNo9",
    f"https://www.youtube.com/channel/{ALLOTMENT}",
    f"https://m.youtube.com/channel/{ALLOTMENT}/videos",
    f"https://www.youtube.com/feeds/videos.xml?channel_id={ALLOTMENT}",
    ALLOTMENT,
]


def test_a_link_or_a_handle_leads_to_the_channel(desk):
    for number, url in enumerate(LINKS):
        answer = desk.follow_url(url)
        assert (answer.status, answer.json["provider_channel_id"]) == (200 if number else 201, ALLOTMENT), url


def test_a_link_to_a_video_leads_to_its_channel(desk):
    video = desk.providers.publish(HEDGE, "Linked")
    assert desk.follow_url(f"https://youtu.be/{video}").json["provider_channel_id"] == HEDGE


def test_a_link_leads_to_the_show(desk):
    desk.connect("SPOTIFY")
    for url in (f"https://open.spotify.com/show/{SLOW_SOIL}?si=x", f"spotify:show:{SLOW_SOIL}"):
        assert desk.follow_url(url).json["provider_channel_id"] == SLOW_SOIL


def test_what_is_no_address_is_refused(desk):
    for url in ("", "nonsense", "ftp://example.org/feed", "javascript:alert(1)", "https://", "two words", "x" * 2001):
        assert desk.follow_url(url).status == 400, url


def test_a_provider_with_an_id_or_a_url_and_not_both(desk):
    both = {"provider": "YOUTUBE", "provider_channel_id": ALLOTMENT}
    wrong = ({}, {"provider": "YOUTUBE"}, {"provider_channel_id": ALLOTMENT}, both | {"provider": "VIMEO"})
    for body in (*wrong, both | {"url": "https://example.org/"}):
        assert post(desk, **body).status == 400, body


def test_without_a_status_all_but_those_that_have_ended_are_listed(desk):
    desk.connect("SPOTIFY")
    active, paused, ended = (desk.follow("YOUTUBE", channel) for channel in (ALLOTMENT, HEDGE, MEND))
    waiting = desk.follow("SPOTIFY", SLOW_SOIL)
    desk.act(paused, "pause")
    desk.unfollow(ended)
    desk.disconnect("SPOTIFY")
    assert {one["id"] for one in desk.follows()} == {active["id"], paused["id"], waiting["id"]}
    for status, follow in (
        ("ACTIVE", active),
        ("PAUSED", paused),
        ("DISCONNECTED", waiting),
        ("UNSUBSCRIBED", ended),
    ):
        (one,) = desk.follows(f"?status={status}")
        assert (one["id"], one["status"]) == (follow["id"], status)
    assert {one["id"] for one in desk.follows("?provider=YOUTUBE")} == {active["id"], paused["id"]}
    assert desk.follows("?provider=SPOTIFY&status=ACTIVE") == []
    assert desk.follows("?provider=&status=") == desk.follows()


def test_pages_are_walked_by_cursor(desk):
    desk.connect("SPOTIFY")
    made = [desk.follow("YOUTUBE", channel)["id"] for channel in (ALLOTMENT, HEDGE, MEND, MOSS)]
    made.append(desk.follow("SPOTIFY", TOOL_SHED)["id"])
    found, query = [], "?limit=2"
    while query:
        page = desk.call("GET", f"follows{query}").json
        assert set(page) == {"items", "next_cursor", "has_more"}
        assert page["has_more"] is (page["next_cursor"] is not None)
        found.append([one["id"] for one in page["items"]])
        query = f"?limit=2&cursor={page['next_cursor']}" if page["has_more"] else ""
    assert [id for page in found for id in page] == made[::-1]
    assert [len(page) for page in found] == [2, 2, 1]


def test_a_cursor_is_good_for_its_own_list_only(desk, member):
    for channel in (ALLOTMENT, HEDGE):
        desk.follow("YOUTUBE", channel)
    cursor = desk.call("GET", "follows?limit=1").json["next_cursor"]
    assert desk.call("GET", f"follows?limit=1&status=ACTIVE&cursor={cursor}").status == 400
    assert member("ada").call("GET", f"follows?limit=1&cursor={cursor}").status == 400
    assert desk.call("GET", f"follows?limit=1&cursor={cursor[:-1]}x").status == 400


def test_a_list_that_makes_no_sense_is_refused(desk):
    for query in ("limit=0", "limit=101", "limit=x", "provider=VIMEO", "status=GONE", "cursor=x"):
        assert desk.call("GET", f"follows?{query}").status == 400, query


def test_there_is_an_end_to_how_much_one_may_follow(desk, monkeypatch):
    monkeypatch.setitem(model.MOST_FOLLOWS, True, 2)
    first, _ = (desk.follow("YOUTUBE", channel) for channel in (ALLOTMENT, HEDGE))
    assert post(desk, provider="YOUTUBE", provider_channel_id=MEND).status == 409
    desk.unfollow(first)
    assert post(desk, provider="YOUTUBE", provider_channel_id=MEND).status == 201


def test_there_is_a_limit_to_new_ones_an_hour(desk, still, monkeypatch):
    monkeypatch.setattr(service, "_NEW_PER_HOUR", 3)
    statuses = [post(desk, provider="YOUTUBE", provider_channel_id=ALLOTMENT).status for _ in range(4)]
    assert statuses == [201, 200, 200, 429]


def test_one_that_has_ended_takes_room_again_when_it_is_revived(desk, monkeypatch):
    monkeypatch.setattr(model, "MOST_FOLLOWS", {True: 1, False: 1})
    desk.unfollow(desk.follow("YOUTUBE", ALLOTMENT))
    desk.follow("YOUTUBE", HEDGE)
    answer = desk.call("POST", "follows", json={"provider": "YOUTUBE", "provider_channel_id": ALLOTMENT})
    assert (answer.status, answer.json) == (409, {"error": "At most 1 follows are possible"})


def test_there_is_an_end_to_follows_that_have_ended_and_those_can_be_revived(desk, monkeypatch):
    monkeypatch.setattr(model, "MOST_FOLLOWS", {True: 1, False: 1})
    ended = [desk.follow("YOUTUBE", ALLOTMENT)]
    desk.unfollow(ended[0])
    for number in range(3):
        made_one = made.follow(number=number)
        desk.unfollow({"id": made_one.id})
    answer = desk.call("POST", "follows", json={"provider": "YOUTUBE", "provider_channel_id": HEDGE})
    reason = "Too many follows have ended. Follow one of those again, or nothing new"
    assert (answer.status, answer.json) == (409, {"error": reason})
    assert desk.follow("YOUTUBE", ALLOTMENT)["id"] == ended[0]["id"]

"""What the small providers answer, against what Google and Spotify document and have been seen to answer."""

import io

import pytest
from PIL import Image

from local.providers.catalogue import ACCOUNT, CHANNELS, SHOWS, SUBSCRIBED
from tests.local.provider_calls import ask, code_from, connect, exchange, renew, spotify, youtube
from tests.local.provider_fields import problems

GARDEN, BIRDS, MENDING, COMPOST, MOSS = CHANNELS
SOIL, CHORUS, SHED = SHOWS
ALL_PARTS = {
    "channels": "id,snippet,contentDetails,statistics,status",
    "subscriptions": "id,snippet,contentDetails",
    "playlistItems": "id,snippet,contentDetails,status",
    "videos": "id,snippet,contentDetails,status,statistics,liveStreamingDetails",
    "search": "snippet",
}
KINDS = {
    "channels": "ChannelListResponse",
    "subscriptions": "SubscriptionListResponse",
    "playlistItems": "PlaylistItemListResponse",
    "videos": "VideoListResponse",
    "search": "SearchListResponse",
}


@pytest.fixture
def token(providers):
    return connect(providers, "youtube")["access_token"]


@pytest.fixture
def listener(providers):
    return connect(providers, "spotify")["access_token"]


def titles(answer):
    return [item["snippet"]["title"] for item in answer.json["items"]]


def uploads(providers, channel=GARDEN, **query):
    return youtube(
        providers,
        "playlistItems",
        part="snippet,contentDetails,status",
        playlistId=channel.uploads,
        maxResults=50,
        **query,
    )


# Fields


@pytest.mark.parametrize("name", KINDS)
def test_every_list_of_youtube_has_the_documented_fields(providers, token, name):
    premiere = providers.publish(GARDEN.id, "Soon", "upcoming")
    gone = providers.publish(GARDEN.id, "Gone")
    providers.delete(gone, leave_entry=True)
    asked = {
        "channels": {"id": f"{GARDEN.id},{MOSS.id}"},
        "subscriptions": {"mine": "true"},
        "playlistItems": {"playlistId": GARDEN.uploads},
        "videos": {"id": ",".join([premiere, *(video.id for video in providers.library.uploads(BIRDS.id))])},
        "search": {"q": "e"},
    }[name]
    answer = youtube(providers, name, token, part=ALL_PARTS[name], maxResults=50, **asked).json
    assert answer["kind"].lower() == f"youtube#{KINDS[name]}".lower()
    assert len(answer["items"]) >= 2
    assert problems(answer, KINDS[name]) == []


def test_every_answer_of_spotify_has_the_documented_fields(providers, listener):
    providers.publish(SHED.id, "Not here", "hidden")
    episode = providers.publish(SHED.id, "Here")
    paths = {
        "me": "PrivateUser",
        "me/shows": "SavedShowPage",
        f"shows/{SHED.id}": "Show",
        f"shows/{SHED.id}/episodes": "EpisodePage",
        f"episodes/{episode}": "Episode",
    }
    for path, kind in paths.items():
        answer = spotify(providers, path, listener, market="DE")
        assert (path, answer.status, problems(answer.json, kind)) == (path, 200, [])
    found = spotify(providers, "search", listener, q="the", type="show")
    assert problems(found.json, "ShowSearch") == []


@pytest.mark.parametrize("provider", ["youtube", "spotify"])
def test_tokens_and_their_refusals_have_the_documented_fields(providers, provider):
    tokens = exchange(providers, provider, code_from(providers, provider)).json
    assert problems(tokens, "Tokens") == []
    assert problems(renew(providers, provider, tokens["refresh_token"]).json, "Tokens") == []
    assert problems(renew(providers, provider, "made-up").json, "TokenError") == []


def test_refusals_have_the_documented_fields(providers, listener):
    refused = [
        youtube(providers, "channels", part="id", id=GARDEN.id, maxResults=51),
        youtube(providers, "playlistItems", part="id", playlistId="UU" + "x" * 22),
        youtube(providers, "channels", "made-up", part="id", mine="true"),
    ]
    for fault in ("quota", "outage", "search_quota"):
        providers.set_fault("youtube", reset=True, **{fault: True})
        refused.append(youtube(providers, "search", part="id", q="x"))
    assert [problems(answer.json, "GoogleError") for answer in refused] == [[]] * len(refused)
    refused = [spotify(providers, "shows/short", listener), spotify(providers, "me", "made-up")]
    providers.set_fault("spotify", quota=True)
    refused.append(spotify(providers, "me", listener))
    assert [problems(answer.json, "SpotifyError") for answer in refused] == [[]] * len(refused)


def test_the_check_of_fields_finds_what_is_wrong():
    right = {"totalResults": 1, "resultsPerPage": 5}
    assert problems(right, "PageInfo") == []
    assert problems(right | {"more": 1}, "PageInfo") == ["$.more: unknown"]
    assert problems({"totalResults": "1"}, "PageInfo") == ["$.totalResults: not integer", "$.resultsPerPage: missing"]
    assert problems({"url": "x", "width": True}, "Thumbnail") == ["$.width?: not integer"]
    assert problems([None, 3], ["SimplifiedEpisode|null"])


# YouTube


def test_only_the_parts_that_were_asked_for_are_answered(providers):
    item = youtube(providers, "channels", part="statistics", id=GARDEN.id).json["items"][0]
    assert item.keys() == {"kind", "etag", "id", "statistics"}
    assert youtube(providers, "channels", id=GARDEN.id).reason == "required"
    assert youtube(providers, "channels", part="nonsense", id=GARDEN.id).reason == "unknownPart"


def test_channels_are_found_by_id_by_handle_and_by_the_person(providers, token):
    assert youtube(providers, "channels", part="id", forHandle="@HedgeBirds").json["items"][0]["id"] == BIRDS.id
    assert youtube(providers, "channels", part="id", forHandle="hedgebirds").json["items"][0]["id"] == BIRDS.id
    assert youtube(providers, "channels", token, part="id", mine="true").json["items"][0]["id"] == ACCOUNT.id
    assert youtube(providers, "channels", part="id", mine="true").reason == "authorizationRequired"
    assert youtube(providers, "channels", part="id").reason == "missingRequiredParameter"


def test_an_unknown_channel_is_an_answer_without_items(providers):
    for asked in ({"id": "UC" + "x" * 22}, {"forHandle": "@nobody"}, {"forUsername": "nobody"}):
        answer = youtube(providers, "channels", part="id", **asked)
        assert (answer.status, "items" in answer.json) == (200, False)
    assert youtube(providers, "videos", part="id", id="x" * 11).json["items"] == []


def test_a_caller_is_known_by_a_key_or_a_token(providers):
    path = f"{providers.youtube}/youtube/v3/channels?part=id&id={GARDEN.id}"
    assert ask(path).reason == "forbidden"
    wrong = ask(f"{path}&key=wrong")
    assert (wrong.status, wrong.json["error"]["details"][0]["reason"]) == (400, "API_KEY_INVALID")
    assert ask(path, Authorization="Bearer made-up").reason == "authError"
    other = connect(providers, "youtube", scope="https://www.googleapis.com/auth/userinfo.profile")["access_token"]
    assert ask(path, Authorization=f"Bearer {other}").reason == "insufficientPermissions"


def test_a_person_is_subscribed_to_three_channels(providers, token):
    answer = youtube(providers, "subscriptions", token, part="snippet", mine="true").json
    assert [item["snippet"]["resourceId"]["channelId"] for item in answer["items"]] == list(SUBSCRIBED)
    assert youtube(providers, "subscriptions", part="snippet", mine="true").status == 401


def test_the_playlist_of_a_channel_without_videos_does_not_exist(providers):
    assert uploads(providers, MOSS).reason == "playlistNotFound"
    related = youtube(providers, "channels", part="contentDetails", id=MOSS.id).json["items"][0]["contentDetails"]
    assert related["relatedPlaylists"]["uploads"] == MOSS.uploads
    providers.publish(MOSS.id, "Moss, after all")
    assert titles(uploads(providers, MOSS)) == ["Moss, after all"]


def test_long_videos_and_shorts_have_playlists_of_their_own(providers):
    providers.publish(BIRDS.id, "Ten seconds", "short")
    long = youtube(providers, "playlistItems", part="snippet", playlistId="UULF" + BIRDS.id[2:], maxResults=50)
    short = youtube(providers, "playlistItems", part="snippet", playlistId="UUSH" + BIRDS.id[2:], maxResults=50)
    assert titles(short) == ["Ten seconds", "Goldfinch, close"]
    assert "Ten seconds" in titles(uploads(providers, BIRDS))
    assert not {*titles(long)} & {*titles(short)}


def test_a_private_video_is_listed_without_its_name_and_its_date(providers):
    video = providers.publish(GARDEN.id, "Secret", "private")
    item = uploads(providers).json["items"][0]
    assert (item["snippet"]["title"], item["snippet"]["thumbnails"]) == ("Private video", {})
    assert (item["contentDetails"], item["status"]) == ({"videoId": video}, {"privacyStatus": "private"})
    assert youtube(providers, "videos", part="id", id=video).json["items"] == []
    providers.change(video, public=True)
    assert titles(uploads(providers))[0] == "Secret"


def test_a_deleted_video_disappears_or_leaves_an_entry_of_another_status(providers):
    video, other = providers.publish(GARDEN.id, "One"), providers.publish(GARDEN.id, "Two")
    providers.delete(video)
    providers.delete(other, leave_entry=True)
    item = uploads(providers).json["items"][0]
    assert (item["snippet"]["title"], item["status"]["privacyStatus"]) == (
        "Deleted video",
        "privacyStatusUnspecified",
    )
    assert video not in uploads(providers).text
    assert youtube(providers, "videos", part="id", id=f"{video},{other}").json["items"] == []


def test_a_premiere_is_listed_at_once_and_only_the_video_says_that_it_is_upcoming(providers):
    video = providers.publish(GARDEN.id, "Soon", "upcoming")
    item = uploads(providers).json["items"][0]
    assert (item["snippet"]["title"], item["status"]["privacyStatus"]) == ("Soon", "public")
    told = youtube(providers, "videos", part="snippet,contentDetails,liveStreamingDetails", id=video).json["items"][0]
    assert (told["snippet"]["liveBroadcastContent"], told["contentDetails"]["duration"]) == ("upcoming", "P0D")
    providers.advance(700)
    told = youtube(providers, "videos", part="snippet,liveStreamingDetails", id=video).json["items"][0]
    assert told["snippet"]["liveBroadcastContent"] == "none"
    assert "liveStreamingDetails" not in told


def test_a_scheduled_video_comes_out_below_those_that_were_uploaded_later(providers):
    providers.publish(GARDEN.id, "Scheduled", "scheduled")
    providers.publish(GARDEN.id, "Uploaded later")
    assert titles(uploads(providers))[:2] == ["Uploaded later", "Private video"]
    providers.advance(700)
    first, second = uploads(providers).json["items"][:2]
    assert second["snippet"]["title"] == "Scheduled"
    assert second["contentDetails"]["videoPublishedAt"] > first["contentDetails"]["videoPublishedAt"]


def test_pages_are_followed_by_their_token(providers):
    for number in range(60):
        providers.publish(MOSS.id, f"Number {number}")
    first = uploads(providers, MOSS).json
    second = uploads(providers, MOSS, pageToken=first["nextPageToken"]).json
    assert (len(first["items"]), len(second["items"]), "nextPageToken" in second) == (50, 10, False)
    assert first["pageInfo"] == {"totalResults": 60, "resultsPerPage": 50}
    assert second["items"][0]["snippet"]["position"] == 50
    assert uploads(providers, MOSS, pageToken="nonsense").reason == "invalidPageToken"
    providers.set_fault("youtube", short_pages=3)
    assert (len(uploads(providers, MOSS).json["items"]), "nextPageToken" in uploads(providers, MOSS).json) == (
        3,
        True,
    )


def test_only_a_search_answers_with_escaped_titles(providers):
    found = youtube(providers, "search", part="snippet", q="mend", type="channel")
    assert titles(found) == ["Mend &amp; Keep"]
    assert found.json["items"][0]["id"] == {"kind": "youtube#channel", "channelId": MENDING.id}
    assert titles(youtube(providers, "channels", part="snippet", id=MENDING.id)) == ["Mend & Keep"]
    assert titles(youtube(providers, "search", part="snippet", q="leaf mould")) == [
        "Leaf mould &lt;and other gold&gt;"
    ]
    assert youtube(providers, "search", part="snippet", q="x", maxResults=51).status == 400


def test_at_most_fifty_ids_at_once(providers):
    assert youtube(providers, "videos", part="id", id=",".join(["x" * 11] * 51)).status == 400


def test_an_answer_that_is_known_already_is_not_repeated(providers):
    url = f"{providers.youtube}/youtube/v3/channels?part=id&id={GARDEN.id}&key=local-api-key"
    first = ask(url)
    again = ask(url, If_None_Match=first.headers["ETag"])
    assert (again.status, again.body) == (304, b"")


def test_the_feed_of_a_channel_has_its_public_videos(providers):
    providers.publish(MENDING.id, "A & B")
    answer = ask(f"{providers.youtube}/xml/feeds/videos.xml?channel_id={MENDING.id}")
    assert answer.status == 200
    assert "<title>A &amp; B</title>" in answer.text
    assert "Rough cut" not in ask(f"{providers.youtube}/feeds/videos.xml?channel_id={GARDEN.id}").text
    assert ask(f"{providers.youtube}/xml/feeds/videos.xml?channel_id=UCnobody").status == 404


def test_pictures_are_real_and_have_the_size_they_say(providers):
    item = uploads(providers, BIRDS).json["items"][0]
    for thumbnail in item["snippet"]["thumbnails"].values():
        picture = Image.open(io.BytesIO(ask(thumbnail["url"]).body))
        picture.load()
        assert (picture.format, picture.size) == ("PNG", (thumbnail["width"], thumbnail["height"]))


# Spotify


def test_a_person_has_saved_two_shows(providers, listener):
    answer = spotify(providers, "me/shows", listener, limit=1).json
    assert (answer["total"], answer["items"][0]["show"]["name"]) == (2, "Slow Soil")
    assert ask(answer["next"], Authorization=f"Bearer {listener}").json["items"][0]["show"]["name"] == "Dawn Chorus"
    other = connect(providers, "spotify", scope="")["access_token"]
    assert spotify(providers, "me/shows", other).status == 403


def test_a_show_brings_its_first_fifty_episodes(providers, listener):
    show = spotify(providers, f"shows/{CHORUS.id}", listener).json
    assert (show["total_episodes"], len(show["episodes"]["items"]), show["episodes"]["limit"]) == (62, 50, 50)
    last = spotify(providers, f"shows/{CHORUS.id}/episodes", listener, offset=50, limit=50).json
    assert (len(last["items"]), last["next"]) == (12, None)


def test_one_show_lists_its_oldest_episode_first(providers, listener):
    providers.publish(CHORUS.id, "The latest")
    providers.publish(SOIL.id, "The latest")
    chorus = spotify(providers, f"shows/{CHORUS.id}/episodes", listener, limit=50, offset=50).json["items"]
    assert chorus[-1]["name"] == "The latest"
    dates = [item["release_date"] for item in chorus]
    assert dates == sorted(dates)
    assert spotify(providers, f"shows/{SOIL.id}/episodes", listener).json["items"][0]["name"] == "The latest"


def test_episodes_may_be_nothing_upcoming_or_of_an_imprecise_date(providers, listener):
    providers.publish(SHED.id, "Of a year", released="2019")
    providers.publish(SHED.id, "Tomorrow", "upcoming")
    hidden = providers.publish(SHED.id, "Nothing", "hidden")
    nothing, tomorrow, year = spotify(providers, f"shows/{SHED.id}/episodes", listener).json["items"][:3]
    assert nothing is None
    assert tomorrow["release_date_precision"] == "day"
    assert (year["release_date"], year["release_date_precision"]) == ("2019", "year")
    assert spotify(providers, f"episodes/{hidden}", listener).status == 404


def test_spotify_searches_ten_at_a_time(providers, listener):
    found = spotify(providers, "search", listener, q="slow soil", type="show", limit=10).json
    assert [show["name"] for show in found["shows"]["items"]] == ["Slow Soil"]
    assert spotify(providers, "search", listener, q="slow", type="show", limit=11).json == {
        "error": {"status": 400, "message": "Invalid limit"}
    }
    assert spotify(providers, "search", listener, q="day", type="episode").json["episodes"]["total"] == 62


@pytest.mark.parametrize(
    ("path", "status"),
    [("shows/short", 400), (f"shows/{'0' * 22}", 404), (f"episodes/{'0' * 22}", 404), ("me/nonsense", 404)],
)
def test_what_spotify_does_not_know(providers, listener, path, status):
    answer = spotify(providers, path, listener)
    assert (answer.status, answer.json["error"]["status"]) == (status, status)


def test_spotify_wants_a_token_that_has_not_expired(providers, listener):
    assert ask(f"{providers.spotify}/v1/me").json["error"]["message"] == "No token provided"
    assert spotify(providers, "me", "made-up").json["error"]["message"] == "Invalid access token"
    providers.advance(3_600)
    assert spotify(providers, "me", listener).json["error"]["message"] == "The access token expired"

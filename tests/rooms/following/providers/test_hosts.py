"""One base URL may stand for all hosts of a provider; then the real paths are below it. Over a real connection."""

import json

import pytest

from chalicelib.following.providers.contract import Access, Down, Known, Reference
from chalicelib.following.providers.registry import GRANTS, SOURCES, recognise
from chalicelib.inbox.model import Provider
from tests.rooms.following.providers.sources import CHANNEL, SHOW
from tests.rooms.following.providers.web import recorded

TOKEN = Access(token="a-token")


@pytest.fixture
def home(blog, configure):
    """Both providers on one server, each below a prefix."""
    configure(YOUTUBE_ORIGIN=f"{blog.url}/youtube", SPOTIFY_ORIGIN=f"{blog.url}/spotify/")
    return blog


def serve(home, answer, status=200, **headers):
    home.answer = (status, headers, json.dumps(answer).encode())


def test_the_paths_below_the_origin_are_the_real_ones(home):
    serve(home, recorded("youtube/channels"))
    SOURCES[Provider.YOUTUBE].resolve(Reference(Provider.YOUTUBE, "id", CHANNEL), TOKEN)
    serve(home, recorded("spotify/show"))
    SOURCES[Provider.SPOTIFY].resolve(Reference(Provider.SPOTIFY, "id", SHOW), TOKEN)
    paths = [asked["path"].partition("?")[0] for asked in home.asked]
    assert paths == ["/youtube/youtube/v3/channels", f"/spotify/v1/shows/{SHOW}"]
    assert {asked["authorization"] for asked in home.asked} == {"Bearer a-token"}


def test_consent_and_tokens_are_there_too(home):
    assert GRANTS[Provider.YOUTUBE].authorize_url() == f"{home.url}/youtube/o/oauth2/v2/auth"
    assert GRANTS[Provider.SPOTIFY].authorize_url() == f"{home.url}/spotify/authorize"
    for grants in GRANTS.values():
        with pytest.raises(Down):  # it accepts whatever is posted, and gives nothing back
            grants.renew("the-token")
    with pytest.raises(Down):
        GRANTS[Provider.YOUTUBE].revoke("the-token")
    assert [path for path, _ in home.posted] == ["/youtube/token", "/spotify/api/token", "/youtube/revoke"]


def test_the_hub_is_replaced_and_the_topic_is_not(home):
    serve(home, recorded("youtube/uploads"))
    page = SOURCES[Provider.YOUTUBE].latest(Known(CHANNEL), TOKEN)
    assert page.hub == f"{home.url}/youtube/subscribe"
    assert page.topic == f"https://www.youtube.com/xml/feeds/videos.xml?channel_id={CHANNEL}"
    assert page.items[0].url.startswith("https://www.youtube.com/watch?v=")


def test_what_is_below_the_origin_is_recognised_as_the_providers_own(home):
    assert recognise(f"{home.url}/youtube/@jago") == Reference(Provider.YOUTUBE, "handle", "jago")
    assert recognise(f"{home.url}/youtube/channel/{CHANNEL}").kind == "id"
    assert recognise(f"{home.url}/spotify/show/{SHOW}") == Reference(Provider.SPOTIFY, "id", SHOW)
    assert recognise(f"{home.url}/other/@jago").provider is Provider.RSS


def test_a_redirect_is_not_followed_because_it_would_take_the_token_along(home):
    serve(home, {}, 302, Location=f"{home.url}/moved.xml")
    for provider, channel_id in ((Provider.YOUTUBE, CHANNEL), (Provider.SPOTIFY, SHOW)):
        with pytest.raises(Down):
            SOURCES[provider].latest(Known(channel_id), TOKEN)
    assert not [asked for asked in home.asked if asked["path"] == "/moved.xml"]

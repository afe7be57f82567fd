"""The pages of the small providers: publishing, deleting, breaking and mending by plain forms."""

import html
import re
from datetime import datetime, timedelta
from urllib.parse import unquote, urlsplit

import pytest

from local.providers.catalogue import CHANNELS, SHOWS
from tests.local.provider_calls import ask, authorize_url, connect, spotify, youtube

GARDEN, MOSS = CHANNELS[0], CHANNELS[4]
SOIL = SHOWS[0]


def submit(providers, path, **form):
    """What a browser does: where it is led afterwards, and what it is told there."""
    answer = ask(f"{providers.url}{path}", form, Sec_Fetch_Site="same-origin")
    if answer.status != 303:
        return answer.status, ""
    place = urlsplit(answer.headers["Location"])
    page = ask(f"{providers.url}{place.path}?{place.query}")
    told = re.search(r'role="status">(.*?)</p>', page.text)[1]
    assert unquote(place.query.removeprefix("done=")) == html.unescape(told)
    return place.path, told


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/",
            "/youtube",
            "/spotify",
            "/youtube/@hedgebirds",
            f"/youtube/channel/{MOSS.id}",
            "/youtube/c/composthour",
        ),
        f"/spotify/show/{SOIL.id}",
    ],
)
def test_every_page_is_there_and_allows_no_scripts(providers, path):
    answer = ask(f"{providers.url}{path}")
    assert answer.status == 200
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "<script" not in answer.text
    assert " style=" not in answer.text


@pytest.mark.parametrize("path", ["/nonsense", "/youtube/@nobody", "/spotify/show/nobody", "/youtube/watch?v=x"])
def test_there_is_no_other_page(providers, path):
    assert ask(f"{providers.url}{path}").status == 404


def test_a_page_of_a_channel_names_the_real_one(providers):
    page = ask(f"{providers.youtube}/c/hedgebirds").text
    assert f'<link rel="canonical" href="https://www.youtube.com/channel/{CHANNELS[1].id}">' in page


def test_a_video_is_published_hidden_shown_and_deleted(providers):
    form = {"channel": MOSS.id, "title": "Moss <1>", "kind": "normal", "back": "/youtube/@mossandstone"}
    assert submit(providers, "/youtube/manage/publish", **form)[0] == "/youtube/@mossandstone"
    [video] = providers.library.uploads(MOSS.id)
    assert "Moss &lt;1&gt;" in ask(f"{providers.url}/youtube/@mossandstone").text
    submit(providers, "/youtube/manage/visibility", id=video.id, public="no")
    assert providers.library.video(video.id).state == "private"
    submit(providers, "/youtube/manage/visibility", id=video.id, public="yes")
    assert providers.library.video(video.id).is_public
    assert submit(providers, "/youtube/manage/delete", id=video.id) == ("/youtube", "The video has been deleted.")
    assert providers.library.uploads(MOSS.id) == []


def test_a_premiere_starts_at_the_minute_that_was_chosen(providers):
    at = (datetime.now().astimezone() + timedelta(hours=2)).replace(second=0, microsecond=0)
    form = {"channel": MOSS.id, "title": "Later", "kind": "upcoming", "at": f"{at:%Y-%m-%dT%H:%M}"}
    submit(providers, "/youtube/manage/publish", **form)
    [video] = providers.library.uploads(MOSS.id)
    assert (video.state, video.published) == ("premiere", at.timestamp())


def test_an_episode_is_published_and_deleted(providers):
    form = {"show": SOIL.id, "title": "By form", "kind": "upcoming", "released": "2031-05-06"}
    assert submit(providers, "/spotify/manage/publish", **form) == ("/spotify", "Published: By form")
    episode = providers.library.episodes(SOIL.id)[0]
    assert (episode.name, episode.released) == ("By form", "2031-05-06")
    submit(providers, "/spotify/manage/delete", id=episode.id)
    assert providers.library.episodes(SOIL.id)[0].name != "By form"


@pytest.mark.parametrize("provider", ["youtube", "spotify"])
def test_nothing_is_published_without_a_title(providers, provider):
    form = {"channel": MOSS.id, "show": SOIL.id, "title": "  ", "kind": "normal"}
    assert "Nothing was published" in submit(providers, f"/{provider}/manage/publish", **form)[1]


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/youtube/manage/publish", {"channel": "nobody", "title": "x", "kind": "normal"}),
        ("/youtube/manage/publish", {"channel": MOSS.id, "title": "x", "kind": "nonsense"}),
        ("/youtube/manage/publish", {"channel": MOSS.id, "title": "x", "kind": "upcoming", "at": "soon"}),
        ("/spotify/manage/publish", {"show": SOIL.id, "title": "x", "kind": "upcoming", "released": "soon"}),
        ("/youtube/manage/faults", {"slow": "long"}),
        ("/youtube/manage/nonsense", {}),
    ],
)
def test_a_form_that_was_made_up_changes_nothing(providers, path, form):
    before = (dict(providers.state.videos), dict(providers.state.episodes))
    assert submit(providers, path, **form)[0] == 404
    assert (providers.state.videos, providers.state.episodes) == before


def test_nobody_is_led_elsewhere(providers):
    for back in ("https://evil.example.org", "//evil.example.org", "/youtube/../..//evil", "/youtube\\evil"):
        form = {"channel": MOSS.id, "title": "x", "kind": "normal", "back": back}
        answer = ask(f"{providers.url}/youtube/manage/publish", form)
        assert answer.headers["Location"].startswith("/youtube?")


def test_things_are_broken_and_mended_by_a_form(providers):
    told = submit(providers, "/youtube/manage/faults", quota="on", slow="0", rate_limit="0")
    assert told == ("/youtube", "The faults are set.")
    assert youtube(providers, "channels", part="id", id=GARDEN.id).reason == "quotaExceeded"
    assert "Set to be broken: quota." in ask(f"{providers.url}/youtube").text
    assert submit(providers, "/youtube/manage/faults", quota="on", reset="yes")[1] == "Everything works."
    assert youtube(providers, "channels", part="id", id=GARDEN.id).status == 200


def test_a_person_withdraws_access_on_the_page(providers):
    token = connect(providers, "spotify")["access_token"]
    assert "Gna has access." in ask(f"{providers.url}/spotify").text
    submit(providers, "/spotify/manage/disconnect")
    assert spotify(providers, "me", token).status == 401
    assert "No app has access." in ask(f"{providers.url}/spotify").text


def test_a_consent_page_sends_on_exactly_what_it_was_asked_with(providers):
    page = ask(authorize_url(providers, "spotify", state='"><b>')).text
    assert "<b>" not in page.replace("<body", "")
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page))
    assert fields["state"] == "&#34;&gt;&lt;b&gt;"
    assert {"client_id", "redirect_uri", "code_challenge", "scope"} <= fields.keys()

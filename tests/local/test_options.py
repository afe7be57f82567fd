import json

import pytest

from chalicelib.kernel import ciphers
from local.options import BadOption, environment, has_providers, read
from local.providers import credentials


@pytest.fixture
def options(tmp_path):
    return read({"LOCAL_DIR": str(tmp_path), "PORT": "8100"})


def test_settings_of_the_caller_win_over_the_runners_own(options):
    env = environment(options, {"DISABLE_AUTH": "false", "FEED_URL": "http://127.0.0.1:9/feed"})
    assert (env["DISABLE_AUTH"], env["FEED_URL"]) == ("false", "http://127.0.0.1:9/feed")


def test_by_default_authentication_is_off_and_the_demo_feed_is_checked(options):
    env = environment(options, {})
    assert (env["DISABLE_AUTH"], env["GNA_LOCAL"]) == ("true", "true")
    assert env["FEED_URL"] == "http://127.0.0.1:8100/demo/feed.xml"


def test_no_variable_of_a_real_account_is_passed_on(options):
    env = environment(options, {"AWS_PROFILE": "work", "AWS_SECRET_ACCESS_KEY": "real", "AWS_ENDPOINT_URL": "x"})
    assert not [name for name in env if name.startswith("AWS_")]


def test_secrets_are_made_once_and_are_for_the_owner_only(options):
    first, second = environment(options, {}), environment(options, {})
    assert first["SECRET_KEY"] == second["SECRET_KEY"]
    kept = options.folder / "secrets.json"
    assert json.loads(kept.read_text())["SECRET_KEY"] == first["SECRET_KEY"]
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"PORT": "8025"}, "PORT and MAIL_PORT are both 8025"),
        ({"PORT": "8026"}, "PORT and PROVIDERS_PORT are both 8026"),
        ({"PROVIDERS_PORT": "8025"}, "MAIL_PORT and PROVIDERS_PORT are both 8025"),
    ],
)
def test_the_ports_must_differ(given, names):
    with pytest.raises(BadOption, match=names):
        read(given)


def test_a_small_youtube_and_a_small_spotify_are_supplied(options):
    env = environment(options, {})
    assert env["YOUTUBE_ORIGIN"] == "http://127.0.0.1:8026/youtube"
    assert env["SPOTIFY_ORIGIN"] == "http://127.0.0.1:8026/spotify"
    assert {**credentials.YOUTUBE, **credentials.SPOTIFY}.items() <= env.items()
    assert has_providers(options, env)


def test_a_real_client_id_is_not_sent_to_the_small_youtube(options):
    env = environment(options, {"YOUTUBE_CLIENT_ID": "a-real-one"})
    assert env["YOUTUBE_CLIENT_ID"] == "a-real-one"
    assert not {"YOUTUBE_ORIGIN", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_API_KEY"} & env.keys()
    assert env["SPOTIFY_ORIGIN"]


def test_the_client_id_of_the_small_youtube_is_not_sent_to_another(options):
    for origin in ("", "https://proxy.example.org/youtube"):
        env = environment(options, {"YOUTUBE_ORIGIN": origin})
        assert env["YOUTUBE_ORIGIN"] == origin
        assert not credentials.YOUTUBE.keys() & env.keys()


def test_what_is_set_to_nothing_is_not_configured(options):
    env = environment(options, {"YOUTUBE_API_KEY": "", "SPOTIFY_CLIENT_ID": "", "TOKEN_KEYS": "", "SITE_NAME": ""})
    assert (env["YOUTUBE_API_KEY"], env["SPOTIFY_CLIENT_ID"], env["TOKEN_KEYS"]) == ("", "", "")
    assert env["YOUTUBE_CLIENT_ID"] == credentials.YOUTUBE["YOUTUBE_CLIENT_ID"]
    assert env["SITE_NAME"] == "The Slow Garden"


def test_without_either_of_them_no_small_provider_is_needed(options):
    env = environment(options, {"YOUTUBE_ORIGIN": "", "SPOTIFY_CLIENT_ID": "a-real-one"})
    assert not has_providers(options, env)


def test_a_folder_from_before_gets_the_secrets_it_lacks_and_keeps_its_own(options):
    kept = options.folder / "secrets.json"
    kept.write_text(json.dumps({"SECRET_KEY": "s" * 43, "WEBHOOK_SECRET": "w" * 43}))
    kept.chmod(0o600)
    first, second = environment(options, {}), environment(options, {})
    assert (first["SECRET_KEY"], first["WEBHOOK_SECRET"]) == ("s" * 43, "w" * 43)
    assert first["TOKEN_KEYS"] == second["TOKEN_KEYS"]
    assert list(ciphers.parse_ring(first["TOKEN_KEYS"])) == [1]
    assert kept.stat().st_mode & 0o777 == 0o600

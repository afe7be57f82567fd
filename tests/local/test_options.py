import json

import pytest

from local.options import BadOption, environment, read


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


def test_the_two_ports_must_differ(tmp_path):
    with pytest.raises(BadOption, match="MAIL_PORT"):
        read({"PORT": "8025"})

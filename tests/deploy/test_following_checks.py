"""What the doctor says about following YouTube and Spotify."""

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from chalicelib.kernel import ciphers, settings
from chalicelib.kernel.findings import Finding, Level
from deploy import secrets
from deploy.checks import following
from deploy.stage import Stage

SITE = {"SITE_URL": "https://news.example.org"}
YOUTUBE = SITE | {"YOUTUBE_CLIENT_ID": "one.apps.googleusercontent.com"}
SPOTIFY = SITE | {"SPOTIFY_CLIENT_ID": "0123456789abcdef"}


@pytest.fixture(autouse=True)
def _account() -> Iterator[None]:
    with mock_aws():
        secrets.ensure(boto3.client, Stage("test", {}))
        yield


def put(name: str, value: str = "issued", kind: str = "SecureString") -> None:
    boto3.client("ssm").put_parameter(Name=f"/gna/test/{name}", Value=value, Type=kind, Overwrite=True)


def check(given: dict[str, str]) -> list[Finding]:
    return list(following.check(boto3.client, Stage("test", given), settings.load(given)))


def errors(given: dict[str, str]) -> list[str]:
    return [finding.text for finding in check(given) if finding.level is Level.ERROR]


def test_without_any_client_there_is_nothing_to_say():
    assert check(SITE) == []
    put("YOUTUBE_API_KEY")
    assert check(SITE) == []


def test_a_client_without_its_secret_and_a_secret_without_its_client_are_errors():
    (said,) = errors(YOUTUBE)
    assert "YOUTUBE_CLIENT_ID is set without YOUTUBE_CLIENT_SECRET" in said
    assert "--name /gna/test/YOUTUBE_CLIENT_SECRET" in said
    put("YOUTUBE_CLIENT_SECRET")
    assert errors(YOUTUBE) == []
    (said,) = errors(SITE)
    assert "YOUTUBE_CLIENT_ID is not set" in said


def test_a_missing_api_key_is_noted_once_there_is_a_client():
    def noted() -> list[str]:
        return [finding.message for finding in check(YOUTUBE) if "YOUTUBE_API_KEY" in finding.message]

    assert noted() == ["YOUTUBE_API_KEY is not in the parameter store"]
    put("YOUTUBE_API_KEY")
    assert noted() == []


TWICE = f"{ciphers.make_key(1)},{ciphers.make_key(1)}"


@pytest.mark.parametrize("ring", ["nonsense", "1:short", TWICE], ids=["nonsense", "short", "twice"])
def test_a_malformed_ring_is_an_error_that_does_not_show_it(ring):
    put("TOKEN_KEYS", ring)
    (said,) = errors(SITE)
    assert said.startswith("TOKEN_KEYS is not a list")
    assert "no connected account can be used" in said
    assert ring not in said


def test_a_missing_ring_is_left_to_the_check_of_secrets():
    boto3.client("ssm").delete_parameter(Name="/gna/test/TOKEN_KEYS")
    assert check(SITE) == []


def test_a_secret_in_plain_text_is_an_error():
    put("YOUTUBE_API_KEY", kind="String")
    (said,) = errors(SITE)
    assert "/gna/test/YOUTUBE_API_KEY is not encrypted" in said


@pytest.mark.parametrize(("client", "provider"), [(YOUTUBE, "YouTube"), (SPOTIFY, "Spotify")])
def test_the_redirect_uris_to_register_are_those_of_the_site(client, provider):
    def told(**more: str) -> list[str]:
        return [finding.fix for finding in check(client | more) if finding.message.startswith(f"{provider}'s client")]

    editors, everybody = (
        "https://news.example.org/admin/following/callback",
        "https://news.example.org/following/callback",
    )
    assert told() == [f"Register {editors} as redirect URI"]
    assert told(MEMBERS="open") == [f"Register {editors} and {everybody} as redirect URI"]


def test_a_market_nobody_chose_is_noted():
    assert "not published in US" in " ".join(finding.text for finding in check(SPOTIFY))
    assert "not published" not in " ".join(finding.text for finding in check(SPOTIFY | {"SPOTIFY_MARKET": "DE"}))

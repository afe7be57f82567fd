"""What a token with an honest signature may claim: for whom it is, by whom, for how long, and about whom."""

import json
from datetime import UTC, datetime

import pytest

from chalicelib.access import keys
from chalicelib.access.verify import verify
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Refused
from tests.rooms.access.conftest import AUD, FORGED, HEADER, ISSUER, claims, private_key, refused, signed, token


@pytest.mark.parametrize(
    "aud", [None, [], "", "other", ["other"], [None], {}, AUD[:-1], f"{AUD},x", [[AUD]], {AUD: 1}, 1]
)
def test_a_token_for_another_application(verdict, aud):
    refused(verdict, token(aud=aud) if not isinstance(aud, int | dict) else signed(HEADER, claims(aud=aud)))


@pytest.mark.parametrize("aud", [[AUD], ["other", AUD], AUD])
def test_our_application_among_others_or_alone(verdict, aud):
    assert verdict(token(aud=aud))


@pytest.mark.parametrize(
    "iss",
    [
        None,
        "",
        "https://otherteam.cloudflareaccess.com",
        "http://myteam.cloudflareaccess.com",
        f"{ISSUER}/",
        f"{ISSUER}.evil.example",
        "myteam",
        [ISSUER],
    ],
)
def test_a_token_of_another_team(verdict, iss):
    refused(verdict, signed(HEADER, claims(iss=iss)))


@pytest.mark.parametrize("kind", ["org", "service", "", 1, ["app"]])
def test_the_teams_session_is_not_a_token_for_the_application(verdict, kind):
    refused(verdict, signed(HEADER, claims(type=kind)))


@pytest.mark.parametrize("exp", [None, "9999999999", True, [], {}, float("inf"), float("nan"), b"1e999", b"9" * 400])
def test_an_end_that_is_no_moment(verdict, exp):
    if isinstance(exp, bytes):
        whole = json.dumps(claims(exp=7)).replace('"exp": 7', f'"exp": {exp.decode()}').encode()
        return refused(verdict, signed(HEADER, whole))
    return refused(verdict, signed(HEADER, claims(exp=exp)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": -3600}, "Token expired"),
        ({"exp": -31}, "Token expired"),
        ({"exp": -29}, None),
        ({"nbf": 29}, None),
        ({"nbf": 32}, "Invalid token"),
        ({"iat": 29}, None),
        ({"iat": 3600}, "Invalid token"),
    ],
)
def test_clocks_may_differ_by_half_a_minute(verdict, changes, reason):
    moment = 1_800_000_000
    text = token(**({"exp": moment + 60, "nbf": moment, "iat": moment} | {k: moment + v for k, v in changes.items()}))
    at = datetime.fromtimestamp(moment, UTC)
    # Keys were fetched today: at another time they would be fetched again.
    if reason is None:
        assert verdict(text, at)
        return
    with pytest.raises(Refused) as refusal:
        verdict(text, at)
    assert refusal.value.reason == reason


def test_expiry_is_told_only_of_tokens_that_are_otherwise_good(verdict):
    refused(verdict, token(exp=1_000_000), "Token expired")
    refused(verdict, token(exp=1_000_000, aud=["other"]))
    refused(verdict, token(exp=1_000_000, key=private_key(*FORGED)))


SERVICE = {"email": None, "sub": "", "common_name": "e367826f93b8d71185e03fe518aff3b4.access", "aud": AUD}


def test_a_service_token_needs_to_be_allowed(verdict, configure):
    refused(verdict, token(**SERVICE))
    configure(CF_ACCESS_SERVICE_TOKENS="true")
    current = settings.current()
    identity = verify(token(**SERVICE), current, keys.keys_from(current.access_certs_url), datetime.now(UTC))
    assert (identity.name, identity.kind) == (SERVICE["common_name"], "service")


@pytest.mark.parametrize("email", ["", [], 5, {"a": 1}, "x" * 400, "a@b.example\nx", None])
def test_somebody_without_a_name(verdict, email):
    refused(verdict, signed(HEADER, claims(email=email)))


def test_nobody_at_all_is_not_a_service_token(team, configure):
    configure(CF_ACCESS_SERVICE_TOKENS="true")
    current = settings.current()
    with pytest.raises(Refused):
        verify(token(email=None), current, keys.keys_from(current.access_certs_url), datetime.now(UTC))

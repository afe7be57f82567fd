"""Where the keys come from when all is well, when it is not, and when somebody would like us to ask too often."""

import json
import threading
import time

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from chalicelib.access import keys
from chalicelib.access.keys import Keys
from chalicelib.kernel.errors import Misconfigured, Unavailable
from chalicelib.kernel.settings import load
from tests.rooms.access.conftest import jwk, number

NOW = 1_800_000_000.0
HOUR = 3600


@pytest.fixture
def ring(team):
    return Keys(team.url)


def test_keys_are_fetched_once_and_parsed_once(ring, team):
    assert ring.find("current", NOW) is ring.find("current", NOW + 1)
    assert team.asked == 1


def test_keys_are_fetched_again_after_an_hour(ring, team):
    ring.find("current", NOW)
    team.entries = [jwk("next")]
    assert ring.find("current", NOW + HOUR - 1)
    assert ring.find("current", NOW + HOUR) is None
    assert team.asked == 2


def test_a_new_key_is_found_at_once(ring, team):
    ring.find("current", NOW)
    team.entries.append(jwk("next"))
    assert ring.find("next", NOW + 1)
    assert ring.find("current", NOW + 1)
    assert team.asked == 2


def test_a_thousand_unknown_keys_make_one_more_request(ring, team):
    ring.find("current", NOW)
    assert not any(ring.find(f"unknown-{n}", NOW + n / 100) for n in range(1000))
    assert team.asked == 2
    ring.find("unknown", NOW + 100)
    assert team.asked == 3


def test_a_thousand_unknown_keys_during_an_outage_make_one_request_each_ten_seconds(ring, team):
    ring.find("current", NOW)
    team.status = 500
    for n in range(1000):
        with pytest.raises(Unavailable):
            ring.find(f"unknown-{n}", NOW + 1 + n / 1000)
    assert team.asked == 2
    assert ring.find("current", NOW + 2), "those who have a known key are not disturbed"


def test_a_hundred_at_once_make_one_request(ring, team):
    team.delay = 0.2
    found = []
    threads = [threading.Thread(target=lambda: found.append(ring.find("current", NOW))) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 100
    assert all(found)
    assert team.asked == 1


def test_an_outage_is_bridged_for_four_hours_and_then_nobody_gets_in(ring, team):
    ring.find("current", NOW)
    team.vanish()
    for later in (1, HOUR, 2 * HOUR, 4 * HOUR - 1):
        assert ring.find("current", NOW + later)
    with pytest.raises(Unavailable):
        ring.find("current", NOW + 4 * HOUR)


def test_after_an_outage_keys_are_fetched_again(ring, team):
    team.status = 503
    with pytest.raises(Unavailable):
        ring.find("current", NOW)
    team.status = 200
    with pytest.raises(Unavailable):
        ring.find("current", NOW + 9)
    assert team.asked == 1, "not at once after a failure"
    assert ring.find("current", NOW + 10)


def test_a_clock_set_back_makes_nothing_last_longer(ring, team):
    ring.find("current", NOW)
    team.vanish()
    with pytest.raises(Unavailable):
        ring.find("current", NOW - 1)


HTML = b"<!doctype html><title>Just a moment...</title>"


@pytest.mark.parametrize(
    "body",
    [
        HTML,
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 5000,
        b'{"keys": null}',
        b'{"keys": {}}',
        b'{"keys": []}',
        b'{"keys": "abc"}',
        b'{"keys": [1, null, {}]}',
        b'{"keys": [{"kid": "current"}]}',
        b'{"keys": [{"kid": "curr',
    ],
    ids=range(14),
)
def test_what_is_not_a_set_of_keys_is_an_outage(ring, team, body):
    team.body = body
    with pytest.raises(Unavailable):
        ring.find("current", NOW)


def test_a_page_of_html_does_not_replace_good_keys(ring, team):
    good = ring.find("current", NOW)
    team.body = HTML
    assert ring.find("current", NOW + HOUR) is good
    assert team.asked == 2


@pytest.mark.parametrize("status", [204, 301, 302, 307, 308, 400, 403, 404, 429, 500, 503])
def test_any_other_status_is_an_outage_and_no_redirect_is_followed(ring, team, status):
    team.status = status
    team.headers = {"Location": team.url}
    with pytest.raises(Unavailable):
        ring.find("current", NOW)
    assert team.asked == 1


def test_an_endless_answer_is_cut(ring, team):
    team.body = json.dumps({"keys": [jwk()], "padding": "x" * 70_000}).encode()
    with pytest.raises(Unavailable):
        ring.find("current", NOW)


@pytest.mark.parametrize("how", ["delay", "drip"])
def test_a_slow_answer_is_an_outage_after_the_time_allowed(ring, team, how, monkeypatch):
    assert keys._TIMEOUT == 3
    monkeypatch.setattr(keys, "_TIMEOUT", 0.3)
    setattr(team, how, 3 if how == "delay" else 0.01)
    begun = time.perf_counter()
    with pytest.raises(Unavailable):
        ring.find("current", NOW)
    assert time.perf_counter() - begun < 2.5


def test_an_unusable_entry_does_not_hide_the_others(ring, team):
    broken = [
        {"kid": "a"},
        jwk("b", n="!"),
        jwk("c", n=""),
        jwk("d", e="AA"),
        {**jwk("e"), "kid": 5},
        jwk("f", n=7),
        "g",
        None,
    ]
    team.entries = [*broken, jwk()]
    assert ring.find("current", NOW)
    assert not any(ring.find(kid, NOW) for kid in "abcdefg")


@pytest.mark.parametrize("bits", [1024, 8200])
def test_a_key_too_short_or_too_long_is_not_used(ring, team, bits):
    team.entries = [jwk("odd", bits) if bits < 2048 else jwk("odd", n=number((1 << bits) - 1)), jwk()]
    assert ring.find("current", NOW)
    assert ring.find("odd", NOW) is None


def test_a_number_of_a_key_has_one_spelling(ring, team):
    team.entries = [jwk("padded", e="AQAB===="), jwk("dotted", n=f"{jwk('dotted')['n']}."), jwk()]
    assert ring.find("current", NOW)
    assert not any(ring.find(kid, NOW) for kid in ("padded", "dotted"))


def test_a_private_key_published_by_mistake_is_used_as_a_public_one(ring, team):
    team.entries = [jwk(d="AQAB")]
    assert isinstance(ring.find("current", NOW).key, RSAPublicKey)


def test_the_address_of_the_keys_is_the_teams_unless_told():
    usual = "https://myteam.cloudflareaccess.com/cdn-cgi/access/certs"
    assert load({"CF_ACCESS_TEAM_NAME": "myteam"}).access_certs_url == usual
    given = {"CF_ACCESS_TEAM_NAME": "myteam", "CF_ACCESS_CERTS_URL": "http://127.0.0.1:9/certs"}
    assert load(given).access_certs_url == "http://127.0.0.1:9/certs"


@pytest.mark.parametrize("name", ["myteam.cloudflareaccess.com", "https://myteam", "my team", "evil.example/x#"])
def test_a_team_is_named_by_its_name_alone(name):
    with pytest.raises(Misconfigured, match="CF_ACCESS_TEAM_NAME"):
        load({"CF_ACCESS_TEAM_NAME": name})


def test_keys_do_not_travel_in_the_open():
    with pytest.raises(Misconfigured, match="CF_ACCESS_CERTS_URL"):
        load({"CF_ACCESS_CERTS_URL": "http://keys.example/certs"})

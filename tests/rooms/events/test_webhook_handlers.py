"""The admin API for webhooks: the secret is shown once, every call is guarded, and no URL leads into our network."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.events import outbox
from chalicelib.events.webhooks import service
from chalicelib.kernel import clock, ids
from tests.conftest import received

HOOKS = "/admin/api/webhooks"


@pytest.fixture
def here(admin: Any, configure: Any) -> Any:
    configure(DISABLE_AUTH="true", GNA_LOCAL="true")
    outbox._webhooks_exist.cache_clear()
    return admin


def added(here: Any, url: str = "http://127.0.0.1:1099/hook", **fields: Any) -> Any:
    answer = here.post(HOOKS, json={"url": url, **fields})
    assert answer.status == 201, answer.text
    return answer.json


@pytest.mark.parametrize("path", ["", "/x", "/x/attempts"])
def test_every_call_needs_a_token(http: Any, path: str) -> None:
    assert http.get(HOOKS + path).status == 401


def test_the_secret_is_shown_once(here: Any) -> None:
    webhook = added(here, types=["UNSUBSCRIBED"], description="shop")
    assert webhook["secret"].startswith("whsec_")
    shown = here.get(f"{HOOKS}/{webhook['id']}").json
    assert shown == {name: value for name, value in webhook.items() if name != "secret"}
    assert here.get(HOOKS).json == {"items": [shown]}
    assert webhook["secret"] not in here.get(HOOKS).text


def test_rotating_shows_the_new_secret_once_and_how_long_the_old_one_lasts(here: Any) -> None:
    webhook = added(here)
    rotated = here.post(f"{HOOKS}/{webhook['id']}/rotate", json={}).json
    assert rotated["secret"] != webhook["secret"]
    assert rotated["previous_secret_until"] > rotated["created_at"]


def test_it_can_be_changed_paused_and_removed(here: Any) -> None:
    path = f"{HOOKS}/{added(here)['id']}"
    changed = here.patch(path, json={"paused": True, "types": ["FEED_FAILING"], "include_address": True}).json
    assert (changed["state"], changed["types"], changed["include_address"]) == ("paused", ["FEED_FAILING"], True)
    changed = here.patch(path, json={"paused": False, "types": [], "include_address": False}).json
    assert (changed["state"], changed["types"], changed["include_address"]) == ("active", [], False)
    assert here.delete(path).status == 204
    assert here.get(path).status == 404
    assert here.delete(path).status == 404
    assert here.patch(path, json={"paused": True}).status == 404


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "url is required"),
        ({"url": 7}, "url is required"),
        ({"url": "http://93.184.215.14/"}, "This URL cannot be used: it must begin with https://"),
        ({"url": "ftp://example.org/"}, "This URL cannot be used: only http and https URLs are allowed"),
        ({"url": "https://169.254.169.254/"}, "This URL cannot be used: the host is not on the public internet"),
        ({"url": "https://10.0.0.1/"}, "This URL cannot be used: the host is not on the public internet"),
        ({"url": "https://[::ffff:10.0.0.1]/"}, "This URL cannot be used: the host is not on the public internet"),
        ({"url": "https://a:b@93.184.215.14/"}, "This URL cannot be used: the URL contains credentials"),
        ({"url": "https://93.184.215.14/", "types": ["NO_SUCH"]}, None),
        ({"url": "https://93.184.215.14/", "types": "UNSUBSCRIBED"}, None),
        ({"url": "https://93.184.215.14/", "types": [{}]}, None),
        ({"url": "https://93.184.215.14/", "include_address": "yes"}, "include_address must be true or false"),
        ({"url": "https://93.184.215.14/", "description": "x" * 201}, None),
    ],
)
def test_invalid_fields_are_refused(here: Any, fields: dict[str, Any], reason: str | None) -> None:
    answer = here.post(HOOKS, json=fields)
    assert answer.status == 400
    assert reason is None or answer.json == {"error": reason}


def test_loopback_is_refused_where_it_is_not_a_developers_machine(here: Any, configure: Any) -> None:
    configure(DISABLE_AUTH="true", GNA_LOCAL="false")
    assert here.post(HOOKS, json={"url": "https://127.0.0.1/"}).status == 400


def test_there_is_a_limit_to_how_many(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST", 2)
    for _ in range(2):
        added(here)
    assert here.post(HOOKS, json={"url": "http://127.0.0.1:1099/"}).status == 409


def test_a_test_returns_the_result_of_the_attempt(here: Any) -> None:
    webhook = added(here, "http://127.0.0.1:1099/")
    answer = here.post(f"{HOOKS}/{webhook['id']}/test", json={}).json
    assert (answer["ok"], answer["type"], answer["error"]) == (False, "TEST", "the host does not respond")
    assert here.get(f"{HOOKS}/{webhook['id']}/attempts").json == {"items": [answer]}


def test_attempts_are_given_in_pages_newest_first(here: Any) -> None:
    path = f"{HOOKS}/{added(here, 'http://127.0.0.1:1099/')['id']}"
    tried = [here.post(f"{path}/test", json={}).json["id"] for _ in range(5)]
    first = [item["id"] for item in here.get(f"{path}/attempts?per_page=2").json["items"]]
    rest = [item["id"] for item in here.get(f"{path}/attempts?before={first[-1]}").json["items"]]
    assert first + rest == tried[::-1]
    assert here.get(f"{path}/attempts?per_page=0").status == 400
    assert here.get(f"{path}/attempts?before=zz").status == 400


def test_a_replay_is_accepted_and_done_in_the_background(here: Any) -> None:
    path = f"{HOOKS}/{added(here)['id']}/replay"
    yesterday, today = (clock.text(clock.now() - timedelta(days=days)) for days in (1, 0))
    answer = here.post(path, json={"from": yesterday, "to": today})
    assert (answer.status, answer.json) == (202, {"status": "queued"})
    assert len(received("events")) == 1
    assert here.post(path, json={"event_id": ids.new()}).status == 404
    assert here.post(path, json={"event_id": "x"}).status == 404
    assert here.post(path, json={"from": today, "to": yesterday}).status == 400
    assert "30 days" in here.post(path, json={"from": "0001-01-01T00:00:00Z", "to": "2020-01-01T00:00:00Z"}).text
    assert here.post(path, json={"from": "2026-11-02", "to": "yesterday"}).status == 400
    assert here.post(path, json={}).status == 400


def test_what_is_not_there_is_not_found(here: Any) -> None:
    for call in ("rotate", "test", "replay"):
        assert here.post(f"{HOOKS}/{ids.new()}/{call}", json={}).status == 404
    assert here.get(f"{HOOKS}/{ids.new()}/attempts").status == 404

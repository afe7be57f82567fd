"""Guarded routes as a caller meets them: through the gateway, the authorizer, and what a route demands beside it."""

import json
import sys

import pytest
from chalice.app import Chalice

from chalicelib.access import audit
from chalicelib.web import responses, routing
from chalicelib.web.request import FORM, JSON
from chalicelib.web.routing import Route
from local.gateway.gateway import Gateway
from tests.fixtures.client import Client
from tests.rooms.access.conftest import token

ELSEWHERE = "https://evil.example"
OURS = "https://news.example.org"


ROUTES = (
    routing.admin_api("GET /admin/whoami", "guarded:whoami"),
    Route(("POST",), "/admin/api/things", "guarded:make", "web.responses:error", routing.ADMIN, (JSON, FORM)),
    routing.admin_api("DELETE /admin/api/things/{thing_id}", "guarded:remove"),
    routing.admin_api("GET /elsewhere", "guarded:elsewhere"),
    routing.admin_api("GET /admin/broken", "no_such_module:anything"),
)


def whoami(request):
    return responses.json({"identity": request.identity})


def make(request):
    audit.record(request, "thing.make", thing_id="42")
    return responses.json(request.fields, 201)


def remove(request):
    return responses.no_content()


def elsewhere(request):
    return responses.json({})


@pytest.fixture(scope="module")
def app():
    from app import authorizer

    sys.modules["chalicelib.guarded"] = sys.modules[__name__]
    app = Chalice(app_name="guarded")
    routing.register(app, ROUTES, authorizer)
    yield app
    del sys.modules["chalicelib.guarded"]


@pytest.fixture
def ask(app, team):
    return Client(Gateway(app))


@pytest.fixture
def good():
    return {"Cf-Access-Jwt-Assertion": token()}


def test_the_identity_reaches_the_handler(ask, good):
    answer = ask.get("/admin/whoami", headers=good)
    assert (answer.status, answer.json) == (200, {"identity": "owner@example.org"})


def test_without_a_token(ask):
    answer = ask.get("/admin/whoami")
    assert (answer.status, answer.json) == (401, {"error": "Authentication required"})


def test_with_a_bad_token(ask):
    answer = ask.get("/admin/whoami", Cf_Access_Jwt_Assertion="a.b.c")
    assert (answer.status, answer.json) == (403, {"error": "Invalid token"})


def test_with_an_expired_token(ask):
    answer = ask.get("/admin/whoami", Cf_Access_Jwt_Assertion=token(exp=1_000_000))
    assert (answer.status, answer.json) == (403, {"error": "Token expired"})


def test_while_the_keys_cannot_be_reached(ask, team, good):
    team.vanish()
    answer = ask.get("/admin/whoami", headers=good)
    assert (answer.status, answer.json) == (503, {"error": "Service unavailable"})
    assert answer.headers["Retry-After"]


def test_while_the_authorizer_is_not_configured(ask, configure, good):
    configure(CF_ACCESS_AUD="")
    answer = ask.get("/admin/whoami", headers=good)
    assert (answer.status, answer.json) == (500, {"error": "Server misconfiguration"})


def test_two_tokens_are_no_token(app, team):
    twice = [("Cf-Access-Jwt-Assertion", token(aud=["other"])), ("cf-access-jwt-assertion", token())]
    for headers in (twice, twice[::-1], [twice[1], twice[1]]):
        answer = Gateway(app).handle("GET", "/admin/whoami", headers)
        assert (answer.status, json.loads(answer.body)) == (403, {"error": "Invalid token"})
    joined = ", ".join([token(), token()])
    assert Gateway(app).handle("GET", "/admin/whoami", {"Cf-Access-Jwt-Assertion": joined}).status == 403


def test_a_token_in_another_place_is_no_token(ask):
    assert ask.get("/admin/whoami", Authorization=f"Bearer {token()}").status == 401
    assert ask.get("/admin/whoami", Cookie=f"CF_Authorization={token()}").status == 401


def test_the_authorizer_lets_into_admin_only(ask, good):
    assert ask.get("/elsewhere", headers=good).status == 403


def test_a_function_called_past_the_gateway_still_refuses(app, team):
    gateway = Gateway(app)
    matched = gateway._match("GET", "/admin/whoami")
    event = gateway._event("GET", "/admin/whoami", [], b"", "192.0.2.1", matched, "id")
    answer = app(event, None)
    assert (answer["statusCode"], json.loads(answer["body"])) == (401, {"error": "Authentication required"})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": OURS},
        {"Origin": OURS, "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_our_own_pages_and_scripts_may_change_things(ask, good, headers):
    assert ask.post("/admin/api/things", json={"a": "b"}, headers=good | headers).status == 201
    assert ask.delete("/admin/api/things/1", headers=good | headers).status == 204


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": ELSEWHERE},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": f"{OURS}.evil.example"},
        {"Origin": "http://news.example.org"},
        {"Origin": f"{OURS}:8443"},
        {"Origin": "http://localhost:8000"},
        {"Origin": "https://blog.example.org"},
        {"Origin": OURS, "Sec-Fetch-Site": "same-site"},
        {"Origin": ELSEWHERE, "Sec-Fetch-Site": "cross-site"},
        {"Origin": ELSEWHERE, "Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_peoples_pages_may_not(ask, good, headers):
    for answer in (
        ask.post("/admin/api/things", json={"a": "b"}, headers=good | headers),
        ask.post("/admin/api/things", form={"a": "b"}, headers=good | headers),
        ask.post("/admin/api/things", body="{}", headers=good | headers | {"Content-Type": "text/plain"}),
        ask.delete("/admin/api/things/1", headers=good | headers),
    ):
        assert (answer.status, answer.json) == (403, {"error": "Cross-site request refused"})


def test_a_form_must_show_where_it_comes_from(ask, good):
    assert ask.post("/admin/api/things", form={"a": "b"}, headers=good).status == 403
    assert ask.post("/admin/api/things", body='{"a": "b"}', headers=good).status == 403
    assert ask.post("/admin/api/things", form={"a": "b"}, headers=good, Origin=OURS).status == 201


def test_other_peoples_pages_may_link_to_ours(ask, good):
    assert ask.get("/admin/whoami", headers=good, Sec_Fetch_Site="cross-site").status == 200


def test_at_home_localhost_and_its_number_are_the_same_place(ask, good, configure):
    configure(GNA_LOCAL="true", SITE_URL="http://127.0.0.1:8000")
    assert ask.delete("/admin/api/things/1", headers=good, Origin="http://localhost:8000").status == 204
    assert ask.delete("/admin/api/things/1", headers=good, Origin="http://localhost:9999").status == 403
    assert ask.delete("/admin/api/things/1", headers=good, Origin="http://rebound.example:8000").status == 403
    assert ask.delete("/admin/api/things/1", headers=good, Origin="http://[").status == 403


def test_who_did_what_is_logged_by_identity(ask, good, capsys):
    ask.post("/admin/api/things", json={"secret": "of a subscriber"}, headers=good)
    [line] = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"audit"' in line]
    assert (line["action"], line["by"], line["thing_id"]) == ("thing.make", "owner@example.org", "42")
    assert "of a subscriber" not in json.dumps(line)


def test_a_room_that_cannot_be_imported_is_a_crash_like_any_other(ask, good, capsys):
    answer = ask.get("/admin/broken", headers=good)
    assert (answer.status, list(answer.json)) == (500, ["error"])
    assert "request.crashed" in capsys.readouterr().out

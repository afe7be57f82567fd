"""Other sites' pages change nothing here, and without members there is nothing to change."""

import pytest

from chalicelib.members import routes
from chalicelib.web.routing import ADMIN, MEMBER
from tests.rooms.members.person import PASSWORD

ROUTES = [(method, route) for route in routes.ROUTES for method in route.methods if route.guard != ADMIN]
UNSAFE = [(method, route) for method, route in ROUTES if method not in ("GET", "HEAD")]
FOREIGN = [
    {"Origin": "https://evil.example.com"},
    {"Origin": "https://blog.example.org"},  # may subscribe people, not sign them in
    {"Origin": "null"},
    {"Origin": "http://news.example.org"},
    {"Origin": "https://news.example.org.evil.example.com"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://news.example.org"},
]
CALL = {
    "/api/auth/signup": {"email": "bob@example.net", "password": PASSWORD, "password_confirm": PASSWORD},
    "/api/auth/signin": {"email": "ada@example.net", "password": PASSWORD},
}


def _names(cases):
    return [f"{method} {route.path}" for method, route in cases]


@pytest.mark.parametrize(("method", "route"), UNSAFE, ids=_names(UNSAFE))
def test_every_unsafe_route_refuses_another_site(person, method, route):
    ada = person().join()
    body = {"json": CALL.get(route.path, {"password": PASSWORD})} if "/api/" in route.path else {"form": {"x": "y"}}
    for headers in FOREIGN:
        answer = ada.send(method, route.path, **body, headers={**headers, "Cookie": ada.cookie})
        assert answer.status == 403, (headers, answer.text)
        assert answer.headers["Set-Cookie"] is None
    assert ada.me().status == 200


@pytest.mark.parametrize(("method", "route"), UNSAFE, ids=_names(UNSAFE))
def test_a_form_must_say_where_it_comes_from(person, method, route):
    ada = person().join()
    answer = ada.send(method, route.path, form={"password": PASSWORD})
    assert answer.status in (403, 400)
    assert answer.status == 403 or "Send this as" in answer.text  # calls take no forms at all
    assert ada.me().status == 200


def test_a_deletion_sent_as_a_form_is_refused(person):
    ada = person().join()
    assert ada.send("DELETE", "/api/auth/me", form={"password": PASSWORD}).status == 400
    assert ada.me().status == 200


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "https://news.example.org"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}],
    ids=str,
)
def test_scripts_and_our_own_pages_pass_as_json(person, headers):
    ada = person().join()
    headers = {**headers, "Cookie": ada.cookie}
    assert ada.send("POST", "/api/auth/signin", json=CALL["/api/auth/signin"], headers=headers).status == 200
    assert ada.send("POST", "/api/auth/signup", json=CALL["/api/auth/signup"], headers=headers).status == 201
    assert ada.send("POST", "/api/auth/signout", headers=headers).status == 204


@pytest.mark.parametrize(("method", "route"), ROUTES, ids=_names(ROUTES))
def test_without_members_every_route_is_not_found(person, configure, method, route):
    ada = person().join()
    configure(MEMBERS="off")
    body = {"json": {}} if "/api/" in route.path and method != "GET" else {}
    answer = ada.send(method, route.path, Origin="https://news.example.org", **body)
    assert answer.status == 404


@pytest.mark.parametrize(
    ("method", "route"),
    [case for case in ROUTES if case[1].guard == MEMBER and "/api/" in case[1].path],
    ids=lambda value: value if isinstance(value, str) else value.path,
)
def test_every_call_of_a_member_needs_a_session(http, method, route):
    answer = http.request(method, route.path)
    assert (answer.status, answer.json) == (401, {"error": "Authentication required"})


def test_other_sites_are_told_nothing_by_cors(person):
    ada = person().join()
    answer = ada.send("GET", "/api/auth/me", Origin="https://blog.example.org")
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]

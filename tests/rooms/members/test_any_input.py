"""Whatever is sent to the calls about accounts is answered with a reason, and never breaks them."""

import json

import pytest

from chalicelib.members import routes
from tests.rooms.members.person import PASSWORD

PATHS = [
    (method, route.path)
    for route in routes.ROUTES
    for method in route.methods
    if "/api/" in route.path and method in ("POST", "PATCH", "DELETE") and "{" not in route.path
]
FIELDS = ("email", "password", "password_confirm", "current_password", "invitation", "token")
RIGHT = {"email": "bob@example.net", "current_password": PASSWORD, "token": "x"}
RIGHT |= {"password": PASSWORD, "password_confirm": PASSWORD}
VALUES = [
    *(None, True, 0, -1, 1.5, 10**30, "", " ", "x", "\x00", "\ufeff", "\u202e", "a@b.c", "🦊" * 100, "x" * 9000),
    *(
        [],
        [[]],
        ["x"],
        {},
        {"a": None},
        "é@example.net",
        "a@" + "b." * 200 + "net",
        "." * 300,
        "0" * 32 + "." + "a" * 32,
    ),
]
WITHOUT_BODY = ("/api/auth/signout", "/api/auth/request-verify")
BODIES = [
    *(b"null", b"[]", b"5", b'"x"', b"{", b"\xff", b"[" * 5000, b'{"a":' * 5000),
    *(b'{"email": "\\ud800@example.net"}', b'{"password": "\\udfff"}', b'{"\\ud800": 1}'),
]


@pytest.fixture
def no_limits(monkeypatch):
    from chalicelib.kernel import limits

    monkeypatch.setattr(limits, "allows", lambda *_: True)


@pytest.mark.parametrize(("method", "path"), PATHS, ids=lambda value: value)
def test_any_value_in_any_field(person, editor, no_limits, method, path):
    cookie = person().join().cookie
    for value in VALUES:
        for wrong in (FIELDS, *((field,) for field in FIELDS)):
            body = RIGHT | dict.fromkeys(wrong, value)
            answer = editor.request(method, path, json=body, Cookie=cookie)
            assert answer.status in (200, 201, 204, 400, 401, 403, 409), (value, answer.text)
            if answer.status == 204:
                return  # signed out, or deleted


@pytest.mark.parametrize(("method", "path"), PATHS, ids=lambda value: value)
def test_a_body_that_is_none(person, editor, no_limits, method, path):
    cookie = person().join().cookie
    headers = {"Content-Type": "application/json", "Cookie": cookie}
    for body in BODIES:
        answer = editor.request(method, path, body=body, headers=headers)
        assert answer.status == 400 or path in WITHOUT_BODY, (body, answer.text)
        assert answer.status < 500


def test_a_huge_body_is_refused(http):
    answer = http.post("/api/auth/signin", body=json.dumps({"email": "x" * 70_000}), Content_Type="application/json")
    assert (answer.status, answer.json) == (400, {"error": "The request is too large"})


@pytest.mark.parametrize(
    "value", ["x" * 7000, "a.b.c", "\x01", "💥" * 100, "0193a5c411f07a6b8c012d3e4f506172." + "é" * 43]
)
def test_any_cookie(http, value):
    for method, path in PATHS:
        if "/admin" not in path:
            assert http.request(method, path, json={}, Cookie=f"__Host-session={value}").status in (204, 400, 401)

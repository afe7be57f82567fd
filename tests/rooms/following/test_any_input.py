"""Whatever is sent to any call of this room is answered with a reason, and breaks nothing."""

import pytest

from chalicelib.following import routes
from chalicelib.following.providers.registry import recognise
from chalicelib.kernel import limits
from chalicelib.kernel.errors import Invalid
from tests.rooms.following.conftest import ALLOTMENT, VERIFIER

CALLS = [
    (method, route.path.removeprefix("/admin/api/"))
    for route in routes.ROUTES
    for method in route.methods
    if route.path.startswith("/admin/api/")
]
VALUES = [
    *(None, True, -1, 1.5, 10**30, "", " ", "\x00", "\u202e", "🦊" * 100, "x" * 9000, "RSS", "../..", "0" * 32),
    *([], ["x"], {}, {"a": None}),
]
BODIES = [
    *(b"", b"null", b"[]", b"5", b'"x"', b"{", b"\xff", b"[" * 5000, b'{"a":' * 5000, b'{"url": "\\ud800"}'),
    *(b'{"provider": "\\udfff"}', b'{"options": {"action": "\\ud800"}}', b'{"\\ud800": 1}', b'{"url": 1e999}'),
]
RIGHT = {
    "connections/state": {"provider": "YOUTUBE", "state": "01890000-0000-4000-8000-000000000000"},
    "connections/callback": {
        "provider": "YOUTUBE",
        "code": "x",
        "state": "01890000-0000-4000-8000-000000000000",
        "code_verifier": VERIFIER,
    },
    "follows": {"provider": "YOUTUBE", "provider_channel_id": ALLOTMENT},
    "follows/{follow_id}": {"options": {"action": "inbox", "newest_only": True, "hide_shorts": False}},
}
WRITES = ("POST", "PATCH")
FINE = (200, 201, 204, 400, 404, 409)


@pytest.fixture
def open_desk(desk, monkeypatch):
    monkeypatch.setattr(limits, "allows", lambda *_: True)
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    return desk


def filled(desk, path):
    return path.format(provider="YOUTUBE", follow_id=desk.followed["id"], notification_id="0" * 32)


@pytest.mark.parametrize(
    ("method", "path"), [call for call in CALLS if call[1] in RIGHT and call[0] in WRITES], ids=str
)
def test_any_value_in_any_field(open_desk, method, path):
    right, url = RIGHT[path], filled(open_desk, path)
    for value in VALUES:
        bodies = [right | {field: value} for field in right]
        if path == "follows":
            bodies += [{"url": value}, {"provider": "SPOTIFY", "provider_channel_id": value}]
        if "options" in right:
            bodies += [{"options": right["options"] | {field: value}} for field in right["options"]]
        for body in bodies:
            answer = open_desk.call(method, url, json=body)
            assert answer.status in FINE, (body, answer.text)
            if isinstance(value, str) and len(value) > 40:
                assert value not in answer.text


@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if call[0] != "GET"], ids=str)
def test_any_body(open_desk, method, path):
    url = filled(open_desk, path)
    for body in BODIES:
        answer = open_desk.call(method, url, body=body, Content_Type="application/json")
        assert answer.status in (*FINE, 429), (body, answer.text)
        if path in RIGHT and method != "DELETE":
            assert answer.status in (400, 404), body


@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if "{" in call[1]], ids=str)
def test_any_id(open_desk, method, path):
    for value in ("x", "%00", "%20", "..", "%F0%9F%A6%8A", "a" * 500, "desk", "%2F", "null", "0" * 32, "YOUTUBE%0A"):
        url = path.format(provider=value, follow_id=value, notification_id=value)
        assert open_desk.call(method, url, json={"options": {}}).status in (400, 403, 404, 405), value
    assert open_desk.find(open_desk.followed)["status"] == "ACTIVE"


@pytest.mark.parametrize("name", ["provider", "status", "limit", "cursor", "q"])
def test_any_query(open_desk, name):
    for path in ("follows", "notifications", "discover/YOUTUBE/search", "discover/YOUTUBE"):
        for value in (
            "",
            "%00",
            "x" * 2000,
            "%F0%9F%A6%8A",
            "-1",
            "1e9",
            "%ED%A0%80",
            "a.b",
            "1.x",
            "ÿ".encode().hex(),
        ):
            answer = open_desk.call("GET", f"{path}?{name}={value}")
            assert answer.status in (200, 400, 409), (path, value, answer.text)


URLS = [
    *("http://", "https://[", "https://[::1", "http://a:b@c/", "http://example.org:99999/", "//example.org", "@"),
    *("@" + "x" * 200, "feed:", "feed://", "spotify:", "spotify:show:", "spotify:show:x", "UC", "https://youtu.be/"),
    *("https://www.youtube.com/", "https://www.youtube.com/watch", "https://www.youtube.com/channel/UC"),
    *("https://open.spotify.com/", "https://open.spotify.com/show/", "https://open.spotify.com/show/%00"),
    *("https://www.youtube.com/@%ff", "https://www.youtube.com/@\u202e", "https://xn--", "https://" + "a" * 300),
    *("file:///etc/passwd", "gopher://x/", "data:text/html,x", "http://example.org\\@evil/", "http://0/", "\n"),
]


def test_any_address(open_desk, configure):
    configure(GNA_LOCAL="")
    for url in URLS:
        expected = {400, 404, 409, 503} if is_address(url) else {400}
        assert open_desk.follow_url(url).status in expected, url
    assert len(open_desk.follows()) == 1


def is_address(url):
    try:
        return bool(recognise(url))
    except Invalid:
        return False


def test_a_huge_body_is_refused(open_desk):
    assert open_desk.call("POST", "follows", json={"url": "x" * 70_000}).status == 400

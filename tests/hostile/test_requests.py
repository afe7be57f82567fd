"""Every route of the table, public and admin, asked with whatever a stranger may send."""

import json
import random
import re
import time
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from chalicelib.admin import openapi
from chalicelib.web.request import FORM, JSON, MULTIPART
from tests.hostile import answers
from tests.hostile.anything import EXAMPLES, bounded, kept, nested, values, words

ROUTES = sorted((str(method), str(path)) for path, methods in app.app.routes.items() for method in methods)
PUBLIC = [route for route in ROUTES if not route[1].startswith("/admin")]
SLOWEST = 10.0

_READS = re.compile(r"""(?:text|get|\[)\(?"([a-z_.]{2,24})\"""")


def _names() -> list[str]:
    """The fields and parameters the handlers read, from the code itself and from the API's own document, so that
    a new one is tried as well."""
    rooms = Path("chalicelib")
    sources = [*rooms.rglob("*handlers.py"), *rooms.rglob("*pages.py"), *Path("chalicelib/admin/pages").glob("*.py")]
    found = {name for source in sources for name in _READS.findall(source.read_text(encoding="utf-8"))}
    for schema in openapi.document()["components"]["schemas"].values():
        found |= set(schema.get("properties", {}))
    assert {"email", "token", "metadata", "subject", "scheduled_at"} <= found
    return sorted(found | {"hub.mode", "hub.topic", "hub.challenge", "hub.lease_seconds", "page", "per_page", "q"})


def _places() -> dict[str, list[tuple[str, str]]]:
    """Routes that belong together; what removes something, or signs out, comes last."""
    places: dict[str, list[tuple[str, str]]] = {}
    for method, path in sorted(ROUTES, key=lambda route: route[0] == "DELETE" or route[1].endswith("out")):
        place = re.match(r"/(admin/api/[a-z-]+|admin|api|)", path)[0]
        places.setdefault(place, []).append((method, path))
    return places


NAMES = _names()
PLACES = _places()
BAD = [*kept(), None, True, 0, -1, 10**40, 1.5, [], {}, ["x"] * 50, {"a": {"b": []}}, "9" * 5000, "x" * 70_000]
# Each of these has broken something here once.
ALWAYS = ("²", "\ud800", "9" * 5000, "<script>alert(1)</script>", "a\r\nSet-Cookie: zqxjkvbp=1")

# What each of these takes, all of it right.
GOOD = {
    "POST /api/subscribe": {
        "email": "new@example.net",
        "nickname": "New",
        "source": "blog",
        "tags": ["a", "b"],
        "metadata": {"page": "/"},
        "elapsed": "9000",
        "website": "",
    },
    "POST /api/profile/request-link": {"email": "grace@example.net"},
    "POST /api/profile/update": {"token": "", "nickname": "Grace", "email": "new@example.net"},
    "POST /admin/api/campaigns": {
        "subject": "Hello",
        "body": "<p>Hello {{nickname|you}}</p>",
        "text": "Hello",
        "preheader": "Hello",
        "format": "html",
        "aim": {"tags": {"any": ["a"]}},
        "time_zone": "Europe/Berlin",
    },
    "POST /admin/api/campaigns/preview": {
        "subject": "Hello",
        "body": "# Hello",
        "format": "markdown",
        "nickname": "N",
    },
    "POST /admin/api/campaigns/audience": {"aim": {"tags": {"any": ["a"]}}},
    "PATCH /admin/api/campaigns/{campaign_id}": {"subject": "Hello", "body": "<p>Hello</p>", "version": 1},
    "POST /admin/api/campaigns/{campaign_id}/schedule": {"scheduled_at": "2030-01-01T00:00:00Z", "time_zone": "UTC"},
    "POST /admin/api/campaigns/{campaign_id}/test": {"emails": ["grace@example.net"], "nickname": "Grace"},
    "POST /admin/api/webhooks": {
        "url": "http://127.0.0.1:59999/",
        "types": [],
        "description": "",
        "include_address": True,
    },
    "PATCH /admin/api/webhooks/{webhook_id}": {"description": "x", "state": "paused", "types": []},
    "POST /admin/api/webhooks/{webhook_id}/replay": {"from": "2026-11-01T00:00:00Z", "to": "2026-11-02T00:00:00Z"},
    "POST /api/auth/signup": {"email": "x@example.net", "password": "Other-Wo2", "password_confirm": "Other-Wo2"},
    "POST /api/auth/signin": {"email": "ada@example.net", "password": "Other-Word-2"},
    "PATCH /api/auth/me": {"current_password": "x", "password": "Other-Word-2", "password_confirm": "Other-Word-2"},
    "DELETE /api/auth/me": {"password": "x"},
    "POST /api/auth/verify": {"token": ""},
    "POST /api/auth/request-reset": {"email": "ada@example.net"},
    "POST /api/auth/reset": {"token": "", "password": "Other-Word-2", "password_confirm": "Other-Word-2"},
    "POST /api/sightings": {"animal_name": "Hare", "location": "Field", "upload_id": None},
    "PATCH /api/sightings/{sighting_id}": {
        "animal_name": "Hare",
        "location": "Field",
        "updated_at": 1,
        "upload_id": "x",
        "photo": None,
    },
    "POST /api/sightings/{sighting_id}/share": {"shown_location": "North", "credit": "Ada"},
    "POST /api/upload/photo": {"content_type": "image/png", "size": 1000},
    "POST /admin/api/members/invitations": {"email": "fay@example.net"},
    "POST /admin/api/do-not-contact": {"email": "new@example.net"},
    "POST /admin/api/do-not-contact/lift": {"email": "new@example.net"},
}

# What lists and pages take in their address.
ASKED = {
    "/admin/api/subscribers": ("page", "per_page", "q", "status", "source", "tag"),
    "/admin/api/subscribers/export": ("q", "status", "source", "tag"),
    "/admin/api/campaigns": ("state", "page", "per_page"),
    "/admin/api/bounces": ("page", "per_page"),
    "/admin/api/members": ("page", "per_page"),
    "/admin/api/sightings": ("limit", "cursor"),
    "/api/sightings": ("limit", "cursor", "q"),
    "/join": ("invitation",),
    "/sign-in": ("next",),
    "/verify": ("token",),
    "/reset": ("token",),
    "/sightings": ("limit", "cursor"),
    "/admin/members": ("page", "per_page"),
    "/admin/sightings": ("limit", "cursor"),
    "/admin/api/webhooks/{webhook_id}/attempts": ("before", "per_page"),
    "/admin/subscribers": ("page", "per_page", "q", "status", "source", "tag"),
    "/confirm": ("token",),
    "/api/unsubscribe": ("token",),
    "/profile": ("token", "confirm", "updated"),
    "/profile/data": ("token",),
    "/resume": ("token",),
    "/never": ("token",),
    "/confirmed": ("added",),
    "/subscribe": ("source", "tags"),
    "/api/webhooks/websub/{token}": ("hub.mode", "hub.topic", "hub.challenge", "hub.lease_seconds"),
}
names = st.sampled_from(NAMES)
fields = st.dictionaries(names | words, values(names), max_size=6)
texts = st.dictionaries(names | words, words, max_size=6)
headers = st.dictionaries(
    st.sampled_from(
        [
            "Accept",
            "Origin",
            "Sec-Fetch-Site",
            "Cf-Connecting-Ip",
            "Purpose",
            "X-Hub-Signature",
            "Webhook-Id",
            "Webhook-Signature",
            "Webhook-Timestamp",
            "Cookie",
            "Host",
            "If-None-Match",
            "X-Forwarded-For",
            "Range",
        ]
    ),
    words,
    max_size=3,
)
content_types = st.sampled_from(
    [
        JSON,
        JSON,
        FORM,
        MULTIPART,
        f"{MULTIPART}; boundary=x",
        "text/plain",
        "",
        f"{JSON}; charset=utf-16",
        "é/ü;;=\x00",
        f'{MULTIPART}; boundary="{"b" * 3000}"',
        "application/xml",
        "application/octet-stream",
    ]
)


@st.composite
def bodies(draw, known):
    """The raw body and its content type, which mostly fit together."""
    kind = draw(st.sampled_from(["json", "json", "json", "form", "form", "multipart", "raw", "odd"]))
    given = draw(fields) | {
        name: draw(st.sampled_from(values)) for name, values in known.items() if draw(st.booleans())
    }
    if kind == "json":
        return json.dumps(given).encode(), JSON
    if kind == "form":
        return urlencode(
            draw(texts) | {k: v for k, v in given.items() if isinstance(v, str)}, errors="replace"
        ).encode(), FORM
    if kind == "multipart":
        return _multipart(draw(texts)), f"{MULTIPART}; boundary=x"
    if kind == "raw":
        return draw(st.binary(max_size=60)), draw(content_types)
    odd = [
        nested(3000),
        b"[" * 100_000,
        b"\xff\xfe{}",
        b"9" * 10_000,
        b"null",
        b'"x"',
        b"[]",
        b"{" * 900,
        b"\x00" * 1000,
    ]
    return draw(st.sampled_from([*odd, b"x" * 1_100_000, json.dumps({"email": "é" * 60_000}).encode()])), draw(
        content_types
    )


def _multipart(fields):
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    ]
    return ("".join(parts) + "--x--\r\n").encode(errors="replace")


def _path(draw, path, known):
    def value(match):
        return (
            draw(st.sampled_from(known.get(match[1], ("x",))))
            if draw(st.booleans())
            else quote(draw(words).encode("utf-8", "replace")[:3000], safe="")
        )

    return re.sub(r"{(\w+)}", value, path)


def _ask(house, method, path, data):
    known = house.known
    house.abroad.say(data)
    body, kind = data.draw(bodies(known))
    query = data.draw(texts) | {
        n: data.draw(st.sampled_from(v)) for n, v in known.items() if data.draw(st.booleans())
    }
    target = _path(data.draw, path, known) + ("?" + urlencode(query, errors="replace") if query else "")
    sent = {**data.draw(headers), "Content-Type": kind}
    ip = ".".join(str(random.Random(target + str(body)).randrange(256)) for _ in range(4))
    began = time.monotonic()
    answer = house.http.request(method, target, body=body, headers=sent, source_ip=ip)
    assert time.monotonic() - began < SLOWEST
    answers.check(answer, [*query.values(), *sent.values(), *_texts(body)])


def _texts(body):
    """The texts in a body: as they are, and as JSON says they are."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    inside = [value for value in found.values() if isinstance(value, str)] if isinstance(found, dict) else []
    return [body.decode(errors="replace"), *inside]


@pytest.mark.parametrize("place", PLACES)
def test_whatever_is_sent_is_answered(house, place, capsys):
    for method, path in PLACES[place]:
        _hold(house, method, path)
    answers.check_log(capsys.readouterr().out)


def _hold(house, method, path):
    @bounded()
    @given(data=st.data())
    def holds(data):
        _ask(house, method, path, data)

    holds()


def test_a_good_request_with_one_bad_field_is_answered(house, capsys):
    """Most nonsense is turned away at the first look. This gets past it: everything else is as it should be."""
    chosen = random.Random(7)
    for route, right in GOOD.items():
        method, path = route.split(" ")
        path = re.sub(r"{(\w+)}", lambda match: house.known[match[1]][0], path)
        known = {name: texts[0] for name, texts in house.known.items() if name in right}
        for name in right:
            for bad in (*ALWAYS, *chosen.sample(BAD, min(len(BAD), EXAMPLES))):
                ip = ".".join(str(chosen.randrange(256)) for _ in range(4))
                answer = house.http.request(method, path, json={**right, **known, name: bad}, source_ip=ip)
                answers.check(answer, [bad] if isinstance(bad, str) else [])
    answers.check_log(capsys.readouterr().out)


def test_a_good_address_with_one_bad_parameter_is_answered(house, capsys):
    chosen = random.Random(7)
    for path, names in ASKED.items():
        path = re.sub(r"{(\w+)}", lambda match: house.known[match[1]][0], path)
        for name in names:
            for bad in (*ALWAYS, *chosen.sample(kept(), min(len(kept()), EXAMPLES))):
                target = f"{path}?{urlencode({name: bad}, errors='replace')}"
                answers.check(house.http.get(target, Purpose="prefetch" if chosen.random() < 0.3 else ""), [bad])
    answers.check_log(capsys.readouterr().out)


def test_buttons_instead_of_links_hold_as_well(house, configure, capsys):
    configure(SAFE_LINKS="true", BEHIND_CLOUDFLARE="true", KEEP_IP_HASH="true", DISABLE_AUTH="true")

    @bounded(10)
    @given(data=st.data())
    def holds(data):
        method, path = data.draw(st.sampled_from(PUBLIC))
        _ask(house, method, path, data)

    holds()
    answers.check_log(capsys.readouterr().out)


def test_what_is_no_route_is_refused_as_the_rest(house):
    @bounded(5)
    @given(path=words, method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]))
    def holds(path, method):
        target = "/" + quote(path.encode("utf-8", "replace")[:2000])
        answers.check(house.http.request(method, target), [path])

    holds()

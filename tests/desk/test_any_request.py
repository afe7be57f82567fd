"""Whatever is sent to a call of the document, the answer is one of those the document names, and never a crash.

Requests are made from the document itself: values that fit a schema, values that do not, and plain nonsense."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.campaigns import service
from chalicelib.campaigns.service import Draft
from chalicelib.desk import openapi
from chalicelib.events.webhooks import service as webhooks
from chalicelib.kernel import ids
from tests.hostile.anything import bounded

CALLS = [
    (path, method)
    for path, item in sorted(openapi.document()["paths"].items())
    for method in item
    if method in ("get", "post", "patch", "delete")
]

text = st.text(st.characters(codec="utf-8"), max_size=20)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=4,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema, as far as the document uses the language of schemas."""
    if "$ref" in schema:
        return fitting(openapi.document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return st.one_of([fitting(one) for one in schema[several]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    kinds = schema.get("type", "null")
    return st.one_of([_of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def _of_kind(kind: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if kind == "string":
        formats = {
            "email": st.sampled_from(["ada@example.net", "Bo <bo@x>", "é@example.net"]),
            "uuid": st.sampled_from([ids.new(), "none"]),
            "date-time": st.sampled_from(["2030-01-01T00:00:00Z", "2026-11-16T08:00", "0001-01-01T00:00:00+14:00"]),
            "uri": st.sampled_from(["https://example.org/hook", "http://127.0.0.1:1/", "ftp://x", "https://[::1"]),
        }
        return formats.get(schema.get("format", ""), text.filter(lambda one: len(one) >= schema.get("minLength", 0)))
    if kind == "integer":
        return st.integers(schema.get("minimum", -5), schema.get("maximum", 10**6))
    if kind == "array":
        return st.lists(fitting(schema["items"]), max_size=3)
    if kind == "object":
        fields = {name: fitting(part) for name, part in schema.get("properties", {}).items()}
        required = {name: fields.pop(name) for name in list(fields) if name in schema.get("required", [])}
        return st.fixed_dictionaries(required, optional=fields)
    return {"boolean": st.booleans(), "number": st.floats(0, 10), "null": st.none()}[kind]


def _request(path: str, method: str, data: st.DataObject, known: dict[str, str]) -> tuple[str, str]:
    """An address and a body."""
    item = openapi.document()["paths"][path]
    call = item[method]
    query = []
    for one in [*item.get("parameters", []), *call.get("parameters", [])]:
        if one["in"] == "path":
            value = data.draw(st.just(known.get(one["name"], "none")) | text.filter(bool), label=one["name"])
            path = path.replace("{%s}" % one["name"], quote(value, safe=""))  # noqa: UP031
        elif one["in"] == "query" and data.draw(st.booleans()):
            value = data.draw(fitting(one["schema"]) | text, label=one["name"])
            query.append(f"{one['name']}={quote(str(value), safe='')}")
    content = call.get("requestBody", {}).get("content", {})
    schema = next((part["schema"] for part in content.values()), None)
    sent = fitting(schema) | anything if schema else st.none()
    return f"{path}?{'&'.join(query)}", json.dumps(data.draw(sent, label="body"))


@pytest.mark.parametrize(("path", "method"), CALLS)
def test_any_request_gets_a_described_answer(desk, abroad, path, method):
    known = {"campaign_id": service.create(Draft("Beans", "<p>x</p>")).campaign.id}
    known["delivery_id"] = service.view(known["campaign_id"]).deliveries[0].id
    if "webhook" in path:
        known["webhook_id"] = webhooks.add({"url": abroad.url}).webhook.id
    if "websub" in path:
        abroad.subscribe()
        known |= {"token": abroad.token}
    described = set(openapi.document()["paths"][path][method]["responses"])

    @bounded(8)
    @given(data=st.data())
    def ask(data):
        abroad.say(data)
        target, body = _request(path, method, data, known)
        sends = method in ("post", "patch")
        kind = {"Content-Type": "application/json"} if sends else {}
        answer = desk.http.request(method.upper(), target, body=body if sends else b"", headers=kind)
        assert str(answer.status) in described, (target, body, answer.status, answer.text[:200])
        assert answer.status < 500, answer.text

    ask()
    assert abroad.asked or path not in ("/admin/api/feed/check", "/admin/api/webhooks/{webhook_id}/test")

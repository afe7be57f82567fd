"""docs/events.md and the OpenAPI parts say what the code does: made from it, or run against it."""

import json
import re
import threading
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import msgspec
import pytest

from chalicelib.admin import openapi
from chalicelib.events import examples
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import handlers, service
from chalicelib.events.webhooks.model import NewWebhook

PAGE = Path(__file__).parents[3] / "docs" / "events.md"
_MADE = re.compile(r"(<!-- made from the code:.*?-->\n).*(<!-- end -->)", re.DOTALL)


def made() -> str:
    parts = [f"### {type}\n\n```json\n{json.dumps(examples.example(type), indent=2)}\n```\n\n" for type in EventType]
    return "\n" + "".join(parts)


def test_the_examples_are_those_of_the_code() -> None:
    found = _MADE.search(PAGE.read_text())
    assert found
    assert found.group(0) == found.group(1) + made() + found.group(2), (
        "run python -m tests.rooms.events.test_documentation"
    )


def test_the_receiver_of_the_documentation_receives(local: None, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    receiver: dict[str, Any] = {}
    exec(code, receiver)

    class Quiet(WSGIRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    with make_server("127.0.0.1", 0, receiver["receive"], handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        revealed = service.add(NewWebhook(url=f"http://127.0.0.1:{server.server_port}/"))
        receiver["SECRET"] = service.add(NewWebhook(url=revealed.webhook.url)).secret
        somebody_elses = service.test(revealed.webhook.id).result
        receiver["SECRET"] = revealed.secret
        ours = service.test(revealed.webhook.id).result
        server.shutdown()
        thread.join()
    assert (somebody_elses.status, ours.status) == (401, 204)
    assert len(receiver["seen"]) == 1
    assert "TEST" in capsys.readouterr().out.splitlines()


def test_the_document_that_is_served_lists_every_type_as_a_webhook_with_its_example(admin: Any) -> None:
    document = admin.get("/admin/api/openapi.json").json
    assert document["openapi"] == "3.1.0"
    shown = {
        type: call["post"]["requestBody"]["content"]["application/cloudevents+json"]["example"]
        for type, call in document["webhooks"].items()
    }
    assert shown == {type.value: examples.example(type) for type in EventType}


def test_what_is_shown_is_what_is_described(local: None) -> None:
    shown = handlers._webhook(service.add(NewWebhook(url="http://127.0.0.1:1099/")).webhook)
    described = openapi.document()["components"]["schemas"]["Webhook"]
    assert set(msgspec.to_builtins(shown)) == set(described["properties"])
    listed = {name for name, _ in re.findall(r"`(GET|POST|PATCH|DELETE) (\S+?)[`?]", PAGE.read_text())}
    assert listed == {"GET", "POST", "PATCH", "DELETE"}


if __name__ == "__main__":
    PAGE.write_text(_MADE.sub(lambda found: found.group(1) + made() + found.group(2), PAGE.read_text()))

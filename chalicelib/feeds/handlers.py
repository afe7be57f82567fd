"""The ways in: a signed webhook, a hub's questions and pushes, and what the dashboard asks."""

from datetime import datetime
from typing import Any

from msgspec import to_builtins

from chalicelib.feeds import hooks, service, websub
from chalicelib.feeds.service import View
from chalicelib.feeds.state import Check, Trigger
from chalicelib.kernel import clock
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_LONGEST_CHALLENGE = 1024


def feed_webhook(request: Request) -> Response:
    hooks.take(request.headers, request.body)
    return responses.json({"status": "accepted"}, 202)


def websub_question(request: Request) -> Response:
    asked = {name.removeprefix("hub."): value for name, value in request.query.items()}
    challenge = websub.confirm(
        request.path["token"],
        asked.get("mode", ""),
        asked.get("topic", ""),
        asked.get("challenge", "")[:_LONGEST_CHALLENGE],
        asked.get("lease_seconds", ""),
    )
    headers = {"Content-Type": "text/plain", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(200, challenge, headers)


def websub_push(request: Request) -> Response:
    signature = request.headers.get("x-hub-signature-256") or request.headers.get("x-hub-signature", "")
    websub.receive(request.path["token"], signature, request.body)
    return Response(202, "", {"Cache-Control": "no-store"})


def show_feed(request: Request) -> Response:
    return responses.json(feed_body(service.view()))


def check_feed(request: Request) -> Response:
    return responses.json(_check(service.check(Trigger.ADMIN)))


def feed_body(view: View) -> dict[str, Any]:
    state = view.state
    return {
        "url": view.url or None,
        "mode": view.mode,
        "title": state.title or None,
        "last_check": _text(state.checked_at),
        "result": state.result.value if state.result else None,
        "said": state.said or None,
        "next_check": _text(view.next_check),
        "entries_seen": state.entries,
        "last_entry_at": _text(state.watermark),
        "failures_in_a_row": state.failures,
        "stopped": state.stopped,
        "moved_to": state.permanent_url or None,
        "hub": state.hub or None,
        "campaign_id": state.campaign_id or None,
        "history": [_check(check) for check in view.history],
        "entries": view.entries,
    }


def _check(check: Check) -> dict[str, Any]:
    return {**to_builtins(check), "at": clock.text(check.at), "campaign_id": check.campaign_id or None}


def _text(moment: datetime | None) -> str | None:
    return clock.text(moment) if moment else None

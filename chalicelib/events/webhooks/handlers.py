"""Webhooks over HTTP, for the admin."""

from typing import Any

from chalicelib.access import audit
from chalicelib.events.webhooks import service
from chalicelib.events.webhooks.model import Attempt, Webhook
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def list_webhooks(request: Request) -> Response:
    return responses.json({"items": [webhook_body(webhook) for webhook in service.list_webhooks()]})


def add_webhook(request: Request) -> Response:
    revealed = service.add(request.fields)
    audit.record(request, "webhook.add", webhook_id=revealed.webhook.id)
    return responses.json(_revealed(revealed), 201)


def get_webhook(request: Request) -> Response:
    return responses.json(webhook_body(service.get(request.path["webhook_id"])))


def change_webhook(request: Request) -> Response:
    webhook = service.change(request.path["webhook_id"], request.fields)
    audit.record(request, "webhook.change", webhook_id=webhook.id)
    return responses.json(webhook_body(webhook))


def remove_webhook(request: Request) -> Response:
    service.remove(request.path["webhook_id"])
    audit.record(request, "webhook.remove", webhook_id=request.path["webhook_id"])
    return responses.no_content()


def rotate_secret(request: Request) -> Response:
    revealed = service.rotate(request.path["webhook_id"])
    audit.record(request, "webhook.rotate", webhook_id=revealed.webhook.id)
    return responses.json(_revealed(revealed))


def test_webhook(request: Request) -> Response:
    return responses.json(attempt_body(service.test(request.path["webhook_id"])))


def replay(request: Request) -> Response:
    """One event at once, a span in the background."""
    webhook_id, event_id = request.path["webhook_id"], request.text("event_id")
    if event_id:
        service.replay_event(webhook_id, event_id)
    else:
        service.replay_range(webhook_id, request.text("from"), request.text("to"))
    return responses.json({"status": "queued"}, 202)


def list_attempts(request: Request) -> Response:
    most = request.query.get("per_page", "50")
    if not (most.isascii() and most.isdigit() and len(most) < 4 and 1 <= int(most) <= 100):
        raise Invalid("per_page must be a number from 1 to 100")
    found = service.list_attempts(request.path["webhook_id"], request.query.get("before", ""), int(most))
    return responses.json({"items": [attempt_body(attempt) for attempt in found]})


def webhook_body(webhook: Webhook) -> dict[str, Any]:
    """Never the secret, nor the name of its key."""
    overlapping = webhook.live_previous(clock.now())
    return {
        "id": webhook.id,
        "url": webhook.url,
        "types": sorted(webhook.types),
        "description": webhook.description,
        "include_address": webhook.include_address,
        "state": webhook.state,
        "reason": webhook.reason,
        "failing_since": webhook.failing_since,
        "previous_secret_until": webhook.previous_until if overlapping else None,
        "created_at": webhook.created_at,
    }


def attempt_body(attempt: Attempt) -> dict[str, Any]:
    return {
        "id": attempt.id,
        "event_id": attempt.event_id,
        "type": attempt.type,
        "at": attempt.at,
        "number": attempt.number,
        "ok": attempt.result.ok,
        "status": attempt.result.status,
        "error": attempt.result.error,
        "milliseconds": attempt.result.milliseconds,
    }


def _revealed(revealed: service.Revealed) -> dict[str, Any]:
    return webhook_body(revealed.webhook) | {"secret": revealed.secret}

"""Webhooks over HTTP, for editors."""

from msgspec import UNSET

from chalicelib.access import audit
from chalicelib.events.webhooks import bodies, model, service
from chalicelib.events.webhooks.model import NewWebhook, WebhookEdits
from chalicelib.kernel import clock
from chalicelib.web import responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_NOT_FOUND = {404: "No such webhook"}


@operation("List webhooks", tag="webhooks", answers={200: Answer("All webhooks", bodies.WebhookList)})
def list_webhooks(request: Request) -> Response:
    return responses.json(bodies.WebhookList([_webhook(webhook) for webhook in service.list_webhooks()]))


@operation(
    "Add a webhook",
    tag="webhooks",
    body=NewWebhook,
    answers={201: Answer("With its secret", bodies.WebhookWithSecret)},
    refuses=(400,),
    because={409: "Too many"},
)
def add_webhook(request: Request) -> Response:
    revealed = service.add(schemas.read(NewWebhook, request.fields))
    audit.record(request, "webhook.add", webhook_id=revealed.webhook.id)
    return responses.json(_webhook_with_secret(revealed), 201)


@operation("Get a webhook", tag="webhooks", answers={200: Answer("The webhook", bodies.Webhook)}, because=_NOT_FOUND)
def get_webhook(request: Request) -> Response:
    return responses.json(_webhook(service.get(request.path["webhook_id"])))


@operation(
    "Change, pause, resume or enable a webhook",
    tag="webhooks",
    body=WebhookEdits,
    answers={200: Answer("The updated webhook", bodies.Webhook)},
    refuses=(400,),
    because=_NOT_FOUND,
)
def change_webhook(request: Request) -> Response:
    webhook = service.change(request.path["webhook_id"], schemas.read(WebhookEdits, request.fields))
    audit.record(request, "webhook.change", webhook_id=webhook.id)
    return responses.json(_webhook(webhook))


@operation("Remove a webhook", tag="webhooks", answers={204: Answer("Removed")}, because=_NOT_FOUND)
def remove_webhook(request: Request) -> Response:
    service.remove(request.path["webhook_id"])
    audit.record(request, "webhook.remove", webhook_id=request.path["webhook_id"])
    return responses.no_content()


@operation(
    "Rotate the secret; the old one signs too for 24 hours",
    tag="webhooks",
    answers={200: Answer("With its new secret", bodies.WebhookWithSecret)},
    because=_NOT_FOUND | {409: "Rotated too often today, or by someone else just now"},
)
def rotate_secret(request: Request) -> Response:
    revealed = service.rotate(request.path["webhook_id"])
    audit.record(request, "webhook.rotate", webhook_id=revealed.webhook.id)
    return responses.json(_webhook_with_secret(revealed))


@operation(
    "Send a TEST event now", tag="webhooks", answers={200: Answer("The result", bodies.Attempt)}, because=_NOT_FOUND
)
def test_webhook(request: Request) -> Response:
    return responses.json(_attempt(service.test(request.path["webhook_id"])))


@operation(
    "Replay one event, or all events in a time range",
    tag="webhooks",
    body=bodies.EventReplay | bodies.RangeReplay,
    answers={202: Answer("Runs in the background", bodies.Accepted)},
    refuses=(400,),
    because={404: "No such webhook or event", 409: "It is disabled"},
)
def replay(request: Request) -> Response:
    webhook_id = request.path["webhook_id"]
    if event_id := schemas.read(bodies.EventReplay, request.fields).event_id:
        service.replay_event(webhook_id, event_id)
    else:
        span = schemas.read(bodies.RangeReplay, request.fields)
        service.replay_range(webhook_id, span.start, span.end)
    return responses.json(bodies.Accepted("queued"), 202)


@operation(
    "List attempts of the last 7 days, newest first",
    tag="webhooks",
    query=bodies.AttemptQuery,
    answers={200: Answer("A page", bodies.AttemptList)},
    refuses=(400,),
    because=_NOT_FOUND,
)
def list_attempts(request: Request) -> Response:
    query = schemas.read(bodies.AttemptQuery, request.query)
    before = "" if query.before is UNSET else query.before
    attempts = service.list_attempts(request.path["webhook_id"], before, query.per_page)
    return responses.json(bodies.AttemptList([_attempt(attempt) for attempt in attempts]))


def _webhook(webhook: model.Webhook) -> bodies.Webhook:
    """Never the secret, nor the name of its key."""
    return schemas.build(bodies.Webhook, webhook, **_shown(webhook))


def _webhook_with_secret(revealed: service.Revealed) -> bodies.WebhookWithSecret:
    webhook = revealed.webhook
    return schemas.build(bodies.WebhookWithSecret, webhook, secret=revealed.secret, **_shown(webhook))


def _shown(webhook: model.Webhook) -> dict[str, object]:
    overlapping = webhook.live_previous(clock.now())
    return {
        "types": sorted(webhook.types),
        "previous_secret_until": webhook.previous_until if overlapping else None,
    }


def _attempt(attempt: model.Attempt) -> bodies.Attempt:
    result = attempt.result
    outcome = {name: getattr(result, name) for name in ("ok", "status", "error", "milliseconds")}
    return schemas.build(bodies.Attempt, attempt, **outcome)

"""The pages of webhooks. A secret is shown once, on the page that answers its creation."""

from typing import Any

from chalicelib.access import audit
from chalicelib.admin import shell
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import model, service
from chalicelib.events.webhooks.model import NewWebhook, Webhook, WebhookEdits
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.web import schemas
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/webhooks"
# Longer than any valid value: an invalid one is shown again in the form, but not a megabyte of it.
_LONGEST = 2_500
_BLANK = {"url": "", "description": "", "types": [], "include_address": False}


def list_webhooks(request: Request) -> Response:
    return _list(request)


def add_webhook(request: Request) -> Response:
    typed = _typed(request)
    try:
        revealed = service.add(schemas.read(NewWebhook, typed))
    except (Invalid, Conflict) as failure:
        return _list(request, 400, form=typed, problem=failure.reason)
    audit.record(request, "webhook.add", webhook_id=revealed.webhook.id)
    return shell.page(request, "admin/webhook_secret.html", here=_HERE, revealed=revealed, rotated=False)


def show_webhook(request: Request) -> Response:
    return _detail(request, service.get(request.path["webhook_id"]))


def save_webhook(request: Request) -> Response:
    webhook, typed = service.get(request.path["webhook_id"]), _typed(request)
    try:
        service.change(webhook.id, schemas.read(WebhookEdits, typed))
    except Invalid as failure:
        return _detail(request, webhook, 400, form=typed, problem=failure.reason)
    audit.record(request, "webhook.change", webhook_id=webhook.id)
    return shell.back(f"{_HERE}/{webhook.id}", "saved")


def pause_webhook(request: Request) -> Response:
    """Pause or resume, as the field `paused` says."""
    paused = request.text("paused") == "yes"
    before = service.get(request.path["webhook_id"])
    service.change(before.id, WebhookEdits(paused=paused))
    active = "enabled" if before.state == model.DISABLED else "resumed"
    return shell.back(f"{_HERE}/{before.id}", "paused" if paused else active)


def send_test_event(request: Request) -> Response:
    attempt = service.test(request.path["webhook_id"])
    return shell.back(f"{_HERE}/{request.path['webhook_id']}", "hook-ok" if attempt.result.ok else "hook-failed")


def rotate_secret(request: Request) -> Response:
    revealed = service.rotate(request.path["webhook_id"])
    audit.record(request, "webhook.rotate", webhook_id=revealed.webhook.id)
    return shell.page(request, "admin/webhook_secret.html", here=_HERE, revealed=revealed, rotated=True)


def replay_events(request: Request) -> Response:
    webhook = service.get(request.path["webhook_id"])
    event_id = request.text("event_id")
    try:
        if event_id:
            service.replay_event(webhook.id, event_id)
        else:
            service.replay_range(webhook.id, _moment(request, "from"), _moment(request, "to"))
    except (Invalid, Conflict, NotFound) as failure:
        return _detail(request, webhook, 400, problem=failure.reason)
    return shell.back(f"{_HERE}/{webhook.id}", "replaying")


def confirm_removal(request: Request) -> Response:
    webhook = service.get(request.path["webhook_id"])
    return shell.page(request, "admin/webhook_remove.html", here=_HERE, webhook=webhook)


def remove_webhook(request: Request) -> Response:
    service.remove(request.path["webhook_id"])
    audit.record(request, "webhook.remove", webhook_id=request.path["webhook_id"])
    return shell.back(_HERE, "hook-removed")


def _typed(request: Request) -> dict[str, Any]:
    return {
        "url": (request.text("url") or "")[:_LONGEST],
        "description": (request.text("description") or "")[:_LONGEST],
        "types": [type.value for type in EventType if request.text(f"type_{type.value}")],
        "include_address": bool(request.text("include_address")),
    }


def _moment(request: Request, name: str) -> str | None:
    """A `datetime-local` field has no time zone; the page labels it UTC."""
    typed = request.text(name)
    return f"{typed}Z" if typed and len(typed) == len("2026-11-16T08:00") else typed


def _list(request: Request, status: int = 200, **values: Any) -> Response:
    given = {"form": _BLANK, "types": list(EventType), **values}
    return shell.page(request, "admin/webhooks.html", status, here=_HERE, webhooks=service.list_webhooks(), **given)


def _detail(request: Request, webhook: Webhook, status: int = 200, **values: Any) -> Response:
    form = {name: getattr(webhook, name) for name in _BLANK}
    given = {"form": form, "types": list(EventType), "model": model, **values}
    attempts = service.list_attempts(webhook.id)
    return shell.page(request, "admin/webhook.html", status, here=_HERE, webhook=webhook, attempts=attempts, **given)

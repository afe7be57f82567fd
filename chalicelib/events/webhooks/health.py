"""Whether a webhook works: left alone while it fails; disabled, with a mail to the admin, once it is given up."""

from contextlib import suppress
from datetime import datetime

from msgspec.structs import replace

from chalicelib.events.webhooks import model, store
from chalicelib.events.webhooks.model import DISABLED, PATIENCE, Webhook
from chalicelib.kernel import clock, log, settings
from chalicelib.kernel.aws.failures import Stale
from chalicelib.mail import notices


def record(webhook: Webhook, sent: int, failed: int, tripped: bool, gone: bool) -> None:
    """Writes only when something changed: a webhook that works costs nothing here."""
    try:
        if gone:
            _disable(webhook, "it returned 410 Gone")
        elif sent and not tripped:
            _recovered(webhook)
        elif failed:
            _failing(webhook, tripped, clock.now())
    except Stale:
        return  # removed, repaired or paused meanwhile: the result no longer applies


def _change(webhook: Webhook, **values: str | bool | None) -> None:
    store.change(webhook.id, {"url": webhook.url, "state": webhook.state}, **values)


def _recovered(webhook: Webhook) -> None:
    if webhook.failing_since or webhook.resume_at:
        _change(webhook, failing_since=None, resume_at=None)


def _failing(webhook: Webhook, tripped: bool, now: datetime) -> None:
    since = webhook.failing_since or clock.text(now)
    if now - clock.parse(since) >= PATIENCE:
        _disable(webhook, "it has failed for three days")
    elif tripped:
        _change(webhook, failing_since=since, resume_at=clock.text(now + model.rest_time(since, now)))
    elif not webhook.failing_since:
        _change(webhook, failing_since=since)


def _disable(webhook: Webhook, reason: str) -> None:
    _change(webhook, state=DISABLED, reason=reason, resume_at=None, notice_pending=True)
    log.warning("webhook.disabled", webhook_id=webhook.id)
    notify_admin(replace(webhook, state=DISABLED, reason=reason))


def notify_admin(webhook: Webhook) -> None:
    """Mail the admin that it was disabled. If this is cut short, the next sweep has it done again."""
    notices.notify_admin(
        "A webhook was disabled",
        f"The webhook {webhook.description or webhook.id} was disabled: {webhook.reason}.\n\n"
        f"No more events are sent to it. Once it works again, enable it and replay the events it missed "
        f"(events are kept for 30 days): {settings.current().url('/admin/webhooks')}",
    )
    with suppress(Stale):  # removed meanwhile
        store.change(webhook.id, notice_pending=None)

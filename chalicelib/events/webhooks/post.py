"""One signed event to one webhook; every outcome is a result, not an exception."""

import json
import time

from chalicelib.events.model import Event
from chalicelib.events.webhooks import model, signing
from chalicelib.events.webhooks.model import Result, Webhook
from chalicelib.kernel import clock
from chalicelib.kernel.http import client

# The specification asks for 15 to 30 seconds; a call from the admin page must end before the gateway times out.
_BOUNDS = client.Bounds(seconds=15, largest=1_000_000, redirects=0)
_TYPE = {"Content-Type": "application/cloudevents+json"}


def post(webhook: Webhook, event: Event, address: str | None) -> Result:
    body = json.dumps(model.envelope(event, address), separators=(",", ":"), ensure_ascii=False).encode()
    headers = signing.headers(webhook, event.id, body, clock.now()) | _TYPE
    started = time.monotonic()
    try:
        answer = client.post(webhook.url, body, headers, _BOUNDS)
    except client.FetchFailed as failure:
        return Result(False, None, failure.reason, _milliseconds(started))
    if 200 <= answer.status < 300:
        return Result(True, answer.status, None, _milliseconds(started))
    return Result(
        False,
        answer.status,
        "redirects are not followed" if 300 <= answer.status < 400 else f"returned {answer.status}",
        _milliseconds(started),
        _seconds(answer.headers.get("retry-after", "")),
    )


def _seconds(retry_after: str) -> int:
    """Only seconds are supported; a date would need both clocks to agree."""
    return int(retry_after) if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 7 else 0


def _milliseconds(started: float) -> int:
    return int((time.monotonic() - started) * 1000)

"""The queue of mail events: what SES reports, through its SNS topic, and an editor's word about who bounced."""

import json
from typing import Any

from chalicelib.bounces import failing, service
from chalicelib.kernel import log
from chalicelib.kernel.errors import Invalid


def handle(message: Any) -> None:
    """Only our own topic and the dashboard may write to the queue, and only SES to the topic. A message that is still
    not an event about one of our mails is dropped: retrying would not change it."""
    if isinstance(message, dict) and message.get("kind") == failing.SETTLE:
        failing.settle(message)
        return
    event = _unwrap(message)
    if not isinstance(event, dict):
        return  # SES sends a sentence of plain text to a new topic
    try:
        service.record_event(event)
    except Invalid:
        log.warning("bounces.not_ours")


def _unwrap(message: Any) -> Any:
    """The event, which may come raw or in SNS's envelope."""
    if not isinstance(message, dict) or message.get("Type") != "Notification":
        return message
    try:
        return json.loads(message.get("Message", ""))
    except (TypeError, ValueError):
        return None

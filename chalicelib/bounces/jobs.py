"""Events of SES, as they come from its topic through the queue."""

import json
from typing import Any

from chalicelib.bounces import service
from chalicelib.kernel import log
from chalicelib.kernel.errors import Invalid


def handle(message: Any) -> None:
    """The queue's policy lets only our own topic write to it, and the topic's only SES. What is still not an event
    about one of our mails is left alone: trying it again would not make it one."""
    event = _unwrapped(message)
    if not isinstance(event, dict):
        return  # SES greets a new topic with a sentence
    try:
        service.record_event(event)
    except Invalid:
        log.warning("bounces.not_ours")


def _unwrapped(message: Any) -> Any:
    """Raw, or in SNS's envelope."""
    if not isinstance(message, dict) or message.get("Type") != "Notification":
        return message
    try:
        return json.loads(message.get("Message", ""))
    except (TypeError, ValueError):
        return None

"""Handing work over: one JSON message on one of this deployment's queues. Messages carry ids, never personal data."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from chalicelib.kernel import aws, settings


def name(queue: str) -> str:
    return f"{settings.current().prefix}-{queue}"


def send(queue: str, message: Mapping[str, Any], delay_seconds: int = 0) -> None:
    aws.call(
        "sqs",
        "send_message",
        QueueUrl=_url(queue),
        MessageBody=json.dumps(message),
        DelaySeconds=delay_seconds,
    )


def probe() -> None:
    """Raise `Unavailable` if the queues do not answer."""
    aws.call("sqs", "get_queue_url", QueueName=name("mail"))


@cache
def _url(queue: str) -> str:
    return str(aws.call("sqs", "get_queue_url", QueueName=name(queue))["QueueUrl"])

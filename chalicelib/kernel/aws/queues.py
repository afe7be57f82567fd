"""Handing work over: one JSON message on one of this deployment's queues. Messages carry ids, never personal data.

Through `raw`: making a boto3 client for this one call would be a seventh of a cold start.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Any

from chalicelib.kernel import log, settings
from chalicelib.kernel.aws import raw

_BATCH = 10


def name(queue: str) -> str:
    return f"{settings.current().prefix}-{queue}"


def send(queue: str, message: Mapping[str, Any], delay_seconds: int = 0) -> None:
    body = {"QueueUrl": _url(queue), "MessageBody": json.dumps(message), "DelaySeconds": delay_seconds}
    raw.sqs("SendMessage", body)


def send_many(queue: str, messages: Iterable[tuple[Mapping[str, Any], int]]) -> int:
    """Messages with the seconds each is delayed, ten a request; how many were taken. One that is not taken is lost:
    for work that is found again anyway."""
    taken, waiting = 0, iter(messages)
    while batch := list(islice(waiting, _BATCH)):
        entries = [
            {"Id": str(place), "MessageBody": json.dumps(message), "DelaySeconds": delay}
            for place, (message, delay) in enumerate(batch)
        ]
        answer = raw.sqs("SendMessageBatch", {"QueueUrl": _url(queue), "Entries": entries})
        taken += len(answer.get("Successful", ()))
    return taken


def consume(event: Mapping[str, Any], handle: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
    """Handle each message of a batch. One that fails comes back alone, and after some tries goes to the dead letters;
    the others are done."""
    failed = []
    for record in event["Records"]:
        log.begin(record["messageId"])
        try:
            handle(json.loads(record["body"]))
        except Exception as failure:
            log.exception("message.failed", failure)
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}


def probe() -> None:
    """Raise `Unavailable` if the queues do not answer."""
    raw.sqs("GetQueueUrl", {"QueueName": name("audience")})


@cache
def _url(queue: str) -> str:
    return str(raw.sqs("GetQueueUrl", {"QueueName": name(queue)})["QueueUrl"])

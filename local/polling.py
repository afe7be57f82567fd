"""What Lambda does for queues: receive a batch, call the handler, delete the messages that did not fail.

A failed message becomes visible again after the timeout of the queue, and the queue itself moves what failed too
often to its dead-letter queue: neither is imitated here.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chalice.app import Chalice

from local.gateway import handlers
from local.gateway.handlers import QueueHandler

_MOST = 10


@dataclass(frozen=True)
class Poller:
    sqs: Any
    queue: str
    handler: QueueHandler

    @property
    def name(self) -> str:
        return self.handler.name

    @cached_property
    def url(self) -> str:
        """Looked up at the first poll, which is retried when AWS does not answer."""
        return str(self.sqs.get_queue_url(QueueName=self.queue)["QueueUrl"])

    def poll(
        self,
        wait_seconds: int = 0,
        *,
        retry_at_once: bool = False,
        working: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> int:
        """Process one batch and return how many messages came. `working` is entered while there are any."""
        answer = self.sqs.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=min(self.handler.batch_size, _MOST),
            WaitTimeSeconds=wait_seconds,
            AttributeNames=["All"],
        )
        messages = answer.get("Messages", [])
        if not messages:
            return 0
        with working():
            self._settle(messages, self.handler.handle(messages), retry_at_once)
        return len(messages)

    def _settle(self, messages: Iterable[dict[str, Any]], failed: set[str], retry_at_once: bool) -> None:
        for message in messages:
            handle = message["ReceiptHandle"]
            if message["MessageId"] not in failed:
                self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=handle)
            elif retry_at_once:
                self.sqs.change_message_visibility(QueueUrl=self.url, ReceiptHandle=handle, VisibilityTimeout=0)


def pollers(app: Chalice, sqs: Any, prefix: str) -> list[Poller]:
    """One for every queue `app.py` has a handler for."""
    return [Poller(sqs, f"{prefix}-{handler.queue}", handler) for handler in handlers.queues(app)]

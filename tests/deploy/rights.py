"""Records which permissions a function uses, from the AWS calls it makes."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import app
from chalicelib.campaigns.sending import mailer
from chalicelib.events import outbox
from chalicelib.kernel import publication, settings
from chalicelib.kernel.aws import queues
from deploy import functions
from local.gateway import handlers

_READS = ("GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems")
_MAY = {
    "GetAccount": "quota",
    "GetEmailIdentity": "sender",
    "SendBulkEmail": "bulk",
    "PutEvents": "announce",
    "PutConfigurationSetSuppressionOptions": "validation",
}

Used = set[tuple[str, str]]


class Watch:
    """`running` is the function being run; calls of the test itself are not counted."""

    def __init__(self) -> None:
        self.running = ""
        self.used: dict[str, Used] = defaultdict(set)

    def hear(self, event_name: str, request: Any, **_: Any) -> None:
        if self.running:
            self.used[self.running] |= set(_rights(*event_name.split(".")[1:], request))

    def work(self, name: str, *messages: Any) -> None:
        """Run a function as in a new process, which remembers no answer from a test before."""
        for remembered in (outbox._webhooks_exist, queues._url, mailer.account_watch, mailer.shared_pace):
            remembered.cache_clear()
        publication.forget()
        self.running = name
        try:
            _call(name, messages)
        finally:
            self.running = ""

    def hold(self, name: str) -> None:
        """It has every permission it used, and no other."""
        (function,) = (one for one in functions.load() if one.name == name)
        given = {(kind, one) for kind in ("read", "write", "send", "may") for one in getattr(function, kind)}
        used = {(kind, one) for kind, one in self.used[name] if kind != "check"}
        assert not used - given, f"{name} lacks {sorted(used - given)}"
        assert not given - used, f"{name} never needs {sorted(given - used)}"
        assert {one for kind, one in self.used[name] if kind == "check"} <= {*function.read, *function.write}


def _call(name: str, messages: tuple[Any, ...]) -> None:
    for handler in handlers.queues(app.app):
        if handler.name == name:
            told = [
                {"MessageId": str(n), "ReceiptHandle": "-", "Body": json.dumps(m)} for n, m in enumerate(messages)
            ]
            assert handler.handle(told) == set()
    for schedule in handlers.schedules(app.app):
        if schedule.name == name:
            schedule.handle()


def _rights(service: str, operation: str, request: Any) -> Iterator[tuple[str, str]]:
    if service == "dynamodb":
        yield from _table_rights(operation, json.loads(request.body))
    elif service == "sqs":
        asked = json.loads(request.body)
        yield "send", _plain(asked.get("QueueName") or asked["QueueUrl"].rpartition("/")[2])
    elif service == "s3":
        yield "may", "media" if settings.current().media_bucket in request.url else "downloads"
    else:
        yield "may", _MAY.get(operation, "mail")


def _table_rights(operation: str, asked: dict[str, Any]) -> Iterator[tuple[str, str]]:
    right = "read" if operation in _READS else "write"
    for table in asked.get("RequestItems", {}) or filter(None, [asked.get("TableName")]):
        yield right, _plain(table)
    for item in asked.get("TransactItems", []):
        ((kind, part),) = item.items()
        yield "check" if kind == "ConditionCheck" else right, _plain(part["TableName"])
        if part.get("ReturnValuesOnConditionCheckFailure"):
            yield "read", _plain(part["TableName"])


def _plain(name: str) -> str:
    return name.removeprefix(f"{settings.current().prefix}-")

"""The queue and schedule handlers of `app.py`, and the events they are given."""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from chalice.app import Chalice, ScheduledEventConfig, SQSEventConfig

from local.gateway.lambda_context import LambdaContext

TEMPLATE = Path(__file__).parents[2] / "deploy" / "resources.yaml"
_ACCOUNT = "arn:aws:{service}:eu-west-1:000000000000:{name}"


@dataclass(frozen=True)
class QueueHandler:
    name: str
    queue: str  # without the prefix, as kernel.aws.queues has it
    batch_size: int
    timeout: int
    call: Any

    def handle(self, messages: Sequence[Mapping[str, Any]]) -> set[str]:
        """Give the handler a batch as Lambda does; return the ids of the messages that failed."""
        records = [_record(self.queue, message) for message in messages]
        everything = {record["messageId"] for record in records}
        try:
            answer = self.call({"Records": records}, LambdaContext(self.name, self.timeout))
        except Exception as failure:
            _report(self.name, failure)
            return everything
        failures = (answer or {}).get("batchItemFailures", []) if isinstance(answer, dict | None) else []
        return {failure["itemIdentifier"] for failure in failures}


@dataclass(frozen=True)
class ScheduleHandler:
    name: str
    expression: str
    call: Any

    def handle(self) -> None:
        event = {
            "version": "0",
            "id": str(uuid.uuid4()),
            "detail-type": "Scheduled Event",
            "source": "aws.events",
            "account": "000000000000",
            "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": "eu-west-1",
            "resources": [_ACCOUNT.format(service="events", name=f"rule/{self.name}")],
            "detail": {},
        }
        try:
            self.call(event, LambdaContext(self.name, 300))
        except Exception as failure:
            _report(self.name, failure)


def queues(app: Chalice) -> list[QueueHandler]:
    return [
        QueueHandler(
            source.name,
            _plain_name(source.queue or source.queue_arn or "", "AWS::SQS::Queue", "QueueName"),
            source.batch_size,
            _visibility(source.queue or source.queue_arn or ""),
            app.handler_map[source.name],
        )
        for source in app.event_sources
        if isinstance(source, SQSEventConfig)
    ]


def schedules(app: Chalice) -> list[ScheduleHandler]:
    return [
        ScheduleHandler(source.name, _expression(source.schedule_expression), app.handler_map[source.name])
        for source in app.event_sources
        if isinstance(source, ScheduledEventConfig)
    ]


def mail_topic(prefix: str) -> str:
    """The topic for SES events; empty if the template has none."""
    names = [_named(properties["TopicName"]) for properties in _resources("AWS::SNS::Topic").values()]
    return _ACCOUNT.format(service="sns", name=f"{prefix}-{names[0]}") if names else ""


def _expression(given: Any) -> str:
    return given if isinstance(given, str) else str(given.to_string())


@lru_cache(maxsize=1)
def _parsed(template: str) -> Any:
    return yaml.safe_load(template)["Resources"]


def _resources(kind: str) -> dict[str, dict[str, Any]]:
    resources = _parsed(TEMPLATE.read_text())
    return {name: resource.get("Properties", {}) for name, resource in resources.items() if resource["Type"] == kind}


def _find(given: str, kind: str, naming: str) -> tuple[str, dict[str, Any]]:
    """`app.py` names a queue or topic by its logical id in the template, by its name, or by an ARN that ends so."""
    resources = _resources(kind)
    for logical, properties in resources.items():
        if re.search(rf"(?<![A-Za-z0-9]){logical}(?![A-Za-z0-9])", given):
            return _named(properties[naming]), properties
    last = _named(given.rsplit(":", 1)[-1])
    found = {_named(properties[naming]): properties for properties in resources.values()}
    matching = [name for name in found if last == name or last.endswith(f"-{name}")]
    if not matching:
        raise LookupError(f"{given} is not in {TEMPLATE.name}")
    # `…-mail-events` also ends with `-events`: the longer name is meant.
    name = max(matching, key=len)
    return name, found[name]


def _plain_name(given: str, kind: str, naming: str) -> str:
    return _find(given, kind, naming)[0]


def _visibility(given: str) -> int:
    return int(_find(given, "AWS::SQS::Queue", "QueueName")[1].get("VisibilityTimeout", 30))


def _named(value: Any) -> str:
    text = value["Fn::Sub"] if isinstance(value, dict) else value
    return str(text).replace("${Prefix}-", "")


def _record(queue: str, message: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": dict(message.get("Attributes", {})),
        "messageAttributes": {},
        "md5OfBody": message.get("MD5OfBody", ""),
        "eventSource": "aws:sqs",
        "eventSourceARN": _ACCOUNT.format(service="sqs", name=queue),
        "awsRegion": "eu-west-1",
    }


def _report(name: str, failure: Exception) -> None:
    from chalicelib.kernel import log

    log.exception("handler.failed", failure, handler=name)

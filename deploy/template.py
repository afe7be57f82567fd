"""The whole as one CloudFormation template: what Chalice generates, the two files beside it, and what follows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent

Template = dict[str, Any]

_FUNCTION = "AWS::Serverless::Function"
_GATEWAY_RESPONSE = "AWS::ApiGateway::GatewayResponse"


def resources() -> Template:
    """Tables, queues and topics alone, for a stack of their own beside `chalice deploy`."""
    template = _read("resources.yaml")
    _protect_tables(template)
    return template


def to_merge() -> Template:
    """What is laid over Chalice's template by `--merge-template`."""
    service, template = _read("service.yaml"), resources()
    for section in ("Parameters", "Resources", "Outputs"):
        template[section] = template.get(section, {}) | service.pop(section, {})
    return template | service


def finish(template: Template) -> Template:
    """Put in what the merge cannot say: where events come from, the gateway's own answers, alarms for each part."""
    _connect_queues(template)
    _move_gateway_responses(template)
    _watch(template)
    return template


def named(template: Template, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, resource in template["Resources"].items():
        if resource["Type"] == kind:
            yield name, resource["Properties"]


def _read(name: str) -> Template:
    content: Template = yaml.safe_load((FOLDER / name).read_text())
    return content


def _protect_tables(template: Template) -> None:
    """Nobody can drop a table by accident, and every second of the last 35 days can be had back."""
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::DynamoDB::Table":
            resource |= {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
            resource["Properties"] |= {
                "DeletionProtectionEnabled": True,
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            }


def _connect_queues(template: Template) -> None:
    """Chalice names a queue by a text; a reference also makes CloudFormation create the queue first."""
    for name, properties in named(template, _FUNCTION):
        for event in properties.get("Events", {}).values():
            if event["Type"] == "SQS":
                queue = _found(template, event["Properties"]["Queue"], name)
                event["Properties"] |= {
                    "Queue": {"Fn::GetAtt": [queue, "Arn"]},
                    "FunctionResponseTypes": ["ReportBatchItemFailures"],
                }


def _found(template: Template, given: Any, function: str) -> str:
    """The logical id of the queue that `app.py` calls by it, by its name, or by an ARN that ends so."""
    text = str(given["Fn::Sub"] if isinstance(given, dict) else given).rpartition(":")[2]
    queues = {queue: _plain_name(properties) for queue, properties in named(template, "AWS::SQS::Queue")}
    matching = [queue for queue, plain in queues.items() if text in (queue, plain) or text.endswith(f"-{plain}")]
    if not matching:
        raise SystemExit(f"{function} listens to {text}, which is not a queue of deploy/resources.yaml")
    # `…-mail-events` ends like `…-events` too: the longer name is meant.
    return max(matching, key=lambda queue: len(queues[queue]))


def _plain_name(queue: dict[str, Any]) -> str:
    return str(queue["QueueName"]["Fn::Sub"]).removeprefix("${Prefix}-")


def _move_gateway_responses(template: Template) -> None:
    """Into the API's definition: as resources of their own they would come after the deployment that needs them."""
    answers = {}
    for name, properties in list(named(template, _GATEWAY_RESPONSE)):
        del template["Resources"][name]
        answers[properties["ResponseType"]] = {
            name[0].lower() + name[1:]: value
            for name, value in properties.items()
            if name in ("StatusCode", "ResponseParameters", "ResponseTemplates")
        }
    definition = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    definition["x-amazon-apigateway-gateway-responses"] = answers


def _watch(template: Template) -> None:
    alarms = {}
    for _, properties in named(template, "AWS::SQS::Queue"):
        if "RedrivePolicy" in properties:
            dead = properties["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
            alarms[f"{dead}Alarm"] = _dead_letter_alarm(dead)
    for name, properties in named(template, _FUNCTION):
        # What a queue's function cannot do ends in the dead letters, which are watched above.
        if not any(event["Type"] == "SQS" for event in properties.get("Events", {}).values()):
            alarms[f"{name}ErrorsAlarm"] = _errors_alarm(name)
    template["Resources"] |= alarms


def _dead_letter_alarm(queue: str) -> dict[str, Any]:
    return _alarm(
        "A job failed permanently; its message is waiting here. Fix the cause, then start a redrive.",
        "AWS/SQS",
        "ApproximateNumberOfMessagesVisible",
        {"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}},
        "Maximum",
    )


def _errors_alarm(function: str) -> dict[str, Any]:
    return _alarm(
        "A function ended with an error. See its log.",
        "AWS/Lambda",
        "Errors",
        {"Name": "FunctionName", "Value": {"Ref": function}},
        "Sum",
    )


def _alarm(description: str, namespace: str, metric: str, dimension: Any, statistic: str) -> dict[str, Any]:
    properties = {
        "AlarmDescription": description,
        "Namespace": namespace,
        "MetricName": metric,
        "Dimensions": [dimension],
        "Statistic": statistic,
        "Period": 300,
        "EvaluationPeriods": 1,
        "Threshold": 0,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "notBreaching",
        "AlarmActions": [{"Ref": "AlarmTopic"}],
    }
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


def write(template: Template, path: Path) -> None:
    path.write_text(json.dumps(template, indent=1, sort_keys=True) + "\n")

"""The CloudFormation template: what Chalice generates, merged with the YAML files here and completed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent

Template = dict[str, Any]

_FUNCTION = "AWS::Serverless::Function"
_GATEWAY_RESPONSE = "AWS::ApiGateway::GatewayResponse"

# Without members nothing arrives in these queues: no function asks for messages and no alarm watches, so that nothing
# has to be paid for them. What is left of earlier members is found by the hourly clean-ups.
_HAS_MEMBERS = "HasMembers"
_FOR_MEMBERS = {"MembersQueue", "MediaQueue", "MembersDeadLetters", "MediaDeadLetters"}


def resources() -> Template:
    """Tables, queues and topics only, for a stack of their own beside `chalice deploy`."""
    template = _read("resources.yaml")
    _protect_tables(template)
    return template


def to_merge() -> Template:
    """What `--merge-template` merges into Chalice's template."""
    service, template = _read("service.yaml"), resources()
    for section in ("Parameters", "Resources", "Outputs"):
        template[section] = template.get(section, {}) | service.pop(section, {})
    return template | service


def finish(template: Template) -> Template:
    """Add what a merge cannot express: queues as event sources, gateway responses, and alarms."""
    _connect_queues(template)
    _move_gateway_responses(template)
    _add_alarms(template)
    return template


def set_execute_api(template: Template, disabled: bool) -> None:
    """Whether the API answers at API Gateway's own URL too. Written as a value into the API's definition, not as a
    parameter: it takes effect with the API's next deployment, and only a changed definition causes one."""
    for _, api in named(template, "AWS::Serverless::Api"):
        extension = {"disableExecuteApiEndpoint": disabled}
        api["DefinitionBody"]["x-amazon-apigateway-endpoint-configuration"] = extension


def named(template: Template, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, resource in template["Resources"].items():
        if resource["Type"] == kind:
            yield name, resource["Properties"]


def _read(name: str) -> Template:
    content: Template = yaml.safe_load((FOLDER / name).read_text())
    return content


def _protect_tables(template: Template) -> None:
    """Guard tables against deletion, and turn on point-in-time recovery (35 days) unless a table says otherwise."""
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::DynamoDB::Table":
            resource |= {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
            resource["Properties"] = {
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
                **resource["Properties"],
                "DeletionProtectionEnabled": True,
            }


def _connect_queues(template: Template) -> None:
    """Replace queue names by references, so that CloudFormation creates the queue before its consumer."""
    for name, properties in named(template, _FUNCTION):
        for event in properties.get("Events", {}).values():
            if event["Type"] == "SQS":
                queue = _find_queue(template, event["Properties"]["Queue"], name)
                event["Properties"] |= {
                    "Queue": {"Fn::GetAtt": [queue, "Arn"]},
                    "FunctionResponseTypes": ["ReportBatchItemFailures"],
                }
                if queue in _FOR_MEMBERS:
                    event["Properties"]["Enabled"] = {"Fn::If": [_HAS_MEMBERS, True, False]}


def _find_queue(template: Template, given: Any, function: str) -> str:
    """The logical id of the queue for a logical id, a name, or an ARN that ends with the name."""
    text = str(given["Fn::Sub"] if isinstance(given, dict) else given).rpartition(":")[2]
    queues = {queue: _plain_name(properties) for queue, properties in named(template, "AWS::SQS::Queue")}
    matching = [queue for queue, plain in queues.items() if text in (queue, plain) or text.endswith(f"-{plain}")]
    if not matching:
        raise SystemExit(f"{function} listens to {text}, which is not a queue of deploy/resources.yaml")
    # `…-mail-events` also ends with `-events`: the longest matching name is the right one.
    return max(matching, key=lambda queue: len(queues[queue]))


def _plain_name(queue: dict[str, Any]) -> str:
    return str(queue["QueueName"]["Fn::Sub"]).removeprefix("${Prefix}-")


def _move_gateway_responses(template: Template) -> None:
    """Into the API's definition, because resources of their own would be created only after its deployment."""
    responses = {}
    for name, properties in list(named(template, _GATEWAY_RESPONSE)):
        del template["Resources"][name]
        responses[properties["ResponseType"]] = {
            name[0].lower() + name[1:]: value
            for name, value in properties.items()
            if name in ("StatusCode", "ResponseParameters", "ResponseTemplates")
        }
    definition = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    definition["x-amazon-apigateway-gateway-responses"] = responses


def _add_alarms(template: Template) -> None:
    alarms = {}
    for _, properties in named(template, "AWS::SQS::Queue"):
        if "RedrivePolicy" in properties:
            dead = properties["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
            condition = {"Condition": _HAS_MEMBERS} if dead in _FOR_MEMBERS else {}
            alarms[f"{dead}Alarm"] = condition | _dead_letter_alarm(dead)
    for name, properties in named(template, _FUNCTION):
        # Failures of a queue's function end in its dead-letter queue, which has an alarm above.
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

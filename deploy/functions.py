"""Turns `deploy/functions.yaml` into Chalice's stage configuration and one IAM policy for each function."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parent / "functions.yaml"

_HERE = "${AWS::Region}:${AWS::AccountId}"
_INDEXED = ("Query", "Scan")
_READ = ("GetItem", "BatchGetItem", "ConditionCheckItem", *_INDEXED)
_WRITE = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "ConditionCheckItem")
_SEND = ("SendMessage", "GetQueueUrl")
_CONSUME = ("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes")
_BULK = ("SendBulkEmail", "SendBulkTemplatedEmail")
_MEDIA = ("PutObject", "GetObject", "DeleteObject", "ListBucket")
_DOWNLOADS = ("PutObject", "GetObject", "DeleteObject", "AbortMultipartUpload", "ListBucket")

LOG_RETENTION = timedelta(days=30)


@dataclass(frozen=True)
class Function:
    name: str
    memory: int
    timeout: int
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    send: tuple[str, ...] = ()
    consume: tuple[str, ...] = ()
    may: tuple[str, ...] = ()

    @property
    def logical_id(self) -> str:
        """The id Chalice gives it in the template."""
        return "APIHandler" if self.name == "api_handler" else self.name.title().replace("_", "")

    @property
    def policy_file(self) -> str:
        return f"policy-{self.name}.json"

    def statements(self, log_group: str) -> list[dict[str, Any]]:
        """Policy statements. Their resources contain `${…}`, filled in by CloudFormation or by `resolve`."""
        statements = [_allow("logs", ("CreateLogStream", "PutLogEvents"), f"log-group:{log_group}:*")]
        if self.read:
            tables = _tables(self.read)
            statements.append(_allow("dynamodb", _READ, *tables, *(f"{table}/index/*" for table in tables)))
        if self.write:
            statements.append(_allow("dynamodb", _WRITE, *_tables(self.write)))
        if self.send:
            statements.append(_allow("sqs", _SEND, *(f"${{Prefix}}-{queue}" for queue in self.send)))
        if self.consume:
            statements.append(_allow("sqs", _CONSUME, *(f"${{Prefix}}-{queue}" for queue in self.consume)))
        return statements + [_RIGHTS[right] for right in self.may]


def load() -> list[Function]:
    written = yaml.safe_load(FILE.read_text())
    return [Function(name, **{k: _value(v) for k, v in values.items()}) for name, values in written.items()]


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def policy(function: Function, log_group: str) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": function.statements(log_group)}


def stage_config(functions: list[Function], architecture: str) -> dict[str, Any]:
    """A stage's part of `.chalice/config.json`."""
    return {
        "api_gateway_stage": "api",
        "api_gateway_endpoint_type": "REGIONAL",
        "autogen_policy": False,
        "lambda_architecture": architecture,
        "log_retention_in_days": LOG_RETENTION.days,
        "lambda_functions": {
            function.name: {
                "iam_policy_file": function.policy_file,
                "lambda_memory_size": function.memory,
                "lambda_timeout": function.timeout,
            }
            for function in functions
        },
    }


def resolve(value: Any, names: dict[str, str]) -> Any:
    """The policy with every `${name}` filled in, for `chalice deploy`, which does not support intrinsic functions."""
    if isinstance(value, list):
        return [resolve(item, names) for item in value]
    if isinstance(value, dict) and "Fn::Sub" in value:
        text: str = value["Fn::Sub"]
        for name, replacement in names.items():
            text = text.replace(f"${{{name}}}", replacement)
        return text
    return {key: resolve(item, names) for key, item in value.items()} if isinstance(value, dict) else value


def _allow(service: str, actions: tuple[str, ...], *resources: str) -> dict[str, Any]:
    arns = [{"Fn::Sub": f"arn:${{AWS::Partition}}:{service}:{_HERE}:{resource}"} for resource in resources]
    return {"Effect": "Allow", "Action": [f"{service}:{a}" for a in actions], "Resource": arns}


def _tables(names: tuple[str, ...]) -> list[str]:
    return [f"table/${{Prefix}}-{name}" for name in names]


def _as_sender(operator: str, statement: dict[str, Any]) -> dict[str, Any]:
    """Only as FROM_EMAIL. Its resources stay `identity/*`, because in the sandbox SES asks for a recipient's too."""
    return statement | {"Condition": {operator: {"ses:FromAddress": {"Fn::Sub": "${SenderAddress}"}}}}


def _parameters(*names: str) -> dict[str, Any]:
    return _allow("ssm", ("GetParameters",), *(f"parameter${{SecretsPath}}/{name}" for name in names))


def _bucket(kind: str, actions: tuple[str, ...]) -> dict[str, Any]:
    arn = f"arn:${{AWS::Partition}}:s3:::${{Prefix}}-{kind}-${{AWS::AccountId}}"
    return {
        "Effect": "Allow",
        "Action": [f"s3:{action}" for action in actions],
        "Resource": [{"Fn::Sub": arn + part} for part in ("", "/*")],
    }


# The second is for emails to people who were imported.
_SETS = ("configuration-set/${Prefix}", "configuration-set/${Prefix}-imported")

_RIGHTS: dict[str, dict[str, Any]] = {
    "secrets": _parameters("SECRET_KEY", "WEBHOOK_SECRET"),
    "providers": _parameters("TOKEN_KEYS", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_API_KEY"),
    "mail": _as_sender(
        "StringEqualsIgnoreCase",
        _allow("ses", ("SendEmail", "SendRawEmail"), "identity/*", "configuration-set/${Prefix}"),
    ),
    # SES does not say who the sender is when it authorizes SendBulkEmail, so the condition cannot be required of it;
    # `IfExists` holds for SendBulkTemplatedEmail, and for both should SES begin to say it.
    "bulk": _as_sender(
        "StringEqualsIgnoreCaseIfExists",
        _allow("ses", _BULK, "identity/*", "template/*", *_SETS),
    ),
    # Of the configuration set for people who were imported, and of no other.
    "validation": _allow("ses", ("PutConfigurationSetSuppressionOptions",), _SETS[1]),
    # SES supports no narrower resource for this action.
    "quota": {"Effect": "Allow", "Action": ["ses:GetAccount"], "Resource": "*"},
    # The address, its domain or a parent domain.
    "sender": _allow("ses", ("GetEmailIdentity",), "identity/*${SenderDomain}"),
    "downloads": _bucket("downloads", _DOWNLOADS),
    # Without the right to list, S3 answers 403 where there is no object.
    "media": _bucket("media", _MEDIA),
    "announce": _allow("events", ("PutEvents",), "event-bus/${EventBus}"),
}

"""Checks that the account has what the template describes."""

import json
from collections.abc import Iterator
from typing import Any

from chalicelib.kernel.findings import Finding, error, note
from chalicelib.kernel.plurals import count_of
from deploy import secrets
from deploy.checks import REDEPLOY
from deploy.stack import Clients
from deploy.stage import Stage
from deploy.template import Template, named


def check_secrets(clients: Clients, stage: Stage) -> Iterator[Finding]:
    for name in secrets.missing(clients, stage):
        is_for_tokens = name.endswith(f"/{secrets.RING}")
        why = "nobody can connect an account to follow from" if is_for_tokens else "nothing works without it"
        yield error(f"{name} is not in the parameter store", why, f"make secrets STAGE={stage.name}")


def check_tables(clients: Clients, stage: Stage, template: Template) -> Iterator[Finding]:
    dynamodb = clients("dynamodb")
    for _, wanted in named(template, "AWS::DynamoDB::Table"):
        name = _name(wanted["TableName"], stage)
        try:
            found = dynamodb.describe_table(TableName=name)["Table"]
        except dynamodb.exceptions.ResourceNotFoundException:
            yield error(f"the table {name} is missing", "whatever needs it fails", f"make deploy STAGE={stage.name}")
            continue
        yield from _check_table(dynamodb, name, wanted, found)


def _check_table(dynamodb: Any, name: str, wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[Finding]:
    if found["KeySchema"] != wanted["KeySchema"] or _indexes(found) != _indexes(wanted):
        yield error(f"the table {name} does not have the keys in the template", "reads and writes fail", REDEPLOY)
    if not found.get("DeletionProtectionEnabled"):
        yield note(f"the table {name} has no deletion protection", "one wrong click deletes it", REDEPLOY)
    backups = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    is_backed_up = backups.get("PointInTimeRecoveryDescription", {}).get("PointInTimeRecoveryStatus") == "ENABLED"
    if is_backed_up != wanted["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]:
        yield _backup_finding(name, is_backed_up)
    expiry = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    attribute = expiry.get("AttributeName") if expiry["TimeToLiveStatus"].startswith("ENABL") else None
    if attribute != wanted.get("TimeToLiveSpecification", {}).get("AttributeName"):
        yield error(
            f"the TTL of {name} does not match the template", "personal data would be kept too long", REDEPLOY
        )


def _backup_finding(name: str, is_backed_up: bool) -> Finding:
    if is_backed_up:
        why = "its rows would be kept for 35 days after they expired"
        return note(f"the table {name} has point-in-time recovery", why, REDEPLOY)
    return note(f"the table {name} has no point-in-time recovery", "a mistake could not be undone", REDEPLOY)


def _indexes(table: dict[str, Any]) -> dict[str, Any]:
    return {index["IndexName"]: index["KeySchema"] for index in table.get("GlobalSecondaryIndexes", [])}


def check_queues(clients: Clients, stage: Stage, template: Template) -> Iterator[Finding]:
    sqs = clients("sqs")
    for _, wanted in named(template, "AWS::SQS::Queue"):
        name = _name(wanted["QueueName"], stage)
        try:
            url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
        except sqs.exceptions.QueueDoesNotExist:
            yield error(f"the queue {name} is missing", "whatever needs it fails", f"make deploy STAGE={stage.name}")
            continue
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        yield from _check_queue(name, wanted, found)


def _check_queue(name: str, wanted: dict[str, Any], found: dict[str, str]) -> Iterator[Finding]:
    if "RedrivePolicy" not in wanted:
        if waiting := int(found.get("ApproximateNumberOfMessages", 0)):
            why = "a job failed permanently"
            what = count_of(waiting, "message is", "messages are")
            yield error(f"{what} waiting in {name}", why, "Fix the cause, then redrive it in SQS")
        return
    redrive = json.loads(found.get("RedrivePolicy", "{}"))
    if int(redrive.get("maxReceiveCount", 0)) != wanted["RedrivePolicy"]["maxReceiveCount"]:
        yield error(f"the queue {name} has a different redrive policy", "failed jobs would be lost", REDEPLOY)
    if int(found["VisibilityTimeout"]) != wanted.get("VisibilityTimeout", 30):
        yield note(f"the queue {name} has a different visibility timeout", "work could be done twice", REDEPLOY)


def _name(template_name: dict[str, str], stage: Stage) -> str:
    return template_name["Fn::Sub"].replace("${Prefix}", stage.prefix)

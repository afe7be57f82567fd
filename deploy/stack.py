"""Creates and updates CloudFormation stacks, and prints what changes."""

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deploy import indexes
from deploy.stage import Refused

Clients = Callable[[str], Any]

_TIMEOUT = 1800
_NO_CHANGES = ("didn't contain changes", "No updates are to be performed")
_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]


@dataclass(frozen=True)
class Uploaded:
    bucket: str
    key: str
    url: str


def upload(clients: Clients, content: bytes, suffix: str) -> Uploaded:
    """Upload to this account's bucket for packages. The key is a hash of the content: nothing is uploaded twice."""
    s3, identity = clients("s3"), clients("sts").get_caller_identity()
    region = s3.meta.region_name
    bucket = f"gna-packages-{identity['Account']}-{region}"
    _ensure_bucket(s3, bucket, region)
    key = f"{hashlib.sha256(content).hexdigest()}.{suffix}"
    if not s3.list_objects_v2(Bucket=bucket, Prefix=key).get("KeyCount"):
        s3.put_object(Bucket=bucket, Key=key, Body=content)
    return Uploaded(bucket, key, f"{s3.meta.endpoint_url}/{bucket}/{key}")


def _ensure_bucket(s3: Any, bucket: str, region: str) -> None:
    if bucket in {found["Name"] for found in s3.list_buckets()["Buckets"]}:
        return
    location = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
    s3.create_bucket(Bucket=bucket, **location)
    blocked = dict.fromkeys(
        ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"), True
    )
    s3.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=blocked)


def with_code(template: dict[str, Any], code: Uploaded) -> dict[str, Any]:
    """The template with the code of every function pointing to the upload."""
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = {"Bucket": code.bucket, "Key": code.key}
    return template


def apply(clients: Clients, name: str, template: Mapping[str, Any], parameters: Mapping[str, str]) -> dict[str, str]:
    """Create or update the stack through change sets, print what changes, wait, and return the outputs."""
    cloudformation = clients("cloudformation")
    exists = _status(cloudformation, name) not in (None, "REVIEW_IN_PROGRESS")
    deployed = _deployed(cloudformation, name) if exists else {"Resources": {}}
    for step in indexes.steps(deployed, template):
        print(f"{name}: indexes that have to be added one at a time")
        kept = [{"ParameterKey": key, "UsePreviousValue": True} for key in step.get("Parameters", {})]
        _change(clients, name, step, kept, exists=True)
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
    _change(clients, name, template, given, exists=exists)
    return outputs(clients, name)


def _change(
    clients: Clients, name: str, template: Mapping[str, Any], parameters: list[dict[str, Any]], *, exists: bool
) -> None:
    cloudformation = clients("cloudformation")
    # By URL, because a template in the call itself may have at most 51,200 bytes.
    body = upload(clients, json.dumps(template, separators=(",", ":")).encode(), "json")
    change_set = cloudformation.create_change_set(
        StackName=name,
        ChangeSetName=f"gna-{uuid.uuid4()}",
        ChangeSetType="UPDATE" if exists else "CREATE",
        TemplateURL=body.url,
        Parameters=parameters,
        Capabilities=_CAPABILITIES,
    )["Id"]
    if _describe(cloudformation, change_set):
        cloudformation.execute_change_set(ChangeSetName=change_set)
        _wait(cloudformation, name)
    else:
        cloudformation.delete_change_set(ChangeSetName=change_set)
        print(f"{name}: nothing to change")


def _deployed(cloudformation: Any, name: str) -> dict[str, Any]:
    body = cloudformation.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    found: dict[str, Any] = json.loads(body) if isinstance(body, str) else body
    return found


def outputs(clients: Clients, name: str) -> dict[str, str]:
    stack = clients("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}


def _describe(cloudformation: Any, change_set: str) -> bool:
    """Wait until the change set is ready and print it; False when there is nothing to change."""
    until = time.monotonic() + _TIMEOUT
    while time.monotonic() < until:
        found = cloudformation.describe_change_set(ChangeSetName=change_set)
        if found["Status"] == "FAILED":
            reason = found.get("StatusReason", "")
            if any(text in reason for text in _NO_CHANGES):
                return False
            raise Refused(f"CloudFormation rejected the template: {reason}")
        if found["Status"] == "CREATE_COMPLETE":
            for change in found.get("Changes", []):
                detail = change["ResourceChange"]
                print(f"  {detail['Action']:8} {detail['LogicalResourceId']} ({detail['ResourceType']})")
            return True
        time.sleep(0.5)
    raise Refused("the change set was not ready in time")


def _wait(cloudformation: Any, name: str) -> None:
    until = time.monotonic() + _TIMEOUT
    while (status := _status(cloudformation, name) or "").endswith("IN_PROGRESS"):
        if time.monotonic() > until:
            raise Refused(f"{name} is still {status}: look at its events in the console")
        time.sleep(0.5)
    if status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        raise Refused(f"{name} ended as {status}: {_first_failure(cloudformation, name)}")


def _first_failure(cloudformation: Any, name: str) -> str:
    events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
    failed = [event for event in events if event["ResourceStatus"].endswith("_FAILED")]
    if not failed:
        return "no event says why"
    first = failed[-1]
    return f"{first['LogicalResourceId']}: {first.get('ResourceStatusReason', 'no reason given')}"


def _status(cloudformation: Any, name: str) -> str | None:
    try:
        return str(cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])
    except cloudformation.exceptions.ClientError as failure:
        if "does not exist" in str(failure):
            return None
        raise

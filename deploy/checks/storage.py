"""Checks that the bucket for pictures is there, closed to the public, and emptied of what nobody wanted."""

from collections.abc import Callable, Iterator
from typing import Any

from botocore.exceptions import ClientError

from chalicelib.kernel.findings import Finding, error, note
from deploy.checks import REDEPLOY
from deploy.stack import Clients
from deploy.stage import Stage

_INCOMING = "incoming/"
_MISSING = ("404", "NoSuchBucket", "NoSuchPublicAccessBlockConfiguration", "NoSuchLifecycleConfiguration")


def check_bucket(clients: Clients, stage: Stage) -> Iterator[Finding]:
    account = clients("sts").get_caller_identity()["Account"]
    bucket, s3 = f"{stage.prefix}-media-{account}", clients("s3")
    if _answer(s3.head_bucket, bucket) is None:
        why = "nobody can upload a picture, and emails from the feed have none"
        yield error(f"the bucket {bucket} is missing", why, f"make deploy STAGE={stage.name}")
        return
    blocked = (_answer(s3.get_public_access_block, bucket) or {}).get("PublicAccessBlockConfiguration", {})
    if len(blocked) < 4 or not all(blocked.values()):
        yield error(f"the bucket {bucket} can be made public", "it also has members' private photos", REDEPLOY)
    rules = (_answer(s3.get_bucket_lifecycle_configuration, bucket) or {}).get("Rules", [])
    if not any(rule["Status"] == "Enabled" and _prefix(rule) == _INCOMING for rule in rules):
        yield note(f"the bucket {bucket} keeps abandoned uploads", "they should go after a day", REDEPLOY)


def _answer(ask: Callable[..., Any], bucket: str) -> dict[str, Any] | None:
    """None if there is no such thing."""
    try:
        return dict(ask(Bucket=bucket))
    except ClientError as failure:
        if failure.response["Error"]["Code"] in _MISSING:
            return None
        raise


def _prefix(rule: dict[str, Any]) -> str:
    return str(rule.get("Prefix") or rule.get("Filter", {}).get("Prefix") or "")

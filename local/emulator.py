"""The embedded AWS. Only this module knows that it is ministack: another emulator replaces it by offering the same
`Emulator(folder)` with `start`, `deploy`, `environment`, `empty` and `stop`."""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from local import process

REGION = "eu-west-1"
TEMPLATE = Path(__file__).parent.parent / "deploy" / "resources.yaml"

_PYTHON = Path(__file__).parent.parent / ".emulator-venv" / "bin" / "python"
_PATIENCE = 30.0
_ATTEMPTS = 3


class EmulatorFailed(Exception):
    """Its message says in one line what to do."""


class Emulator:
    """Stores its data in `folder` if `keep`. Listens on a free port of the loopback interface only, because it runs
    whatever code is uploaded to it."""

    def __init__(self, folder: Path, *, keep: bool = True, strict: bool = False) -> None:
        self._folder = folder.resolve()
        self._keep = keep
        self._strict = strict  # refuse what the role of a function does not allow, as AWS does
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: dict[tuple[str, str], Any] = {}
        self.url = ""

    def start(self) -> None:
        if not _PYTHON.exists():
            raise EmulatorFailed("The embedded AWS is not installed: run `make emulator`")
        self._folder.mkdir(parents=True, exist_ok=True)
        for _ in range(_ATTEMPTS):  # another process may take the port before ministack binds it
            port = _free_port()
            self.url = f"http://127.0.0.1:{port}"
            self._process = process.spawn(_command(port), self._settings(port), log=self._log)
            if self._is_ready():
                return
            self.stop()
        raise EmulatorFailed(f"The embedded AWS did not start: see {self._log}")

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make every AWS client of a process use this emulator and no real account."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def deploy(self, prefix: str, template: Path = TEMPLATE) -> None:
        """Create or update what the template describes; all data stays."""
        body = template.read_text()
        stack = {
            "StackName": prefix,
            "TemplateBody": body,
            "Parameters": [{"ParameterKey": "Prefix", "ParameterValue": prefix}],
        }
        cloudformation = self.client("cloudformation")
        if _status(cloudformation, prefix) is None:
            cloudformation.create_stack(**stack)
        elif not _update(cloudformation, stack):
            return
        while (status := _status(cloudformation, prefix) or "gone").endswith("IN_PROGRESS"):
            time.sleep(0.02)
        if status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            raise EmulatorFailed(f"{template.name} could not be deployed: {_reason(cloudformation, prefix)}")
        self._set_expiry(prefix, yaml.safe_load(body))

    def empty(self, prefix: str) -> None:
        """Delete every row of the tables, every message of the queues and every file of the buckets."""
        dynamodb, sqs, s3 = self.client("dynamodb"), self.client("sqs"), self.client("s3")
        for table in dynamodb.list_tables()["TableNames"]:
            if table.startswith(f"{prefix}-"):
                _empty_table(dynamodb, table)
        for queue in sqs.list_queues(QueueNamePrefix=f"{prefix}-").get("QueueUrls", []):
            sqs.purge_queue(QueueUrl=queue)
        for bucket in s3.list_buckets()["Buckets"]:
            if bucket["Name"].startswith(f"{prefix}-"):
                for file in s3.list_objects_v2(Bucket=bucket["Name"]).get("Contents", []):
                    s3.delete_object(Bucket=bucket["Name"], Key=file["Key"])

    def stop(self) -> None:
        """Stop by SIGTERM: only then it saves its data."""
        if self._process:
            process.end(self._process)
            self._process = None

    def client(self, service: str) -> Any:
        """A client of this emulator, whatever the environment says."""
        import botocore.session

        if (service, self.url) not in self._clients:
            self._clients[service, self.url] = botocore.session.get_session().create_client(
                service,
                region_name=REGION,
                endpoint_url=self.url,
                aws_access_key_id="test",
                aws_secret_access_key="test",
            )
        return self._clients[service, self.url]

    def api(self, rest_api_id: str, stage: str = "api") -> str:
        """The URL of a deployed API."""
        return f"{self.url}/_aws/execute-api/{rest_api_id}/{stage}"

    def mails(self) -> list[dict[str, Any]]:
        """The mails its own SES was given, oldest first: To (a list), Subject, BodyText and BodyHtml of each."""
        with urllib.request.urlopen(f"{self.url}/_ministack/ses/messages", timeout=10) as answer:
            return [mail for mails in json.load(answer)["messages"].values() for mail in mails]

    @property
    def _log(self) -> Path:
        return self._folder / "emulator.log"

    def _settings(self, port: int) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", ""),
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "MINISTACK_REGION": REGION,
            "PERSIST_STATE": "1" if self._keep else "0",
            "STATE_DIR": str(self._folder / "state"),
            "S3_PERSIST": "1" if self._keep else "0",
            "S3_DATA_DIR": str(self._folder / "s3"),
            "TMPDIR": str(self._folder),
            "LOG_LEVEL": "WARNING",
            "AUTH": "true" if self._strict else "false",
            # Gna needs neither these listeners nor a Docker daemon.
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "DOCKER_HOST": "unix:///nonexistent",
        }

    def _is_ready(self) -> bool:
        until = time.monotonic() + _PATIENCE
        while self.alive and time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.url}/_ministack/ready", timeout=2) as answer:
                    return bool(json.load(answer)["status"] == "completed")
            except (urllib.error.URLError, OSError):
                time.sleep(0.03)
        return False

    def _set_expiry(self, prefix: str, template: Mapping[str, Any]) -> None:
        """ministack's CloudFormation creates tables without their time to live."""
        dynamodb = self.client("dynamodb")
        for resource in template["Resources"].values():
            wanted = resource.get("Properties", {}).get("TimeToLiveSpecification")
            if resource["Type"] == "AWS::DynamoDB::Table" and wanted:
                table = resource["Properties"]["TableName"]["Fn::Sub"].replace("${Prefix}", prefix)
                dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=wanted)


def _command(port: int) -> list[str]:
    """Like its own start command, but in one process, and without waiting for long polls when it is stopped."""
    options = {"--bind": f"127.0.0.1:{port}", "--workers": "0", "--graceful-timeout": "0", "--keep-alive": "75"}
    return [
        str(_PYTHON),
        "-m",
        "hypercorn",
        "ministack.app:app",
        *(part for pair in options.items() for part in pair),
    ]


def _status(cloudformation: Any, stack: str) -> str | None:
    try:
        return str(cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"])
    except cloudformation.exceptions.ClientError:
        return None


def _reason(cloudformation: Any, stack: str) -> str:
    events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
    failed = [event for event in events if event["ResourceStatus"] in ("CREATE_FAILED", "UPDATE_FAILED")]
    return "; ".join(f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', '?')}" for event in failed)


def _update(cloudformation: Any, stack: Mapping[str, Any]) -> bool:
    """False if the template changes nothing."""
    try:
        cloudformation.update_stack(**stack)
    except cloudformation.exceptions.ClientError as failure:
        if "No updates" in str(failure):
            return False
        raise EmulatorFailed(f"The template could not be applied ({failure}): `make reset` starts over") from None
    return True


def _empty_table(dynamodb: Any, table: str) -> None:
    found = dynamodb.scan(TableName=table)
    if not found["Items"]:
        return
    keys = [key["AttributeName"] for key in dynamodb.describe_table(TableName=table)["Table"]["KeySchema"]]
    while True:
        items = found["Items"]
        for first in range(0, len(items), 25):
            deletes = [
                {"DeleteRequest": {"Key": {key: item[key] for key in keys}}} for item in items[first : first + 25]
            ]
            dynamodb.batch_write_item(RequestItems={table: deletes})
        if "LastEvaluatedKey" not in found:
            return
        found = dynamodb.scan(TableName=table, ExclusiveStartKey=found["LastEvaluatedKey"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""The deployed form: the package and the template as `make package` makes them, built once for all tests here."""

import copy
import fcntl
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy import package, secrets, stack, stage
from deploy import template as template_files
from deploy.stage import Stage
from local.emulator import Emulator
from tests.rooms.access.conftest import AUD, Team

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker("deployed")


@dataclass(frozen=True)
class Packaged:
    folder: Path
    template: dict[str, Any]

    @property
    def archive(self) -> Path:
        return self.folder / "deployment.zip"

    def resources(self, kind: str) -> dict[str, dict[str, Any]]:
        found = self.template["Resources"].items()
        return {name: resource["Properties"] for name, resource in found if resource["Type"] == kind}


@pytest.fixture(scope="session")
def packaged(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Packaged:
    """Shared by parallel test processes: the first builds it, the others wait."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "package"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        template = folder / "template.json"
        if not (folder / "deployment.zip").exists():
            package.package("test", "x86_64", folder)
    return Packaged(folder, json.loads(template.read_text()))


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Deployment:
    """The package, deployed to an emulator that refuses what a function's role does not allow."""

    emulator: Emulator
    team: Team
    prefix: str
    api: str

    def client(self, service: str) -> Any:
        return self.emulator.client(service)

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, headers=headers)

    def call(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """A request over HTTP; header names are given with underscores for dashes."""
        sent = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        data = None
        if body is not None:
            data, sent = json.dumps(body).encode(), {"Content-Type": "application/json", **sent}
        request = urllib.request.Request(self.api + path, data, sent, method=method)
        try:
            with _opener.open(request, timeout=60) as answer:
                return Answer(answer.status, answer.headers, answer.read().decode())
        except urllib.error.HTTPError as refusal:
            with refusal:
                return Answer(refusal.code, refusal.headers, refusal.read().decode())

    def function(self, logical_id: str) -> str:
        found = self.client("cloudformation").describe_stack_resource(
            StackName=self.prefix, LogicalResourceId=logical_id
        )
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    def log(self) -> str:
        """Everything the functions have logged so far."""
        logs = self.client("logs")
        groups = [group["logGroupName"] for group in logs.describe_log_groups()["logGroups"]]
        return "\n".join(
            event["message"] for group in groups for event in logs.filter_log_events(logGroupName=group)["events"]
        )

    def rows(self, table: str) -> list[dict[str, Any]]:
        items = self.client("dynamodb").scan(TableName=f"{self.prefix}-{table}", ConsistentRead=True)["Items"]
        return [{name: next(iter(value.values())) for name, value in item.items()} for item in items]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *ignored: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


@pytest.fixture(scope="session")
def deployment(packaged: Packaged, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    emulator, team = Emulator(tmp_path_factory.mktemp("deployed"), keep=False, strict=True), Team()
    emulator.start()
    try:
        yield _deployed(packaged, emulator, team)
    finally:
        emulator.stop()
        team.vanish()


def _deployed(packaged: Packaged, emulator: Emulator, team: Team) -> Deployment:
    chosen = Stage("test", SETTINGS | {"CF_ACCESS_CERTS_URL": team.url})
    template = copy.deepcopy(packaged.template)
    code = stack.upload(emulator.client, packaged.archive.read_bytes(), "zip")
    parameters = stage.parameters(chosen, template)
    template["Resources"] |= _gateway_responses()
    _widen_what_the_emulator_cannot_place(template)
    _take_photos_in_forms(template)
    secrets.ensure(emulator.client, chosen)
    emulator.client("sesv2").create_email_identity(EmailIdentity="example.org")
    outputs = stack.apply(emulator.client, chosen.prefix, stack.with_code(template, code), parameters)
    deployment = Deployment(emulator, team, chosen.prefix, emulator.api(outputs["RestAPIId"]))
    _run_soon(deployment, "SweepEvents")
    return deployment


def _run_soon(deployment: Deployment, function: str) -> None:
    events = deployment.client("events")
    arn = f"arn:aws:lambda:eu-west-1:000000000000:function:{deployment.function(function)}"
    [rule] = events.list_rule_names_by_target(TargetArn=arn)["RuleNames"]
    events.put_rule(Name=rule, ScheduleExpression="cron(* * * * ? *)")


SETTINGS = {
    "SITE_URL": "https://news.example.org",
    "FROM_EMAIL": "news@example.org",
    "ADMIN_EMAIL": "admin@example.org",
    "MEMBERS": "open",
    "ALLOWED_ORIGINS": "https://blog.example.org",
    "CF_ACCESS_TEAM_NAME": "myteam",
    "CF_ACCESS_AUD": AUD,
}


def _gateway_responses() -> dict[str, Any]:
    """The emulator supports gateway responses only as resources, not inside the API's definition."""
    service = yaml.safe_load((template_files.FOLDER / "service.yaml").read_text())["Resources"]
    return {name: r for name, r in service.items() if r["Type"] == "AWS::ApiGateway::GatewayResponse"}


def _take_photos_in_forms(template: dict[str, Any]) -> None:
    """The emulator knows binary types only as a setting of the API, not inside its definition."""
    api = template["Resources"]["RestAPI"]["Properties"]
    api["BinaryMediaTypes"] = api["DefinitionBody"]["x-amazon-apigateway-binary-media-types"]


def _widen_what_the_emulator_cannot_place(template: dict[str, Any]) -> None:
    """The emulator does not match parameter and identity ARNs, nor SES's conditions, wants a right of its own for
    messages in batches, and speaks no TLS, which buckets insist on; those policies are tested as text."""
    for name, _ in list(template_files.named(template, "AWS::S3::BucketPolicy")):
        del template["Resources"][name]
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::IAM::Role":
            for statement in resource["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]:
                if statement["Action"][0].startswith(("ssm:", "ses:")):
                    statement["Resource"] = "*"
                    statement.pop("Condition", None)
                if "sqs:SendMessage" in statement["Action"]:
                    statement["Action"].append("sqs:SendMessageBatch")  # AWS has one right for both

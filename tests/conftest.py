"""Fast tests: the whole app in this process, on moto, with the tables and queues of the real template."""

import json
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

# Before anything of ours is imported: table names are fixed at import, and no test may reach a real account.
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_DEFAULT_REGION="eu-west-1",
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    GNA_PREFIX="gna-test",
    SITE_NAME="The Daily Test",
    SITE_URL="https://news.example.org",
    ALLOWED_ORIGINS="https://blog.example.org,https://www.example.org",
    FROM_EMAIL="news@example.org",
    CONTACT_EMAIL="hello@example.org",
    ADMIN_EMAIL="admin@example.org",
    MEDIA_BUCKET="gna-test-media-000000000000",
    SECRET_KEY="a secret of thirty-two characters",
    WEBHOOK_SECRET="another secret of thirty-two chars",
)

import boto3
import pytest
import yaml
from moto import mock_aws
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from chalicelib.kernel import clock, patience, publication, settings
from chalicelib.kernel.aws import connection, queues, raw, tables
from chalicelib.kernel.aws import session as kernel_aws
from local import chromium
from local.gateway.gateway import Gateway
from tests.fixtures.client import Client

pytest_plugins = [f"tests.fixtures.{name}" for name in ("abroad", "blog", "browser", "providers", "receiver", "ses")]

_names: set[str] = set()
_ACCOUNTS = ("emulator", "browser", "deployed")
TEMPLATE = Path(__file__).parent.parent / "deploy" / "resources.yaml"


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: there is always a test that waits for something."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _slow_files_first(items)
    _skip_without_browser(items)


def _slow_files_first(items: list[pytest.Item]) -> None:
    """So that no worker is left alone with the slowest file while the others have nothing to do. The package is built
    by one file at the very start, because all that need it would wait for it."""
    slow = ("emulator", "browser", "deployed")

    def place(item: pytest.Item) -> int:
        if item.path.name == "test_archive.py" and item.get_closest_marker("deployed"):
            return -1
        return next((n for n, mark in enumerate(slow) if item.get_closest_marker(mark)), len(slow))

    items.sort(key=place)


def _skip_without_browser(items: list[pytest.Item]) -> None:
    """Without a browser its tests are skipped, with one line that says so; where everything must run, nothing is."""
    wanted = [item for item in items if item.get_closest_marker("browser")]
    if not wanted or chromium.find():
        return
    if os.environ.get("CI") == "true":
        raise pytest.UsageError("CI=true, but there is no chromium for the browser tests")
    for item in wanted:
        item.add_marker(pytest.mark.skip(reason="no chromium: `apt install chromium`, or CHROMIUM=/path/to/it"))


@pytest.fixture(autouse=True)
def _environment_stays() -> Iterator[None]:
    """What a test leaves in the environment, the next one would find there."""
    before = _environment()
    yield
    assert _environment() == before


def _environment() -> dict[str, str]:
    set_by_others = {"PYTEST_CURRENT_TEST", "AWS_EXECUTION_ENV"}  # by pytest, and by chalice when it is imported
    return {name: value for name, value in os.environ.items() if name not in set_by_others}


@pytest.fixture(autouse=True)
def _publication_is_read_anew(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What one test has made of the publication, the next one must not find. Where there is no account to read it
    from, it is as the environment describes it."""
    publication.forget()
    if not ({"aws", "account"} & set(request.fixturenames) or any(map(request.node.get_closest_marker, _ACCOUNTS))):
        monkeypatch.setattr(publication, "current", lambda: publication.from_settings(settings.current()))
    yield
    publication.forget()


@pytest.fixture(autouse=True)
def _searches_ask_anew() -> None:
    """That rows of an earlier version are filled in is remembered for a minute, but each test has new tables."""
    if filling := sys.modules.get("chalicelib.audience.filling"):
        filling.forget()


@pytest.fixture(scope="session")
def _account() -> Any:
    """Made once: creating tables and clients is most of what a fast test would cost."""
    enter("moto")
    account = mock_aws(config={"core": {"mock_credentials": False, "reset_boto3_session": False}})
    account.start()
    create_resources()
    _names.update({*_backend("dynamodb").tables, *_backend("sqs").queues})
    account.stop(remove_data=False)
    return account


@pytest.fixture
def aws(_account: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An account that has just been given the resources of the template, with nothing in them."""
    enter("moto")
    # It answers in this process: a slow answer means that the machine is busy.
    monkeypatch.setattr(patience, "_SLOW", 30.0)
    _account.start(reset=False)
    _empty()
    yield
    _account.stop(remove_data=False)


def _empty() -> None:
    """Take everything out of moto's own tables and queues: over its API that would take longer than most tests."""
    tables_, queues_ = _backend("dynamodb").tables, _backend("sqs").queues
    if {*tables_, *queues_} != _names:
        _backend("dynamodb").reset()
        _backend("sqs").reset()
        create_resources()
    get_backend("s3")[DEFAULT_ACCOUNT_ID]["aws"].reset()
    for table in _backend("dynamodb").tables.values():
        table.items.clear()
    for queue in _backend("sqs").queues.values():
        queue._messages.clear()
        queue._pending_messages.clear()
        queue.deleted_messages.clear()


def _backend(service: str) -> Any:
    return get_backend(service)[DEFAULT_ACCOUNT_ID][os.environ["AWS_DEFAULT_REGION"]]


@pytest.fixture
def media_bucket(aws: None) -> str:
    """The bucket of pictures, empty."""
    name = settings.current().media_bucket
    region = {"LocationConstraint": os.environ["AWS_DEFAULT_REGION"]}
    _client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=region)
    return name


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Call it with settings to change for this test."""

    def change(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        _forget_settings()

    yield change
    monkeypatch.undo()
    _forget_settings()


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands, so that no minute or hour ends while a limit is being reached."""
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)


@pytest.fixture
def http(aws: None) -> Client:
    """The app behind the local gateway: `http.get("/health").json`, `http.post("/x", json={…}, Origin="https://…")`."""
    import app

    return Client(Gateway(app.app))


@pytest.fixture
def admin(http: Client, configure: Any) -> Client:
    """The app as the one who runs it sees it, `dev@localhost`, with authentication off."""
    configure(DISABLE_AUTH="true")
    return http


def received(queue: str) -> list[dict[str, Any]]:
    """Take every message off a queue."""
    sqs = _client("sqs")
    url = sqs.get_queue_url(QueueName=queues.name(queue))["QueueUrl"]
    messages = []
    while batch := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        for message in batch:
            messages.append(json.loads(message["Body"]))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return messages


def create_resources() -> None:
    """Make what `deploy/resources.yaml` describes, as CloudFormation would."""
    for kind, properties in _described(settings.current().prefix):
        if kind == "AWS::DynamoDB::Table":
            _client("dynamodb").create_table(**properties)
        if kind == "AWS::SQS::Queue":
            _client("sqs").create_queue(**properties)


@cache
def _described(prefix: str) -> list[tuple[str, dict[str, Any]]]:
    """Kind and arguments of everything in the template, read once."""
    text = TEMPLATE.read_text().replace("${Prefix}", prefix)
    found = [(item["Type"], item["Properties"]) for item in yaml.safe_load(text)["Resources"].values()]
    return [(kind, _arguments(properties)) for kind, properties in found]


def _arguments(properties: dict[str, Any]) -> dict[str, Any]:
    wanted = ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "StreamSpecification")
    named = {name: properties[name]["Fn::Sub"] for name in ("TableName", "QueueName") if name in properties}
    return named | {name: properties[name] for name in wanted if name in properties}


@cache
def _client(service: str) -> Any:
    return boto3.client(service)


def _forget_settings() -> None:
    settings.current.cache_clear()
    settings._secrets.cache_clear()
    settings._provider_secrets.cache_clear()
    publication.forget()


def enter(world: str) -> None:
    """Clients are dear and are kept; only between moto and the emulator they must be made anew, because a client
    looks up its endpoint when it is made."""
    if _world[0] != world:
        _forget_clients()
        _world[0] = world


_world = ["moto"]


def _forget_clients() -> None:
    _client.cache_clear()
    kernel_aws._client.cache_clear()
    kernel_aws.session.cache_clear()
    kernel_aws.botocore_session.cache_clear()
    queues._url.cache_clear()
    connection.patient.cache_clear()
    connection.hurried.cache_clear()
    raw._connection.cache_clear()
    for row in tables.Row.__subclasses__():
        row._connection = None

"""Readers for the tests: they fill in the form, open their mail and follow its links."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience import jobs, model
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Unavailable
from local.ses.main import Client as Mailbox
from tests.conftest import received
from tests.fixtures.client import Client
from tests.fixtures.emitters import all_emitters
from tests.rooms.audience.reader import Reader

ADMIN = "admin@example.org"


@pytest.fixture
def deliver(ses: Mailbox) -> Callable[[], None]:
    """Process what is in the audience queue."""

    def run() -> None:
        for message in received("audience"):
            jobs.handle(message)

    return run


@pytest.fixture
def reader(http: Client, ses: Mailbox, deliver: Callable[[], None]) -> Callable[..., Reader]:
    """`reader("ada@example.net")`: somebody who has done nothing yet."""
    return lambda email="ada@example.net": Reader(http, ses, deliver, email)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`later(hours=25)`: everything from here on happens that much later."""
    real = clock.now
    passed = timedelta()

    def move(**time: float) -> None:
        nonlocal passed
        passed += timedelta(**time)
        monkeypatch.setattr(clock, "now", lambda: real() + passed)

    return move


@pytest.fixture
def sign_up(http, deliver):
    """`sign_up("ada", network=3)`: from an address of that network."""

    def run(name, network=0, client=1, **fields):
        body = {"email": f"{name}@example.net", **fields}
        ip = f"198.51.{network}.{client}"
        assert http.post("/api/subscribe", json=body, source_ip=ip).status == 201
        deliver()

    return run


@pytest.fixture
def release(deliver):
    """A release, and the mails it leads to."""

    def run():
        jobs.handle({"kind": model.RELEASE})
        for message in received("audience"):
            if message["kind"] != model.RELEASE:
                jobs.handle(message)

    return run


@pytest.fixture
def mailed(ses):
    """Who was mailed a confirmation, in order."""

    def run():
        found = [mail["to"][0].partition("@")[0] for mail in reversed(ses.mails()) if mail["to"] != [ADMIN]]
        ses.clear()
        return found

    return run


@pytest.fixture
def rows(aws: None) -> Callable[[str], list[dict[str, Any]]]:
    """`rows("subscribers")`: everything in a table, as stored."""
    import boto3

    return lambda table: boto3.client("dynamodb").scan(TableName=tables.name(table))["Items"]


@pytest.fixture
def calls(aws: None) -> Iterator[list[str]]:
    """Every call to AWS, in order."""
    calls: list[str] = []
    emitters = all_emitters()

    def record(event_name: str, **_: object) -> None:
        calls.append(event_name.rpartition(".")[2])

    for emitter in emitters:
        emitter.register_first("before-send", record)
    yield calls
    for emitter in emitters:
        emitter.unregister("before-send", record)


def nobody_answers(operation: str, parameters: object) -> None:
    """In place of a call to AWS that is down."""
    raise Unavailable

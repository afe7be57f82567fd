"""Readers for the tests: they fill in the form, open their mail and follow its links."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience import jobs
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Unavailable
from local.ses.main import Client as Mailbox
from tests.conftest import received
from tests.fixtures.client import Client
from tests.fixtures.emitters import all_emitters
from tests.rooms.audience.reader import Reader


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

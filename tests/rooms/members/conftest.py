"""Members for the tests, with hashes that cost less than theirs do."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import bcrypt
import pytest

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.members import jobs, passwords
from local.ses.main import Client as Mailbox
from tests.conftest import received
from tests.fixtures.client import Client
from tests.fixtures.emitters import all_emitters
from tests.rooms.members.person import Person


@pytest.fixture(autouse=True)
def _open(configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody can join. A hash of the real cost takes a quarter of a second, which is its purpose."""
    configure(MEMBERS="open")
    monkeypatch.setattr(passwords, "COST", 4)
    monkeypatch.setattr(passwords, "_NOBODYS", bcrypt.hashpw(b"nobody's", bcrypt.gensalt(4)))


@pytest.fixture
def deliver(ses: Mailbox) -> Callable[[], None]:
    """Process what is in the queue."""

    def run() -> None:
        for message in received("members"):
            jobs.handle(message)

    return run


@pytest.fixture
def person(http: Client, ses: Mailbox, deliver: Callable[[], None]) -> Callable[..., Person]:
    """`person("ada@example.net")`: somebody who has done nothing yet, on a network of their own."""
    numbers = count(1)
    return lambda email="ada@example.net": Person(http, ses, deliver, email, f"198.51.{next(numbers)}.1")


@pytest.fixture
def editor(http: Client, configure: Any) -> Client:
    """The app as an editor sees it."""
    configure(DISABLE_AUTH="true")
    return http


@pytest.fixture
def invite(editor: Client, deliver: Callable[[], None]) -> Callable[..., Any]:
    def run(email: str = "ada@example.net") -> Any:
        answer = editor.post("/admin/api/members/invitations", json={"email": email})
        assert answer.status == 201
        deliver()
        return answer.json

    return run


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
    """`rows("members")`: everything in a table, as stored."""
    import boto3

    return lambda table: boto3.client("dynamodb").scan(TableName=tables.name(table))["Items"]


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every password that was hashed, to make a hash or to compare with one."""
    done: list[bytes] = []
    make, compare = bcrypt.hashpw, bcrypt.checkpw

    def hashpw(password: bytes, salt: bytes) -> bytes:
        done.append(password)
        return make(password, salt)

    def checkpw(password: bytes, stored: bytes) -> bool:
        done.append(password)
        return compare(password, stored)

    monkeypatch.setattr(bcrypt, "hashpw", hashpw)
    monkeypatch.setattr(bcrypt, "checkpw", checkpw)
    return done


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

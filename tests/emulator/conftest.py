"""Tests on the embedded AWS, over HTTP: real conditions, transactions, races and queues. Put them into this folder;
they are marked `emulator` by that alone.

    def test_two_workers_confirm_once(emulator, http, work): ...

- `emulator`: empty tables and queues made from `deploy/resources.yaml`, and the app's environment and clients
  pointing at them. One emulator a test process, started with the first test that asks; rows and messages are taken
  out before each test. Threads may use the app at the same time: clients are made before the test begins.
- `http`: the app behind the local gateway (as in the fast tests, but on the emulator); safe to use from threads.
- `work()`: run the handlers of `app.py` in this process until every queue is empty, and say how many messages
  were handled. `work("audience")` looks at one queue only, `work(rounds=1)` takes one batch of each. A message that
  failed comes again at once, so five failures reach the dead letters without waiting.
- `work.until(condition, timeout=10)`: the same, for work that is delayed or that other threads produce.
- `tick("handler_name")`: run a schedule of `app.py` now, by the name of its function; `tick()` runs them all.
- `together(*calls)`: run calls at the same moment in threads; their results or exceptions in order.
- `short_leases`: leases and rests of a second, and an SES that takes mails as fast as they come.
- `dying(steps, action, *given)`: an action of `dying.py` in a process of its own that is killed after so many steps;
  whether it was `killed`, `done` or `failed`.
- `desk` and `member("ada")`: owners who follow, at the small providers; `later(hours=25)` moves the clock, there too.
- `sqs`: an SQS client; `received("audience-dead")` of `tests.conftest` takes the messages off a queue.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chalicelib.campaigns.sending import batch, mailer, parts, worker
from chalicelib.kernel import clock, limits, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws import session as kernel_aws
from local.emulator import Emulator
from local.gateway import handlers
from local.gateway.gateway import Gateway
from local.polling import Poller, pollers
from local.providers.main import Providers
from tests.conftest import enter
from tests.emulator.sending import FAST, LEASE_MS
from tests.fixtures.client import Client
from tests.rooms.following.conftest import Owner
from tests.rooms.sightings.person import Person

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker("emulator")


@pytest.fixture(scope="session")
def _emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    emulator = Emulator(tmp_path_factory.mktemp("emulator"), keep=False)
    emulator.start()
    emulator.deploy(settings.current().prefix)
    yield emulator
    emulator.stop()


@pytest.fixture
def emulator(_emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Emulator:
    for name, value in _emulator.environment.items():
        monkeypatch.setenv(name, value)
    _emulator.empty(settings.current().prefix)
    enter("emulator")
    # botocore's session is not safe while it makes clients: make them before any thread runs.
    limits.probe()
    queues.probe()
    return _emulator


@pytest.fixture
def http(emulator: Emulator) -> Client:
    import app

    return Client(Gateway(app.app))


@pytest.fixture
def sqs(emulator: Emulator) -> Any:
    return kernel_aws.client("sqs")


class Work:
    def __init__(self, found: list[Poller]) -> None:
        self._pollers = found

    def __call__(self, queue: str | None = None, rounds: int | None = None) -> int:
        total = 0
        while rounds is None or rounds > 0:
            handled = sum(
                poller.poll(retry_at_once=True) for poller in self._pollers if queue in (None, poller.handler.queue)
            )
            total += handled
            if not handled:
                break
            rounds = None if rounds is None else rounds - 1
        return total

    def until(self, condition: Callable[[], bool], timeout: float = 10) -> None:
        ends = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < ends, "waited too long"
            if not self():
                time.sleep(0.05)


@pytest.fixture
def work(emulator: Emulator) -> Work:
    import app

    prefix = settings.current().prefix
    return Work(pollers(app.app, kernel_aws.client("sqs"), prefix))


@pytest.fixture
def tick(emulator: Emulator) -> Callable[..., None]:
    import app

    schedules = {schedule.name: schedule for schedule in handlers.schedules(app.app)}

    def run(*names: str) -> None:
        for name in names or schedules:
            schedules[name].handle()

    return run


@pytest.fixture
def together() -> Callable[..., list[Any]]:
    def run(*calls: Callable[[], Any]) -> list[Any]:
        barrier = threading.Barrier(len(calls))
        results: list[Any] = [None] * len(calls)

        def one(index: int, call: Callable[[], Any]) -> None:
            barrier.wait()
            try:
                results[index] = call()
            except Exception as failure:
                results[index] = failure

        threads = [threading.Thread(target=one, args=pair) for pair in enumerate(calls)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    return run


@pytest.fixture(scope="module")
def _mortal(_emulator: Emulator) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.emulator.dying"]
    environment = {**os.environ, **_emulator.environment}
    with subprocess.Popen(
        command, cwd=_HERE.parent.parent, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin
        process.stdin.close()


@pytest.fixture
def dying(emulator: Emulator, _mortal: subprocess.Popen[str]) -> Callable[..., str]:
    """With the settings and the clock of the test."""

    def run(steps: int, action: str, *given: Any) -> str:
        ahead = clock.now().timestamp() - time.time()
        order = {
            "action": action,
            "given": given,
            "steps": steps,
            "ahead": ahead,
            "environment": dict(os.environ),
        }
        assert _mortal.stdin
        assert _mortal.stdout
        _mortal.stdin.write(json.dumps(order) + "\n")
        _mortal.stdin.flush()
        return _mortal.stdout.readline().strip()

    return run


@pytest.fixture
def desk(admin: Client, providers: Providers) -> Owner:
    return Owner(admin, providers, "/admin/api")


@pytest.fixture
def member(http: Client, providers: Providers, configure: Any) -> Callable[[str], Owner]:
    configure(MEMBERS="open")

    def join(name: str) -> Owner:
        person = Person(http, name)
        return Owner(http, providers, "/api", person.id, person.cookie)

    return join


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch, providers: Providers) -> Callable[..., None]:
    real, passed = clock.now, timedelta()

    def move(**time: float) -> None:
        nonlocal passed
        passed += timedelta(**time)
        providers.advance(timedelta(**time).total_seconds())
        monkeypatch.setattr(clock, "now", lambda: real() + passed)

    return move


@pytest.fixture
def recover(later: Callable[..., None], tick: Callable[..., None], work: Work) -> Callable[[], None]:
    """When the lease of whoever polled and died has ended: what the schedule does then, and nobody else."""

    def run() -> None:
        later(minutes=5)
        tick("sweep_following")
        work("feed")

    return run


@pytest.fixture
def short_leases(emulator: Any, ses: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leases and rests of a second, so that recovery can be waited for."""
    monkeypatch.setattr(worker, "LEASE_MS", LEASE_MS)
    monkeypatch.setattr(worker, "_CALL_MS", 100)
    monkeypatch.setattr(parts, "rest_seconds", lambda strikes: 1)
    monkeypatch.setattr(batch, "_LONGEST_WAIT", 0.3)
    mailer.account_watch.cache_clear()
    mailer.shared_pace.cache_clear()
    ses.tell(quota={"MaxSendRate": FAST})
    yield
    mailer.account_watch.cache_clear()
    mailer.shared_pace.cache_clear()

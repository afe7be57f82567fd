"""AWS accepts connections and never answers: a person gets an answer, a worker waits."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.kernel import patience
from chalicelib.kernel.aws import connection, session
from chalicelib.kernel.errors import Unavailable
from local.gateway.gateway import Gateway
from tests.conftest import enter
from tests.fixtures.client import Answer, Client

ID = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"
PAGES = [
    "/admin",
    "/admin/subscribers",
    "/admin/subscribers?q=ada",
    f"/admin/campaigns/{ID}/review",
    "/admin/feed",
    f"/admin/webhooks/{ID}",
    "/admin/api/campaigns",
    "/admin/api/subscribers/export",
    "/",
    "/admin/settings",
]


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every AWS service accepts connections, and that is all."""
    listening, held = socket.create_server(("127.0.0.1", 0), backlog=200), []

    def accept() -> None:
        while True:
            try:
                held.append(listening.accept()[0])
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listening.getsockname()[1]}")
    enter("silence")
    yield
    enter("nowhere")
    for accepted in held:
        accepted.close()
    listening.close()


def test_every_page_is_answered_within_ten_seconds(silence, configure):
    import app

    configure(DISABLE_AUTH="true")
    http = Client(Gateway(app.app))

    def ask(path: str) -> tuple[Answer, float]:
        begun = time.monotonic()
        return http.get(path), time.monotonic() - begun

    with ThreadPoolExecutor(len(PAGES)) as people:
        answers = dict(zip(PAGES, people.map(ask, PAGES), strict=True))
    assert {path: answer.status for path, (answer, _) in answers.items()} == {
        **dict.fromkeys(PAGES, 503),
        "/": 200,
    }
    assert {path: took for path, (_, took) in answers.items() if took > 10} == {}
    overview, _ = answers["/admin"]
    assert overview.headers["Retry-After"] == "5"
    assert 'aria-label="Dashboard"' in overview.text
    home, _ = answers["/"]
    assert "/api/subscribe" in home.text


def test_after_too_much_lost_time_nothing_is_asked_any_more(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
    asked = []

    def call(takes: float) -> None:
        with patience.counted():
            asked.append(takes)
            now[0] += takes

    with patience.limited():
        for _ in range(100):
            call(1.9)  # slow, but answered: a search through everybody
        call(2.9)
        call(6)
        with pytest.raises(Unavailable):
            call(0)
    for _ in range(3):
        call(60)  # a worker
    assert asked[100:] == [2.9, 6, 60, 60, 60]


def test_a_request_starts_with_all_its_patience():
    assert not patience.is_limited()
    with patience.limited():
        assert patience.is_limited()
    assert not patience.is_limited()


def test_only_what_a_request_waits_for_is_hurried(aws):
    patient = session.client("sqs").meta.config
    with patience.limited():
        hurried, once, files = (session.client(*given).meta.config for given in (("sqs",), ("sqs", 1), ("s3",)))
    assert (patient.read_timeout, patient.retries["total_max_attempts"]) == (10, 3)
    assert (hurried.read_timeout, hurried.retries["total_max_attempts"]) == (2.5, 2)
    assert (once.read_timeout, files.read_timeout) == (10, 10)
    assert connection.patient().client.meta.config.read_timeout == 5
    assert connection.hurried().client.meta.config.read_timeout == 2.5

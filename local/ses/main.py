"""The local SES: `python -m local.ses --port 8025 --data DIR`. It is the mailbox too, and never deployed.

The API speaks SES v2's REST JSON under `/v2/email`; people read mails at `/`; tests control it at `/control`.
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from local.ses import wire
from local.ses.events import Publisher
from local.ses.mailbox import MOST_LISTED
from local.ses.server import Server


class Client:
    """Controls a local SES from a test or a runner, wherever it runs."""

    def __init__(self, url: str) -> None:
        self.url = url

    def mails(self, to: str = "", limit: int = MOST_LISTED) -> list[dict[str, Any]]:
        """Newest first."""
        return list(self._call("GET", "/mailbox.json?" + urlencode({"to": to, "limit": limit})))

    def clear(self) -> None:
        self._call("DELETE", "/mailbox.json")

    def tell(self, **orders: Any) -> None:
        """See `Faults` for what can be set."""
        self._call("POST", "/control", orders)

    def stats(self) -> dict[str, Any]:
        return dict(self._call("GET", "/control/stats"))

    def events(self) -> list[dict[str, Any]]:
        return list(self._call("GET", "/control/events"))

    def reset(self) -> None:
        """As if just started on an empty directory."""
        self.tell(reset=True)
        self.clear()
        self._call("DELETE", "/control/stats")

    def html(self, mail_id: str) -> str:
        return str(self._call("GET", f"/mailbox/{quote(mail_id)}.html"))

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 400:
            raise ValueError(f"{method} {path} answered {answer.status}: {text}")
        return json.loads(text) if "json" in (answer.getheader("Content-Type") or "") else text


@contextlib.contextmanager
def start(
    port: int = 0, data: Path | None = None, sink: bool = False, sns_endpoint: str = "", topic: str = ""
) -> Iterator[Client]:
    """A local SES in a thread of this process; without `data` its mails are in memory only."""
    started: dict[str, Any] = {}
    ready = threading.Event()

    async def run() -> None:
        started["loop"], started["stop"] = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = Server(data, sink, Publisher(sns_endpoint, topic))
            listener = await wire.listen(server.answer, port)
            started["port"] = listener.sockets[0].getsockname()[1]
        except OSError as failure:
            started["failure"] = failure
            return
        finally:
            ready.set()
        await _until(started["stop"], listener, server)

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="ses", daemon=True)
    thread.start()
    ready.wait()
    if "failure" in started:
        raise started["failure"]
    try:
        yield Client(f"http://127.0.0.1:{started['port']}")
    finally:
        started["loop"].call_soon_threadsafe(started["stop"].set)
        thread.join(5)


async def _until(stop: asyncio.Event, listener: asyncio.Server, server: Server) -> None:
    await stop.wait()
    listener.close()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    server.mailbox.close()


@contextlib.contextmanager
def spawn(*arguments: str) -> Iterator[Client]:
    """A local SES in a process of its own, for benchmarks; the arguments are those of the command."""
    command = [sys.executable, "-m", "local.ses.main", "--port", "0", *arguments]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the local SES did not start")
        yield Client(line.split()[-1])
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()  # type: ignore[union-attr]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local.ses", description=__doc__)
    parser.add_argument("--port", type=int, default=8025)
    parser.add_argument("--data", type=Path, help="where emails are stored (in memory if not given)")
    parser.add_argument("--sns-endpoint", default="", help="where events of the mailbox simulator are published")
    parser.add_argument("--topic", default="", help="ARN of their topic")
    parser.add_argument("--sink", action="store_true", help="count only, store nothing")
    options = parser.parse_args()
    try:
        asyncio.run(_serve(options))
    except OSError as failure:
        reason = failure.strerror or str(failure)
        print(f"ses: port {options.port} cannot be used ({reason}); choose another with --port", file=sys.stderr)
        return 1
    return 0


async def _serve(options: argparse.Namespace) -> None:
    server = Server(options.data, options.sink, Publisher(options.sns_endpoint, options.topic))
    listener = await wire.listen(server.answer, options.port)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    print(f"ses: http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", flush=True)
    await _until(stop, listener, server)


if __name__ == "__main__":
    sys.exit(main())

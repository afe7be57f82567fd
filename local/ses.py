"""The local SES: `python -m local.ses --port 8025 --data DIR`. It is the mailbox too; never part of the package.

The API speaks SES v2's REST JSON under `/v2/email`; people look at `/`; tests steer it by `/control`.
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from local import mailbox_wire
from local.mailbox import MOST_LISTED, Mailbox
from local.mailbox_api import Api, Refusal
from local.mailbox_events import Publisher
from local.mailbox_faults import Faults
from local.mailbox_wire import Reply, Request, json_reply

_PAGE = Path(__file__).parent / "mailbox.html"
_SUMMARY = ("id", "at", "to", "from", "subject")
_DARK_QUERY = re.compile(r"\(\s*prefers-color-scheme\s*:\s*dark\s*\)")
_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "frame-src 'self'"
)
# A mail is a stranger here: no script, no frame of ours, nothing but itself; its links open elsewhere.
_MAIL_POLICY = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src https: http: data:; "
    "style-src 'unsafe-inline'; font-src https:"
)


class Server:
    """Requests to answers. One event loop, so that nothing here needs a lock."""

    def __init__(self, data: Path | None, sink: bool = False, publisher: Publisher | None = None) -> None:
        self.faults = Faults()
        self.publisher = publisher or Publisher()
        self.mailbox = Mailbox(data)
        self.api = Api(None if sink else self.mailbox, self.faults, self.publisher)

    async def answer(self, request: Request) -> Reply | None:
        if request.path.startswith("/v2/email/"):
            return await self._api(request)
        if request.path.startswith("/control"):
            return self._control(request)
        return self._people(request)

    async def _api(self, request: Request) -> Reply | None:
        if self.faults.delay_ms:
            await asyncio.sleep(self.faults.delay_ms / 1000)
        operation = _operation(request)
        self.api.calls[operation] += 1
        if self.faults.down:
            self.api.answers["none"] += 1
            return None
        reply = self._operate(operation, request)
        if operation.startswith("Send") and self.faults.loses_answer():
            self.api.answers["none"] += 1
            return None
        self.api.answers[str(reply.status)] += 1
        return reply

    def _operate(self, operation: str, request: Request) -> Reply:
        try:
            if operation.startswith("Send") and (failure := self.faults.of_call()):
                status, code, message = failure
                raise Refusal(code, message, status)
            match operation:
                case "SendEmail":
                    return self.api.send_email(request.body)
                case "SendBulkEmail":
                    return self.api.send_bulk_email(request.body)
                case "GetAccount":
                    return self.api.account()
                case "GetEmailIdentity":
                    return self.api.identity(request.path.rpartition("/")[2])
            raise Refusal("NotFoundException", "Not an operation of the local SES.")
        except Refusal as refusal:
            return refusal.reply

    def _control(self, request: Request) -> Reply:
        match request.method, request.path:
            case "POST", "/control":
                try:
                    self.faults.tell(json.loads(request.body or b"{}"))
                except (ValueError, AttributeError) as failure:
                    return json_reply({"error": str(failure)}, 400)
                return json_reply(self.faults.state())
            case "GET", "/control":
                return json_reply(self.faults.state())
            case "GET", "/control/stats":
                return json_reply(self._stats(request.query.get("addresses") != "false"))
            case "DELETE", "/control/stats":
                self.api.forget()
                self.publisher.recent.clear()
                return Reply(204)
            case "GET", "/control/events":
                return json_reply(list(self.publisher.recent))
        return Reply(404)

    def _stats(self, addresses: bool) -> dict[str, Any]:
        stats = {"calls": self.api.calls, "answers": self.api.answers, "recipients": self.api.recipients}
        return stats | ({"addresses": self.api.addresses} if addresses else {})

    def _people(self, request: Request) -> Reply:
        match request.method, request.path:
            case (("GET" | "HEAD"), "/"):
                headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _PAGE_POLICY}
                return Reply(200, _PAGE.read_bytes(), headers)
            case "GET", "/mailbox.json":
                return self._list(request.query)
            case "DELETE", "/mailbox.json":
                self.mailbox.clear()
                return Reply(204)
        if request.method == "GET" and request.path.startswith("/mailbox/"):
            return self._one(request.path.removeprefix("/mailbox/"), request.query.get("scheme", ""))
        return Reply(404, b"Nothing here", {"Content-Type": "text/plain"})

    def _list(self, query: dict[str, str]) -> Reply:
        limit = query.get("limit", "")
        found = self.mailbox.list(
            query.get("to", ""), query.get("q", ""), int(limit) if limit.isdigit() else MOST_LISTED
        )
        if "summary" in query:
            mails = [{name: mail[name] for name in _SUMMARY} for mail in found]
            return json_reply({"count": self.mailbox.count(), "mails": mails})
        return json_reply(list(found))

    def _one(self, name: str, scheme: str) -> Reply:
        mail_id, _, form = name.rpartition(".")
        mail = self.mailbox.get(mail_id)
        if mail is None or form not in ("html", "json"):
            return Reply(404, b"Nothing here", {"Content-Type": "text/plain"})
        if form == "json":
            return json_reply(mail)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _MAIL_POLICY}
        return Reply(200, _in_scheme(_linked_outside(mail["html"]), scheme).encode(), headers)


def _linked_outside(html: str) -> str:
    """After the doctype, or the browser would show the mail in quirks mode."""
    base = '<base target="_blank">'
    return html.replace("<head>", f"<head>{base}", 1) if "<head>" in html else base + html


def _in_scheme(html: str, scheme: str) -> str:
    """Light or dark as asked for, whatever the browser prefers: the mail's own question gets a fixed answer."""
    if scheme not in ("light", "dark"):
        return html
    html = _DARK_QUERY.sub("(min-width: 0)" if scheme == "dark" else "(max-width: 0)", html)
    return html.replace('name="color-scheme" content="light dark"', f'name="color-scheme" content="{scheme}"')


def _operation(request: Request) -> str:
    match request.method, request.path.removeprefix("/v2/email/"):
        case "POST", "outbound-emails":
            return "SendEmail"
        case "POST", "outbound-bulk-emails":
            return "SendBulkEmail"
        case "GET", "account":
            return "GetAccount"
        case "GET", path if path.startswith("identities/"):
            return "GetEmailIdentity"
    return "Unknown"


class Client:
    """What a test or a runner says to a local SES, wherever it runs."""

    def __init__(self, url: str) -> None:
        self.url = url

    def mails(self, to: str = "", limit: int = MOST_LISTED) -> list[dict[str, Any]]:
        """Newest first."""
        return list(self._call("GET", "/mailbox.json?" + urlencode({"to": to, "limit": limit})))

    def clear(self) -> None:
        self._call("DELETE", "/mailbox.json")

    def tell(self, **orders: Any) -> None:
        """See `Faults` for what can be told."""
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
    """A local SES in a thread of this process; without `data` its mails are kept in memory only."""
    started: dict[str, Any] = {}
    ready = threading.Event()

    async def run() -> None:
        started["loop"], started["stop"] = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = Server(data, sink, Publisher(sns_endpoint, topic))
            listener = await mailbox_wire.listen(server.answer, port)
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
    command = [sys.executable, "-m", "local.ses", "--port", "0", *arguments]
    process = subprocess.Popen(command, cwd=Path(__file__).parent.parent, stdout=subprocess.PIPE, text=True)
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
    parser.add_argument("--data", type=Path, help="where mails are kept (in memory if not given)")
    parser.add_argument("--sns-endpoint", default="", help="where events of the mailbox simulator are published")
    parser.add_argument("--topic", default="", help="ARN of their topic")
    parser.add_argument("--sink", action="store_true", help="count only, keep nothing")
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
    listener = await mailbox_wire.listen(server.answer, options.port)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    print(f"ses: http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", flush=True)
    await _until(stop, listener, server)


if __name__ == "__main__":
    sys.exit(main())

"""A complete Gna for a trial: every part is a process that can be watched, frozen, killed and started again."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from local import options as _options
from local import process
from local.emulator import Emulator
from local.gateway import handlers
from local.options import PREFIX, Options
from local.ses.main import Client as Mailbox
from local.trial.proxy import Proxy

_ROOT = Path(__file__).parents[2]
_COMMANDS = {"workers": "local.work", "app": "local.gateway.web"}


class Stack:
    """`through_proxy`: the app and its workers reach AWS through a proxy that can misbehave on request. `dynamodb`:
    where another DynamoDB than the embedded AWS's is, with our tables in it."""

    def __init__(self, folder: Path, *, through_proxy: bool, dynamodb: str | None = None, **settings: str) -> None:
        self.folder = folder
        self._dynamodb = dynamodb
        self.options = Options(_free_port(), _free_port(), folder, tick=None, providers_port=_free_port())
        self._emulator = Emulator(folder / "emulator")
        self.proxy = Proxy() if through_proxy else None
        # The mailbox finds the emulator by it, also after a restart at another port; it never misbehaves.
        self._way = Proxy()
        self._settings = settings
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.ended: list[str] = []
        # The kernel stops a child when the thread that started it ends, so one lasting thread starts them all.
        self._starter = ThreadPoolExecutor(1)
        self.mailbox = Mailbox(self.options.mail_url)
        self.env: dict[str, str] = {}

    def __enter__(self) -> "Stack":
        self._emulator.start()
        self._emulator.deploy(PREFIX)
        self.env = _options.environment(self.options, os.environ) | self._emulator.environment | self._settings
        self.env |= {"AWS_ENDPOINT_URL_SESV2": self.options.mail_url, "PYTHONPATH": str(_ROOT)}
        if self._dynamodb:
            self.env["AWS_ENDPOINT_URL_DYNAMODB"] = self._dynamodb
        self._way.start(_port(self._emulator.url))
        if self.proxy:
            self.proxy.start(_port(self._emulator.url))
            self.env["AWS_ENDPOINT_URL"] = self.proxy.url
        mailbox = ["--port", str(self.options.mail_port), "--data", str(self.folder / "mailbox")]
        self._spawn(
            "mailbox",
            "local.ses.main",
            *mailbox,
            "--topic",
            handlers.mail_topic(PREFIX),
            "--sns-endpoint",
            self._way.url,
        )
        providers = ["--port", str(self.options.providers_port), "--data", str(self.folder / "providers")]
        self._spawn("providers", "local.providers.main", *providers)
        for name in _COMMANDS:
            self.begin(name)
        self.wait_until_well()
        return self

    def __exit__(self, *failure: Any) -> None:
        self.thaw()
        for name in ("app", "workers", "mailbox", "providers"):
            process.end(self._running[name])
        self._emulator.stop()
        self._way.stop()
        if self.proxy:
            self.proxy.stop()
        self._starter.shutdown()

    def begin(self, name: str) -> None:
        self._spawn(name, _COMMANDS[name])

    def kill(self, name: str) -> None:
        """At once and without warning, as a machine fails."""
        if not self._alive(name):
            self.ended.append(name)
            return
        os.killpg(self._running[name].pid, signal.SIGKILL)
        self._running[name].wait()

    def tend(self) -> None:
        """Restart what ended by itself; nothing should."""
        for name in _COMMANDS:
            if not self._alive(name):
                self.ended.append(name)
                self.begin(name)

    def freeze(self, name: str) -> None:
        if self._alive(name):
            os.kill(self._pid(name), signal.SIGSTOP)

    def thaw_one(self, name: str) -> None:
        if self._alive(name):
            os.kill(self._pid(name), signal.SIGCONT)

    def thaw(self) -> None:
        for name in ("emulator", *self._running):
            self.thaw_one(name)

    def tell_ses(self, **orders: Any) -> None:
        with contextlib.suppress(OSError):  # it is frozen, which is fault enough
            self.mailbox.tell(**orders)

    def restart_emulator(self) -> None:
        """It keeps its data, but does not answer for a while; the proxy is pointed to its new port."""
        self._emulator.stop()
        self._starter.submit(self._emulator.start).result()
        assert self.proxy
        self.proxy.upstream = self._way.upstream = _port(self._emulator.url)

    def aws(self, service: str) -> Any:
        """Not affected by any fault."""
        if service == "dynamodb" and self._dynamodb:
            from bench import exact

            return exact.client(self._dynamodb)
        return self._emulator.client(service)

    def wait_until_well(self, patience: float = 60) -> None:
        until = time.monotonic() + patience
        while True:
            try:
                with urllib.request.urlopen(f"{self.options.url}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                pass
            if time.monotonic() > until:
                raise TimeoutError("the app did not become well")
            time.sleep(0.2)

    def log(self) -> str:
        return "".join(file.read_text(errors="replace") for file in sorted(self.folder.glob("*.log")))

    def _spawn(self, name: str, *command: str) -> None:
        log = self.folder / f"{name}-{time.time_ns()}.log"
        start = self._starter.submit(process.spawn, [sys.executable, "-m", *command], self.env, log=log, cwd=_ROOT)
        self._running[name] = start.result()

    def _pid(self, name: str) -> int:
        if name == "emulator":
            assert self._emulator._process
            return self._emulator._process.pid
        return self._running[name].pid

    def _alive(self, name: str) -> bool:
        return self._emulator.alive if name == "emulator" else self._running[name].poll() is None


def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="gna-trial-"))


def _port(url: str) -> int:
    return int(url.rsplit(":", 1)[1])


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""A real local Gna for a test: the command, its ports, its output, and what is left of it afterwards."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Runner:
    def __init__(self, folder: Path, **settings: str) -> None:
        self.port, self.mail_port, self.providers_port = free_port(), free_port(), free_port()
        self.folder = folder
        self.url, self.mail_url = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.mail_port}"
        self.providers_url = f"http://127.0.0.1:{self.providers_port}"
        self.youtube, self.spotify = f"{self.providers_url}/youtube", f"{self.providers_url}/spotify"
        self._settings = settings
        self._output = folder.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *command: str) -> "Runner":
        self.launch(*command)
        until = time.monotonic() + 60
        while "Gna is running" not in self.output:
            assert self.process.poll() is None, self.output
            assert time.monotonic() < until, self.output
            time.sleep(0.1)
        return self

    def launch(self, *command: str) -> None:
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                command or (sys.executable, "-m", "local.run"),
                cwd=ROOT,
                env=self._environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process
        return self._process

    @property
    def output(self) -> str:
        return self._output.read_text()

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)

    def interrupt(self) -> int:
        """What a terminal does on Ctrl-C."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(30)

    def family(self) -> list[int]:
        """Every process that was started, directly or not, by the one we started."""
        parents = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
        family = [self.process.pid]
        for pid in family:
            family += [child for child, parent in parents.items() if parent == pid]
        return family

    def get(self, path: str, *, mail: bool = False) -> tuple[int, str]:
        return self._ask(urllib.request.Request((self.mail_url if mail else self.url) + path))

    def post(self, path: str, body: Any, content_type: str = "application/json") -> tuple[int, str]:
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        return self._ask(urllib.request.Request(self.url + path, raw, {"Content-Type": content_type}))

    def mails(self) -> list[dict[str, Any]]:
        return list(json.loads(self.get("/mailbox.json", mail=True)[1]))

    def wait_for_mail(self, to: str, count: int = 1, seconds: float = 60) -> list[dict[str, Any]]:
        until = time.monotonic() + seconds
        while len(found := [mail for mail in self.mails() if to in mail["to"]]) < count:
            assert time.monotonic() < until, self.output
            time.sleep(0.1)
        return found

    def _ask(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as failure:
            with failure:
                return failure.code, failure.read().decode()

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        ours = {"PORT": str(self.port), "MAIL_PORT": str(self.mail_port), "LOCAL_DIR": str(self.folder)}
        ours["PROVIDERS_PORT"] = str(self.providers_port)
        return kept | ours | self._settings


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids: list[int], seconds: float = 15) -> list[int]:
    """Which of them are still there after that long."""
    until = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < until:
        time.sleep(0.1)
    return left

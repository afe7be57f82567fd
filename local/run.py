"""`make run`: everything Gna needs, on this machine, until Ctrl-C."""

import errno
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from local import options as _options
from local import process
from local.emulator import Emulator, EmulatorFailed
from local.gateway import handlers
from local.options import PREFIX, BadOption, Options

_ROOT = Path(__file__).parent.parent
_PATIENCE = 60.0
_PROVIDERS = "the small YouTube and Spotify"


class Failed(Exception):
    """Its message says in one line what is wrong and what to do."""


class Stopped(Exception):
    """We were asked to stop."""


def main() -> int:
    if "MAKELEVEL" in os.environ:  # if make is killed, nothing else would stop us
        process.end_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        _run(_options.read(os.environ))
    except (Failed, BadOption, EmulatorFailed) as failure:
        print(f"gna: {failure}", file=sys.stderr)
        return 1
    except Stopped:
        print("gna: stopped", flush=True)
    return 0


def _stop(number: int, frame: Any) -> None:
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)  # once is enough: everything is being stopped in order
    raise Stopped


def _run(options: Options) -> None:
    env = _options.environment(options, os.environ)
    _check_settings(env)
    with ExitStack() as ending:
        ending.enter_context(_locked(options.folder))
        _check_free(options.port, "PORT")
        _check_free(options.mail_port, "MAIL_PORT")
        if options.providers_port and _options.has_providers(options, env):
            _check_free(options.providers_port, "PROVIDERS_PORT")
        emulator = Emulator(options.folder / "emulator")
        ending.callback(emulator.stop)
        _say("starting the embedded AWS, which takes a few seconds")
        emulator.start()
        _say("creating tables, queues and topics")
        emulator.deploy(PREFIX)
        _say("starting the mailbox, the workers and the app")
        env |= emulator.environment | {"AWS_ENDPOINT_URL_SESV2": options.mail_url, "PYTHONPATH": str(_ROOT)}
        children = _children(options, env, ending)
        _write_environment(options.folder, env, ending)
        _wait_until_well(options, children)
        _print_welcome(options, env)
        _watch(emulator, children)


def _say(what: str) -> None:
    print(f"gna: {what}", flush=True)


def _children(options: Options, env: dict[str, str], ending: ExitStack) -> dict[str, subprocess.Popen[bytes]]:
    """Started in this order and stopped in reverse: first what answers people, last what it relies on."""
    mailbox = ["--port", str(options.mail_port), "--data", str(options.folder / "mailbox")]
    if topic := handlers.mail_topic(PREFIX):
        mailbox += ["--sns-endpoint", env["AWS_ENDPOINT_URL"], "--topic", topic]
    providers = ["--port", str(options.providers_port), "--data", str(options.folder / "providers")]
    commands = {
        "the mailbox": ["local.ses.main", *mailbox],
        _PROVIDERS: ["local.providers.main", *providers, "--app-url", options.url],
        "the workers": ["local.work"],
        "the app": ["local.gateway.web"],
    }
    if not _options.has_providers(options, env):
        del commands[_PROVIDERS]
    children = {}
    for name, arguments in commands.items():
        children[name] = process.spawn([sys.executable, "-m", *arguments], env, cwd=_ROOT)
        ending.callback(process.end, children[name])
    return children


def _check_settings(env: dict[str, str]) -> None:
    from chalicelib.kernel import settings
    from chalicelib.kernel.errors import Misconfigured

    try:
        settings.load(env)
    except Misconfigured as failure:
        raise Failed(failure.reason) from None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Two runners on the same data would overwrite each other's changes."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as failure:
        raise Failed(f"{folder} cannot be written ({failure.strerror}): choose another with LOCAL_DIR=…") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed(f"Gna is already running on {folder}: stop it, or choose another with LOCAL_DIR=…") from None
        yield


def _check_free(port: int, name: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError as failure:
            what = "is in use" if failure.errno == errno.EADDRINUSE else f"cannot be used ({failure.strerror})"
            raise Failed(f"Port {port} {what}: choose another with {name}={port + 1} make run") from None


def _wait_until_well(options: Options, children: dict[str, subprocess.Popen[bytes]]) -> None:
    until = time.monotonic() + _PATIENCE
    urls = [f"{options.mail_url}/mailbox.json?limit=1", f"{options.url}/health"]
    urls += [f"{options.providers_url}/control/calls"] if _PROVIDERS in children else []
    for url in urls:
        while not _answers(url):
            _check_alive(children)
            if time.monotonic() > until:
                raise Failed(f"{url} does not respond: see the output above")
            time.sleep(0.1)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _check_alive(children: dict[str, subprocess.Popen[bytes]]) -> None:
    for name, child in children.items():
        if child.poll() is not None:
            raise Failed(f"{name} stopped unexpectedly (exit code {child.returncode}): see the output above")


def _watch(emulator: Emulator, children: dict[str, subprocess.Popen[bytes]]) -> None:
    while True:
        time.sleep(0.5)
        _check_alive(children)
        if not emulator.alive:
            raise Failed("the embedded AWS stopped unexpectedly: see emulator/emulator.log")


def _write_environment(folder: Path, env: dict[str, str], ending: ExitStack) -> None:
    """Lets `make demo` find a running Gna. The file holds secrets, like the folder it is in."""
    file = folder / "running.json"
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        ours = ("AWS_", "GNA_", "SITE_", "SECRET_KEY", "WEBHOOK_SECRET", "FROM_", "CONTACT_", "ADMIN_")
        names = (*ours, "TOKEN_KEYS", "YOUTUBE_", "SPOTIFY_")
        json.dump({name: value for name, value in env.items() if name.startswith(names)}, stream)
    ending.callback(file.unlink, missing_ok=True)


def _print_welcome(options: Options, env: dict[str, str]) -> None:
    unguarded = env["DISABLE_AUTH"] == "true"
    access = "authentication is off: DISABLE_AUTH=true" if unguarded else "behind Cloudflare Access"
    providers = f"{options.providers_url}/              a small YouTube and Spotify, to follow and to publish on"
    cadence = f"all schedules every {options.tick:g} s (LOCAL_TICK)" if options.tick else "at their real intervals"
    print(
        f"""
  Gna is running. Press Ctrl-C to stop.

    {options.url}/              the publication's page: the form, the latest issues, the archive
    {options.url}/demo/         a demo blog, with the subscribe form and a feed
    {options.url}/admin         the dashboard ({access})
    {options.url}/join          an account of your own, for sightings with photos
    {options.mail_url}/              the mailbox, with every email Gna sends
    {providers if _options.has_providers(options, env) else "(the real YouTube and Spotify, as far as they are set)"}
    {env["FEED_URL"]}   the demo feed

    data in {options.folder} (`make reset` deletes it, `make demo` adds some)
    schedules: {cadence}
""",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())

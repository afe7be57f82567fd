"""What a mail costs the worker: read a recipient, fill in, call, settle; beside a plain loop of boto3's `send_email`
over the same recipients, against the same SES sink, in the same run."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from bench.table import Row, at_most, growth

_ROOT = Path(__file__).parent.parent
_LOOP = 500
_SIZES = (1_000, 10_000, 100_000)
_PREFIX = "gna-bench"
_SETTINGS = {
    "GNA_PREFIX": _PREFIX,
    "SITE_NAME": "Bench",
    "SITE_URL": "https://news.example.org",
    "FROM_EMAIL": "news@example.org",
    "ADMIN_EMAIL": "admin@example.org",
    "SECRET_KEY": "a secret of thirty-two characters",
}


@dataclass(frozen=True)
class Run:
    """One delivery to so many people, as measured in the worker's own process."""

    people: int
    measured: dict[str, Any]

    @property
    def cpu_per_1000(self) -> float:
        return float(self.measured["cpu"]) / self.people * 1000

    @property
    def per_second(self) -> float:
        return self.people / float(self.measured["wall"])


def rows() -> list[Row]:
    loop, runs = measured()
    ours, large = runs[1], runs[-1]
    ratio = ours.cpu_per_1000 / loop.cpu_per_1000
    detail = f"{ours.cpu_per_1000 * 1000:.0f} ms of {loop.cpu_per_1000 * 1000:.0f} ms per 1,000 mails"
    grown = large.measured["megabytes"] - ours.measured["megabytes"]
    return [
        at_most("sending: CPU ÷ a loop of boto3 send_email", ratio, 1 / 8, detail=detail),
        _at_least("sending: one worker, SES answering after 30 ms", ours.per_second, 1_200, " mails/s"),
        growth("sending: CPU ms per 1,000 mails", {run.people: run.cpu_per_1000 * 1000 for run in runs}, 1.2),
        at_most("sending: memory at 100,000 recipients", large.measured["megabytes"], 150, " MB"),
        Row("sending: memory grown from 10,000 to 100,000 recipients", "", f"{grown:.0f} MB"),
    ]


def _at_least(what: str, measured: float, limit: float, unit: str) -> Row:
    return Row(what, f"≥ {limit:,g}{unit}", f"{measured:,.0f}{unit}", measured >= limit)


@cache
def measured() -> tuple[Run, list[Run]]:
    """The loop, and a delivery of each size; `cost` asks for the same figures."""
    from local.emulator import Emulator
    from local.ses import main as local_ses

    with tempfile.TemporaryDirectory() as folder, local_ses.spawn("--sink") as ses:
        ses.tell(quota={"MaxSendRate": 1e6, "Max24HourSend": 1e9})
        emulator = Emulator(Path(folder), keep=False)
        emulator.start()
        try:
            environ = emulator.environment | _SETTINGS | {"AWS_ENDPOINT_URL_SESV2": ses.url}
            emulator.deploy(_PREFIX)
            return _measured(ses, environ)
        finally:
            emulator.stop()


def _measured(ses: Any, environ: dict[str, str]) -> tuple[Run, list[Run]]:
    runs = []
    with _as_deployed(environ):
        there = 0
        for people in _SIZES:
            _crowd(people - there)
            there = people
            if people == _SIZES[0]:
                loop = Run(_LOOP, _alone(environ, "loop", str(_LOOP)))
            _start()
            ses.tell(delay_ms=30)
            runs.append(Run(people, _alone(environ, "engine")))
            ses.tell(delay_ms=0)
    return loop, runs


def _alone(environ: dict[str, str], *arguments: str) -> dict[str, Any]:
    """Run it in a process of its own; it answers on a pipe, because its standard output is its log."""
    reading, writing = os.pipe()
    command = f'exec "$@" 3>&{writing}'
    path = {"PATH": os.environ.get("PATH", "")}
    subprocess.run(
        ["bash", "-c", command, "bash", sys.executable, "-m", "bench._sender", *arguments],
        cwd=_ROOT,
        env=environ | path,
        pass_fds=[writing],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    os.close(writing)
    with os.fdopen(reading) as answer:
        return dict(json.load(answer))


@contextmanager
def _as_deployed(environ: dict[str, str]) -> Iterator[None]:
    """This process on the same tables, to fill them and to press *send*."""
    from chalicelib.kernel import settings
    from chalicelib.kernel.aws import session

    before = dict(os.environ)
    os.environ.update(environ)
    settings.current.cache_clear()
    session.session.cache_clear()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        settings.current.cache_clear()
        session.session.cache_clear()


def _crowd(people: int) -> None:
    from chalicelib.kernel import clock, ids, settings
    from chalicelib.kernel.aws import raw
    from chalicelib.kernel.aws.items import typed

    at = clock.text(clock.now() - timedelta(days=1))
    table = f"{settings.current().prefix}-subscribers"
    for first in range(0, people, 25):
        rows = []
        for number in range(first, min(first + 25, people)):
            row = {"id": ids.new(), "email": f"somebody.{number}@example.org", "nickname": f"Name {number}"}
            row |= {"status": "activated", "unsubscribe_secret": "s" * 32, "created_at": at, "activated_at": at}
            row |= {"sources": {"default"}, "tags": {"weekly"}}
            rows.append({"PutRequest": {"Item": typed(row)["M"]}})
        raw.dynamodb("BatchWriteItem", {"RequestItems": {table: rows}})


def _start() -> None:
    from chalicelib.campaigns import service
    from chalicelib.campaigns.service import Draft

    body = "<h1>News</h1><p>Hi {{nickname|friend}}</p>" + "<p>Seven words stand here, over and over.</p>" * 60
    service.send_now(service.create(Draft("Hello {{nickname|friend}}", body)).campaign.id)

"""What a check costs beside parsing the feed, and that it costs the same after years of posts."""

import base64
import io
import json
import math
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.table import Row, at_most

_RUNS = 5
_ENTRIES = 1000
_POSTS = 130  # more than are remembered after they have vanished
_START = datetime(2020, 1, 1, tzinfo=UTC)
_TEXT = "<p>Some <b>words</b> about <a href='/it'>it</a>.</p>" * 8


def rows() -> list[Row]:
    with _site() as site:
        site.body = _feed(_ENTRIES)
        return [*_unchanged(site), _one_new(site), *_units()]


def _unchanged(site: "_Site") -> list[Row]:
    from chalicelib.feeds.reading import reader

    known = reader.read(site.url).validators
    untagged = reader.Validators(body_hash=known.body_hash)
    parsing = _seconds(lambda: _parse(site.body))
    not_modified = _seconds(lambda: reader.read(site.url, known), 20)
    equal = _seconds(lambda: reader.read(site.url, untagged), 20)
    return [
        _share("feed unchanged, 304 ÷ parsing it", not_modified, parsing, 0.05),
        _share("feed unchanged, 200 with an equal body ÷ parsing it", equal, parsing, 0.05),
    ]


def _one_new(site: "_Site") -> Row:
    """Everything from the answer to the finished draft, for a feed of a thousand entries of which one is new."""
    from chalicelib.feeds import digest, model
    from chalicelib.feeds.reading import entries

    now = _START + timedelta(days=_ENTRIES)
    memory = model.judge(entries.parse(_feed(_ENTRIES - 1), "", site.url).entries, None, now, 10).memory

    def ours() -> None:
        verdict = model.judge(entries.parse(site.body, "", site.url).entries, memory, now, 10)
        assert len(verdict.new) == 1
        digest.draft(verdict.new)

    ours_taken, alone = _in_turns(ours, lambda: _parse(site.body))
    return _share("1,000 entries, one new: check ÷ feedparser.parse alone", ours_taken, alone, 1.2)


def _units() -> list[Row]:
    """Request units by DynamoDB's rules, for the first checks and for those many posts later. Measured in a separate
    process, because it uses moto and the other measurements must not."""
    run = subprocess.run([sys.executable, "-m", "bench.feeds"], capture_output=True, text=True, check=True)
    first, last = json.loads(run.stdout.splitlines()[-1])
    return [
        Row(
            f"units of a check {name}, after {_POSTS} posts ÷ after one",
            "= 1",
            f"{last[which] / first[which]:.3g} ({first[which]:g} → {last[which]:g} units)",
            last[which] <= first[which],
        )
        for which, name in enumerate(("unchanged", "with a new entry"))
    ]


def _count_units() -> None:
    from moto import mock_aws

    from tests.conftest import create_resources, enter

    with _site() as site, mock_aws():
        enter("bench")
        create_resources()
        print(json.dumps(list(_history(site))))


def _history(site: "_Site") -> Iterator[tuple[float, float]]:
    from chalicelib.feeds import service
    from chalicelib.feeds.state import Result, Trigger
    from chalicelib.kernel.aws import connection

    site.tagged = False
    meter = _Meter()
    connection.patient().client.meta.events.register("before-call.dynamodb", meter.sent)
    connection.patient().client.meta.events.register("after-call.dynamodb", meter.answered)
    site.body = _feed(20)
    service.check(Trigger.SCHEDULE)
    for posts in range(21, 21 + _POSTS):
        site.body = _feed(posts, 20)
        new = meter.spent(lambda: service.check(Trigger.SCHEDULE), Result.SENT)
        if posts in (21, 20 + _POSTS):
            yield meter.spent(lambda: service.check(Trigger.SCHEDULE), Result.UNCHANGED), new


class _Meter:
    """Adds up request units from the items that go out and come back."""

    def __init__(self) -> None:
        self._units = 0.0

    def spent(self, check: Callable[[], Any], expected: Any) -> float:
        before = self._units
        assert check().result is expected
        return self._units - before

    def sent(self, params: Any, **named: Any) -> None:
        asked = json.loads(params["body"])
        for item in asked.get("TransactItems", ()):
            self._units += 2 * _write_units(item.get("Put", {}).get("Item", {}))
        if "Item" in asked:
            self._units += _write_units(asked["Item"])
        elif "Key" in asked and params["headers"]["X-Amz-Target"].endswith("DeleteItem"):
            self._units += 1

    def answered(self, parsed: Any, **named: Any) -> None:
        if "Item" in parsed:
            self._units += math.ceil(_size(parsed["Item"]) / 4096)


def _write_units(item: Any) -> int:
    return max(1, math.ceil(_size(item) / 1024))


def _size(item: Any) -> int:
    total = 0
    for name, value in item.items():
        kind, content = next(iter(value.items()))
        raw = content if isinstance(content, bytes) else str(content).encode()
        total += len(name) + (len(base64.b64decode(raw)) if kind == "B" and isinstance(content, str) else len(raw))
    return total


class _Site:
    body = b""
    tagged = True
    url = ""


@contextmanager
def _site() -> Iterator[_Site]:
    from chalicelib.kernel import settings

    site = _Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            same = site.tagged and self.headers.get("If-None-Match") == '"1"'
            self.send_response(304 if same else 200)
            self.send_header("ETag", '"1"')
            self.end_headers()
            self.wfile.write(b"" if same else site.body)

        def log_message(self, *ignored: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site.url = f"http://127.0.0.1:{server.server_port}/feed.xml"
    before = dict(os.environ)
    os.environ.update(GNA_LOCAL="true", FEED_URL=site.url)
    settings.current.cache_clear()
    yield site
    os.environ.clear()
    os.environ.update(before)
    settings.current.cache_clear()
    server.shutdown()
    server.server_close()


def _feed(posts: int, most: int = _ENTRIES) -> bytes:
    items = "".join(
        f"<item><title>Post {number}</title><guid>https://blog.example.org/{number}</guid>"
        f"<link>https://blog.example.org/{number}</link><pubDate>{format_datetime(_START + timedelta(days=number))}"
        f"</pubDate><description><![CDATA[{_TEXT}]]></description></item>"
        for number in range(max(0, posts - most), posts)
    )
    return f'<rss version="2.0"><channel><title>Blog</title>{items}</channel></rss>'.encode()


def _parse(body: bytes) -> None:
    import feedparser

    feedparser.parse(io.BytesIO(body))


def _seconds(work: Callable[[], object], runs: int = _RUNS) -> float:
    taken = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def _in_turns(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    pairs = [(_seconds(first, 1), _seconds(second, 1)) for _ in range(_RUNS)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def _share(what: str, part: float, total: float, limit: float) -> Row:
    return at_most(what, part / total, limit, detail=f"{part * 1000:.3g} ms of {total * 1000:.3g} ms")


if __name__ == "__main__":
    _count_units()

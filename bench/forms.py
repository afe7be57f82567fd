"""What 64 KB from a stranger cost before they are refused or read, as a form or as JSON: the worst of several shapes,
each the median of many runs, in CPU time."""

import statistics
import time
from contextlib import suppress

from bench.table import Row, at_most

_SIZE = 64 * 1024
_RUNS = 30
_LONG = b"b" * 70


def rows() -> list[Row]:
    from chalicelib.web.request import FORM, JSON

    multipart = {name: (f"multipart/form-data; boundary={mark.decode()}", body) for name, mark, body in _multipart()}
    others = {
        "many fields": (FORM, b"a=b&" * (_SIZE // 4)),
        "one long value": (FORM, b"a=" + b"%41" * (_SIZE // 3 - 1)),
        "nested JSON": (JSON, b'{"a":' * (_SIZE // 6) + b"1" + b"}" * (_SIZE // 6)),
        "many members": (JSON, b'{"":1' + b',"":1' * (_SIZE // 5 - 2) + b"}"),
    }
    return [
        _worst("64 KB of multipart/form-data, the worst shape", multipart),
        _worst("64 KB of another form or JSON, the worst shape", others),
    ]


def _multipart() -> list[tuple[str, bytes, bytes]]:
    """Shapes that were slow in one parser or another."""
    end = b"\r\n--x--\r\n"
    named = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
    header = b"--x\r\nContent-Disposition: form-data"
    return [
        ("empty parts", b"x", b"--x\r\n\r\n\r\n" * (_SIZE // 9)),
        ("line ends", b"x", _cut(named + b"\r\n" * _SIZE, end)),
        ("almost the boundary", _LONG, _cut(b"--" + _LONG + (b"\r\n--" + _LONG[1:]) * _SIZE)),
        ("hyphens", b"-" * 70, b"-" * _SIZE),
        ("one value", b"x", _cut(named + b"a" * _SIZE, end)),
        ("comments", b"x", _cut(header + b"(" * _SIZE, end)),
        ("backslashes", b"x", _cut(header + b'; name="' + b"\\" * _SIZE, end)),
        ("headers", b"x", _cut(b"--x" + b"\r\nA: b" * _SIZE, end)),
        ("fields", b"x", (b"".join(named + b"\r\n" for _ in range(50)) + b"--x--\r\n")),
        ("escaped names", b"x", _repeated(header + b'; name="' + b"%22" * 320 + b'"')),
        ("many headers", b"x", _repeated(header + b'; name="a"' + b"".join(b"\r\n%d:" % n for n in range(180)))),
        ("an epilogue", b"x", _cut(named + end + b"-" * _SIZE)),
    ]


def _repeated(head: bytes) -> bytes:
    """As many fields as are read, each with as long a head as is read."""
    return (head + b"\r\n\r\n" + b"1" * 260 + b"\r\n") * 50 + b"--x--\r\n"


def _cut(body: bytes, end: bytes = b"") -> bytes:
    return body[: _SIZE - len(end)] + end


def _worst(what: str, shapes: dict[str, tuple[str, bytes]]) -> Row:
    cost = {name: _milliseconds(kind, body) for name, (kind, body) in shapes.items()}
    worst = max(cost, key=lambda name: cost[name])
    return at_most(what, cost[worst], 5, " ms", worst)


def _milliseconds(content_type: str, body: bytes) -> float:
    from chalicelib.kernel.errors import Invalid
    from chalicelib.web.request import Request

    took = []
    for _ in range(_RUNS):
        request = Request("POST", {}, {}, {"content-type": content_type}, body, "", "", {})
        begun = time.process_time()
        with suppress(Invalid):
            _ = request.fields
        took.append(time.process_time() - begun)
    return statistics.median(took) * 1000

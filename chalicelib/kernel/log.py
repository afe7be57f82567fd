"""Structured logs and metrics: one JSON object per line on standard output, where Lambda collects them.

Nothing personal is logged: no address, nickname, token or IP. People are named by id.
"""

import contextvars
import json
import sys
import traceback
from typing import Any

from chalicelib.kernel import clock

_request_id: contextvars.ContextVar[str | None] = contextvars.ContextVar("request_id", default=None)
_NAMESPACE = "Gna"


def begin(request_id: str | None) -> None:
    """Adds this id to every line that is written in this context from now on."""
    _request_id.set(request_id)


def info(event: str, **fields: Any) -> None:
    _write("info", event, fields)


def warning(event: str, **fields: Any) -> None:
    _write("warning", event, fields)


def error(event: str, **fields: Any) -> None:
    _write("error", event, fields)


def exception(event: str, failure: BaseException, **fields: Any) -> None:
    """The place and the kind of a failure, but not its message, which may quote what somebody sent."""
    frames = traceback.extract_tb(failure.__traceback__)[-5:]
    where = [f"{frame.filename.rsplit('/', 2)[-1]}:{frame.lineno} {frame.name}" for frame in frames]
    cause = failure.__cause__ or failure.__context__
    _write(
        "error",
        event,
        {"kind": type(failure).__name__, "cause": type(cause).__name__ if cause else None, "where": where} | fields,
    )


def metric(name: str, value: float = 1, unit: str = "Count") -> None:
    """CloudWatch's embedded metric format: a log line that is also a data point, without another call."""
    moment = clock.now()
    definition = {"Namespace": _NAMESPACE, "Dimensions": [[]], "Metrics": [{"Name": name, "Unit": unit}]}
    _emit(
        {
            "_aws": {"Timestamp": int(moment.timestamp() * 1000), "CloudWatchMetrics": [definition]},
            name: value,
        }
    )


def _write(level: str, event: str, fields: dict[str, Any]) -> None:
    line: dict[str, Any] = {"time": clock.text(clock.now()), "level": level, "event": event}
    if request_id := _request_id.get():
        line["request_id"] = request_id
    _emit(line | fields)


def _emit(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line, default=str) + "\n")
    sys.stdout.flush()

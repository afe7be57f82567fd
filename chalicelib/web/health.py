"""Is it up, which version, and does what it depends on answer?"""

from collections.abc import Callable

from chalicelib.kernel import limits
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.version import VERSION
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_PARTS: dict[str, Callable[[], None]] = {"tables": limits.probe, "queues": queues.probe}


def health(request: Request) -> Response:
    parts = {part: _state(probe) for part, probe in _PARTS.items()}
    well = all(state == "ok" for state in parts.values())
    body = {"status": "ok" if well else "unavailable", "version": VERSION, "dependencies": parts}
    return responses.json(body, 200 if well else 503)


def _state(probe: Callable[[], None]) -> str:
    try:
        probe()
    except Unavailable:
        return "unavailable"
    return "ok"

"""Whether the service runs, which version, and whether what it depends on answers."""

from collections.abc import Callable

from chalicelib.kernel import limits, patience
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.version import VERSION
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_PROBES: dict[str, Callable[[], None]] = {"tables": limits.probe, "queues": queues.probe}


def health(request: Request) -> Response:
    dependencies = {name: _state(probe) for name, probe in _PROBES.items()}
    healthy = all(state == "ok" for state in dependencies.values())
    body = {"status": "ok" if healthy else "unavailable", "version": VERSION, "dependencies": dependencies}
    return responses.json(body, 200 if healthy else 503)


def _state(probe: Callable[[], None]) -> str:
    try:
        with patience.limited():  # so that one that does not answer does not speak for the other
            probe()
    except Unavailable:
        return "unavailable"
    return "ok"

"""Routes: a Chalice blueprint whose handlers take a `Request` and answer a `Response`.

Everything that must be true of every answer is made true here: errors become statuses, CORS headers are on
refusals too, a body of the wrong kind or size is refused, and nothing a stranger sent reaches the log.
"""

from collections.abc import Callable
from typing import Any

from chalice.app import Blueprint
from chalice.app import Response as ChaliceResponse

from chalicelib.kernel import log
from chalicelib.kernel.errors import Crashed, GnaError, Invalid, Misconfigured, Unavailable
from chalicelib.web import cors as _cors
from chalicelib.web import guards, responses
from chalicelib.web import request as _request
from chalicelib.web.request import JSON, Request
from chalicelib.web.responses import Response

Handler = Callable[[Request], Response]
ErrorView = Callable[[GnaError], Response]

_LARGEST_BODY = 1_000_000


class Routes(Blueprint):
    """`errors` decides what a failure looks like (JSON unless told); `authorizer` guards every route here."""

    def __init__(self, import_name: str, *, errors: ErrorView = responses.error, authorizer: Any = None) -> None:
        super().__init__(import_name)
        self._errors = errors
        self._authorizer = authorizer

    def get(self, path: str, *, head: bool = False, cors: bool = False) -> Callable[[Handler], Handler]:
        return self._on(["GET", "HEAD"] if head else ["GET"], path, (), cors)

    def post(
        self, path: str, *, accepts: tuple[str, ...] = (JSON,), cors: bool = False
    ) -> Callable[[Handler], Handler]:
        return self._on(["POST"], path, accepts, cors)

    def patch(self, path: str) -> Callable[[Handler], Handler]:
        return self._on(["PATCH"], path, (JSON,), False)

    def delete(self, path: str) -> Callable[[Handler], Handler]:
        return self._on(["DELETE"], path, (), False)

    def _on(
        self, methods: list[str], path: str, accepts: tuple[str, ...], cors: bool
    ) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            self._add(methods, path, handler, accepts, cors)
            if cors:
                self._add(["OPTIONS"], path, _cors.preflight, (), False)
            return handler

        return register

    def _add(self, methods: list[str], path: str, handler: Handler, accepts: tuple[str, ...], cors: bool) -> None:
        def view(**parameters: str) -> ChaliceResponse:
            request = _request.read(self.current_request, parameters)
            response = self._answer(handler, request, accepts)
            if cors:
                response = _cors.allow(request, response)
            return ChaliceResponse(response.body, dict(response.headers), response.status)

        view.__name__ = handler.__name__
        # No content types: Chalice's own 415 would carry neither our error body nor CORS headers.
        self.route(path, methods=methods, content_types=[], authorizer=self._authorizer)(view)

    def _answer(self, handler: Handler, request: Request, accepts: tuple[str, ...]) -> Response:
        log.begin(request.request_id)
        try:
            if self._authorizer:
                guards.check_caller(request)
            _check_body(request, accepts)
            if self._authorizer:
                guards.check_body(request)
            return handler(request)
        except GnaError as failure:
            if isinstance(failure, Unavailable | Misconfigured):
                log.exception("request.failed", failure, handler=handler.__name__)
            if isinstance(failure, Misconfigured):
                log.error("misconfigured", reason=failure.reason)
            return self._errors(failure)
        except Exception as failure:
            log.exception("request.crashed", failure, handler=handler.__name__)
            log.metric("Crash")
            return self._errors(Crashed())


def _check_body(request: Request, accepts: tuple[str, ...]) -> None:
    if len(request.body) > _LARGEST_BODY:
        raise Invalid("The request is too large")
    if accepts and request.content_type not in (*accepts, ""):
        raise Invalid(f"Send this as {' or '.join(accepts)}")

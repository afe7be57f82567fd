"""Routes are data: a method and a path, who may call it, and the function that answers.

The module behind a route is imported at its first request, so that the start of a public call does not grow with the
number of rooms. Everything that must be true of every answer is made true here: errors become statuses, CORS headers
are on refusals too, a body of the wrong kind or size is refused, and nothing a stranger sent reaches the log.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from chalice.app import CaseInsensitiveMapping, Chalice
from chalice.app import Request as ChaliceRequest
from chalice.app import Response as ChaliceResponse
from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel import log, patience, settings
from chalicelib.kernel.errors import (
    Crashed,
    GnaError,
    Invalid,
    Misconfigured,
    NotFound,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from chalicelib.kernel.wording import for_readers
from chalicelib.web import cors, guards, responses
from chalicelib.web import request as _request
from chalicelib.web.request import FORM, JSON, MULTIPART, Request
from chalicelib.web.responses import Response

Handler = Callable[[Request], Response]

# Every room that has routes, in the order in which they are registered.
ROOMS = (
    "web",
    "media",
    "site",
    "audience",
    "bounces",
    "campaigns",
    "events",
    "feeds",
    "members",
    "inbox",
    "sightings",
    "following",
    "admin",
)

ANY_FORM = (FORM, MULTIPART)
JSON_OR_FORM = (JSON, *ANY_FORM)
# Who may call a route that not everybody may: editors; members who are signed in; anybody, as long as there can be
# members at all.
ADMIN, MEMBER, GUEST = "admin", "member", "guest"

_JSON_ERRORS, _PAGE_ERRORS = "web.responses:error", "web.pages:error"
_MEMBER_ERRORS, _ADMIN_ERRORS = "members.shell:problem", "admin.shell:problem"
_WITH_BODY = ("POST", "PATCH", "DELETE")
_SIGNED_IN, _SIGN_IN = "members.guards:require_member", "members.guards:ask_to_sign_in"
_NOT_FOUND, _FORMS_ONLY = "web.pages:not_found", "admin.shell:forms_only"
# What a reader's form or a site's script sends is small. Editors send campaigns, and hubs and sites whole posts.
_SMALL_BODY, _LARGE_BODY = 64 * 1024, 1_000_000
# A photo or a list of up to 4 MB in a form. What is larger is read too, to be answered with what to do instead.
_PHOTO_BODY = 6_000_000
_TOO_LARGE, _NOT_HERE = for_readers("The request is too large"), for_readers("Not found")


class Route(Struct, frozen=True):
    """`handler` and `errors` name a function as `module:function` below `chalicelib`: the one that answers, and the
    one that turns a failure into an answer; `sign_in` names the one that answers when nobody is signed in, where that
    is not an error. `guard` is empty for what anybody may call; `largest_form` is how large a form with a photo may
    be."""

    methods: tuple[str, ...]
    path: str
    handler: str
    errors: str
    guard: str = ""
    accepts: tuple[str, ...] = ()
    cors: bool = False
    largest_body: int = _SMALL_BODY
    largest_form: int = 0
    sign_in: str = ""


# Every path that no other route has. API Gateway itself would answer with JSON, whoever asks.
EVERYTHING_ELSE = Route(("GET", "HEAD", "POST"), "/{proxy+}", _NOT_FOUND, _JSON_ERRORS, largest_body=_LARGE_BODY)


def api(
    call: str, handler: str, *, accepts: tuple[str, ...] = (JSON,), cors: bool = False, head: bool = False
) -> Route:
    """A public call that answers JSON: `api("POST /api/subscribe", "audience.sign_up_handlers:subscribe")`."""
    return _route(call, handler, _JSON_ERRORS, accepts=accepts, cors=cors, head=head)


def webhook(call: str, handler: str) -> Route:
    """A call by another service, which signs a body of any kind."""
    return _route(call, handler, _JSON_ERRORS, largest_body=_LARGE_BODY)


def page(call: str, handler: str, *, accepts: tuple[str, ...] = ANY_FORM, head: bool = True) -> Route:
    """A public page; programs that only ask whether it is there (HEAD) are answered too."""
    return _route(call, handler, _PAGE_ERRORS, accepts=accepts, head=head)


def admin_api(call: str, handler: str, *, upload: bool = False) -> Route:
    """A call behind Cloudflare Access that answers JSON; with `upload`, a file may be sent as a form."""
    accepts = (JSON, MULTIPART) if upload else (JSON,)
    route = _route(call, handler, _JSON_ERRORS, guard=ADMIN, accepts=accepts, largest_body=_LARGE_BODY)
    return replace(route, largest_form=_PHOTO_BODY if upload else 0)


def admin_page(call: str, handler: str, *, upload: bool = False) -> Route:
    """A page of the dashboard; with `upload`, a file may be sent as a form."""
    route = _route(call, handler, _ADMIN_ERRORS, guard=ADMIN, accepts=ANY_FORM, largest_body=_LARGE_BODY)
    return replace(route, largest_form=_PHOTO_BODY if upload else 0)


def guest_api(call: str, handler: str) -> Route:
    """A call for people who are not signed in yet. Other sites may not make it for them."""
    return _route(call, handler, _JSON_ERRORS, guard=GUEST, accepts=(JSON,))


def guest_page(call: str, handler: str) -> Route:
    return _route(call, handler, _PAGE_ERRORS, guard=GUEST, accepts=ANY_FORM)


def member_api(call: str, handler: str, *, photo: bool = False) -> Route:
    """A call of a member who is signed in; with `photo`, a picture may be sent as a form."""
    route = _route(call, handler, _JSON_ERRORS, guard=MEMBER, accepts=(JSON, MULTIPART) if photo else (JSON,))
    return replace(route, largest_form=_PHOTO_BODY if photo else 0)


def member_page(call: str, handler: str, *, photo: bool = False) -> Route:
    """A page for a member. Whoever is not signed in is asked to, and keeps what they have written."""
    route = _route(call, handler, _MEMBER_ERRORS, guard=MEMBER, accepts=ANY_FORM)
    return replace(route, sign_in=_SIGN_IN, largest_form=_PHOTO_BODY if photo else 0)


def _route(
    call: str,
    handler: str,
    errors: str,
    *,
    guard: str = "",
    accepts: tuple[str, ...] = (),
    cors: bool = False,
    head: bool = False,
    largest_body: int = _SMALL_BODY,
) -> Route:
    method, path = call.split(" ")
    methods = ("GET", "HEAD") if head and method == "GET" else (method,)
    return Route(methods, path, handler, errors, guard, accepts if method in _WITH_BODY else (), cors, largest_body)


def all_routes() -> Iterator[Route]:
    """Every room's route table, one after the other."""
    for room in ROOMS:
        yield from import_module(f"chalicelib.{room}.routes").ROUTES


def unreadable(routes: Iterable[Route]) -> Iterator[Route]:
    """Paths that take forms and have no page: a browser gets there by its history, or by signing in again."""
    by_path: dict[str, list[Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, []).append(route)
    for path, found in by_path.items():
        takes_forms = any(FORM in route.accepts for route in found)
        if takes_forms and not any("GET" in route.methods for route in found):
            guard = ADMIN if found[0].guard == ADMIN else ""
            yield Route(("GET",), path, _FORMS_ONLY if guard else _NOT_FOUND, found[0].errors, guard)


def send_bytes(app: Chalice) -> None:
    """Let bytes through API Gateway in both directions, whatever a request says it accepts: only with this type does
    the gateway look at no header before it decodes a picture. Bodies of all requests then arrive as base64."""
    app.api.binary_types[:] = ["*/*"]
    app.register_middleware(_accept_anything, "http")


def _accept_anything(request: ChaliceRequest, answer: Callable[[ChaliceRequest], Any]) -> Any:
    """No header `Accept` means that everything is accepted (RFC 9110, 12.5.1). Chalice would refuse to answer."""
    if "accept" not in request.headers:
        request.headers = CaseInsensitiveMapping({**request.headers, "accept": "*/*"})
    return answer(request)


class _Answer(ChaliceResponse):
    """Base64 if the body is bytes, and otherwise text. Chalice would decide by the type of the content, and with
    `*/*` take everything for bytes."""

    def to_dict(self, binary_types: list[str] | None = None) -> dict[str, Any]:
        answer = super().to_dict()
        if isinstance(self.body, bytes):
            answer |= {"body": b64encode(self.body).decode(), "isBase64Encoded": True}
        return answer


def register(app: Chalice, routes: Iterable[Route], authorizer: Any) -> None:
    """`authorizer` is what API Gateway asks before it calls a route with the guard `ADMIN`."""
    for route in routes:
        _add(app, route, authorizer)
        if route.cors:
            preflight = Route(("OPTIONS",), route.path, "web.cors:preflight", route.errors)
            _add(app, preflight, authorizer)


@cache
def load(reference: str) -> Any:
    """The function a route names, with the module it is in."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"chalicelib.{module}"), name)


def _add(app: Chalice, route: Route, authorizer: Any) -> None:
    def view(**parameters: str) -> ChaliceResponse:
        request = _request.read(app.current_request, parameters)
        with patience.limited():
            response = responses.with_security(_answer(route, request))
        if route.cors:
            response = cors.allow(request, response)
        return _Answer(response.body, dict(response.headers), response.status)

    view.__name__ = route.handler.rpartition(":")[2]
    guard = authorizer if route.guard == ADMIN else None
    # No content types: Chalice's own 415 would carry neither our error body nor CORS headers.
    app.route(route.path, methods=list(route.methods), content_types=[], authorizer=guard)(view)


def _answer(route: Route, request: Request) -> Response:
    log.begin(request.request_id)
    name = route.handler.rpartition(":")[2]
    try:
        if route.guard == ADMIN:
            guards.require_admin(request)
        elif route.guard and settings.current().members == "off":
            raise NotFound(_NOT_HERE)
        if route.guard:
            guards.refuse_foreign(request)
        _check_body(request, route)
        if route.guard:
            guards.require_own_form(request, takes_forms=FORM in route.accepts)
        if route.guard == MEMBER:
            return _answer_member(route, request)
        answer: Response = load(route.handler)(request)
        return answer
    except GnaError as failure:
        if isinstance(failure, Unavailable | Misconfigured):
            log.exception("request.failed", failure, handler=name)
        if isinstance(failure, Misconfigured):
            log.error("misconfigured", reason=failure.reason)
        return _refusal(route, failure)
    except Exception as failure:
        log.exception("request.crashed", failure, handler=name)
        log.metric("Crash")
        return _refusal(route, Crashed())


def _answer_member(route: Route, request: Request) -> Response:
    try:
        request = replace(request, member=load(_SIGNED_IN)(request))
    except Unauthenticated:
        if not route.sign_in:
            raise
        asked: Response = load(route.sign_in)(request)
        return asked
    answer: Response = load(route.handler)(request)
    return answer


def _refusal(route: Route, failure: GnaError) -> Response:
    refusal: Response = load(route.errors)(failure)
    return refusal


def _check_body(request: Request, route: Route) -> None:
    """Only a form of the kind that has files may be as large as a photo; the parser bounds its text."""
    largest_form = route.largest_form if request.content_type == MULTIPART else 0
    if len(request.body) > max(route.largest_body, largest_form):
        raise TooLarge(_TOO_LARGE) if largest_form else Invalid(_TOO_LARGE)
    has_kind = request.body or request.method != "DELETE"
    if route.accepts and has_kind and request.content_type not in (*route.accepts, ""):
        raise Invalid(f"Send this as {' or '.join(route.accepts)}")

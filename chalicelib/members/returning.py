"""Back to where a member was when the session ended: the page, and what they had written on it.

What was written travels in hidden fields of the sign-in form: it needs no script, and is in no URL, no log and no
table. Never passwords or files. Only pages of our own route tables are ever returned to.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel.errors import GnaError
from chalicelib.members import shell
from chalicelib.members.model import SignedIn
from chalicelib.web import responses, routing
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import MEMBER, Route

_PREFIX, _PATH = "draft_", "draft_path"
_NAME = re.compile(r"[a-z_]{1,40}\Z")
_PARAMETER = re.compile(r"\\{([a-z_]+)\\}")
_MOST_FIELDS, _LONGEST = 20, 5_000


class Draft(Struct, frozen=True):
    """The path of a page, and the fields of its form."""

    path: str
    fields: dict[str, str]


def ask_to_sign_in(request: Request) -> Response:
    """A page is asked for again after signing in; a form is answered with the sign-in form, which has its fields."""
    path = _page_path(request)
    if request.method != "POST":
        return responses.redirect(f"/sign-in?{urlencode({'next': path})}")
    draft = Draft(path, _worth_keeping(request) if path == request.own_path else {})
    return shell.page(request, "member/sign_in.html", 401, draft=draft, next="", email="")


def own_page(path: str) -> str:
    """The path, if it is that of a page for members; empty otherwise."""
    return path if _find(path) else ""


def read_draft(request: Request) -> Draft | None:
    """What the sign-in form carries."""
    fields = request.fields
    path = own_page(str(fields.get(_PATH, "")))
    if not path:
        return None
    sent = {name.removeprefix(_PREFIX): value for name, value in fields.items() if name.startswith(_PREFIX)}
    return Draft(path, dict(_kept({name: value for name, value in sent.items() if name != "path"})))


def resume(request: Request, draft: Draft, signed_in: SignedIn) -> Response:
    """The page with its form filled in. Whatever goes wrong with it, the member is signed in."""
    found = _find(draft.path)
    assert found, "only drafts of our own pages are read"
    route, parameters = found
    shown = replace(
        request, method="GET", path=parameters, query={}, resource=route.path, member=signed_in, kept=draft.fields
    )
    try:
        answer: Response = routing.load(route.handler)(shown)
    except GnaError as failure:
        return shell.problem(failure)
    return answer


def _worth_keeping(request: Request) -> dict[str, str]:
    form = request.form
    chosen = {shell.PHOTO_CHOSEN: "yes"} if any(form.files.values()) else {}
    return dict(_kept(form.fields)) | chosen


def _kept(fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in list(fields.items())[:_MOST_FIELDS]:
        if _NAME.match(name) and "password" not in name and len(value) <= _LONGEST:
            yield name, value


def _page_path(request: Request) -> str:
    """The page this request is about: itself, or for a button without a page of its own, the page it is on."""
    path = request.own_path
    while path and not _find(path):
        path = path.rpartition("/")[0]
    return path or shell.HOME


def _find(path: str) -> tuple[Route, dict[str, str]] | None:
    for pattern, route in _pages():
        if matched := pattern.match(path):
            return route, matched.groupdict()
    return None


@lru_cache(maxsize=1)
def _pages() -> list[tuple[re.Pattern[str], Route]]:
    """Every page for members, by the shape of its path. Downloads are no pages."""
    return [
        (re.compile(_PARAMETER.sub(r"(?P<\1>[0-9a-f]{32})", re.escape(route.path)) + r"\Z"), route)
        for route in routing.all_routes()
        if route.guard == MEMBER and "GET" in route.methods and "pages:" in route.handler
    ]

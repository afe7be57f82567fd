"""What the buttons and keys of the list do, for one entry or for all that are selected. A script asks for JSON and is
answered what became of each; without it the form leads back to the list."""

from urllib.parse import urlencode

from chalicelib.inbox import model, triage, waiting
from chalicelib.inbox.frames import Frame
from chalicelib.inbox.model import Act, State
from chalicelib.inbox.owners import owner_of
from chalicelib.inbox.screens import listing
from chalicelib.inbox.triage import Done
from chalicelib.kernel.errors import Invalid
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_UNDO, _COMPOSE = "undo", "compose"
_OF_THE_LIST = ("state", "provider", "type", "q", "cursor")


def act(frame: Frame, request: Request) -> Response:
    """A button is named for what it does and has the entry's id; those for a selection are all named `act`."""
    given = {name: _field(request, name) for name in (*_OF_THE_LIST, "expected", "act")}
    if given["act"] == _UNDO:
        return _answer(frame, request, given, "restore", triage.undo(owner_of(request), _texts(request, "undo")))
    name, ids = _asked(request, given["act"])
    if name == _COMPOSE and frame.is_desk:
        return _compose(frame, given, ids)
    if name not in set(Act):
        raise Invalid("Press one of the buttons")
    done = triage.act(owner_of(request), ids, Act(name), _expected(given))
    return _answer(frame, request, given, name, done)


def _asked(request: Request, act: str) -> tuple[str, list[str]]:
    """A single entry's button, or those that are selected."""
    for name in Act:
        if id := _field(request, name):
            return name.value, [id]
    return act, _texts(request, "id")


def _expected(given: dict[str, str]) -> State | None:
    """A script says it of each entry. On the list of everything each has its own."""
    text = given["expected"] or listing.parse_wanted(given).state
    return State(text) if text in set(State) else None


def _compose(frame: Frame, given: dict[str, str], ids: list[str]) -> Response:
    if not ids:
        return listing.back(frame, given, "composed")
    return responses.redirect(f"{frame.prefix}/inbox/compose?{urlencode({'ids': '.'.join(ids)})}")


def _answer(frame: Frame, request: Request, given: dict[str, str], name: str, done: list[Done]) -> Response:
    waiting.forget(owner_of(request))
    if not request.wants_page:
        return responses.json({"results": [_result(one) for one in done]})
    if not done:
        return listing.back(frame, given, "none")
    moved = sum(1 for one in done if one.moved)
    gone = sum(1 for one in done if one.error and not one.moved)
    if moved:
        return listing.back(frame, given, "moved", moved)
    if gone == len(done):
        return listing.back(frame, given, "gone")
    return listing.back(frame, given, name, len(done) - gone)


def _result(done: Done) -> dict[str, str | bool]:
    told: dict[str, str | bool] = {
        "id": done.id,
        "ok": not done.error,
        "error": done.error,
        "undo": done.undo,
        "moved": done.moved,
    }
    return {name: value for name, value in told.items() if value or name == "ok"}


def _texts(request: Request, name: str) -> list[str]:
    return request.texts(name, model.MOST_AT_ONCE)[: model.MOST_AT_ONCE]


def _field(request: Request, name: str) -> str:
    """Of a form that may have a checkbox for each of a hundred entries."""
    return next(iter(request.texts(name, model.MOST_AT_ONCE)), "")

"""Connecting accounts, and what there is to follow there."""

from typing import TypeVar

from chalicelib.following import bodies, connections, discovery, serializers
from chalicelib.following.connections import Call
from chalicelib.following.model import CONNECTED
from chalicelib.inbox.model import Provider
from chalicelib.inbox.owners import owner_of
from chalicelib.kernel.errors import Invalid, NotFound
from chalicelib.web import cursors, responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_DONE = Answer("Done", bodies.Done)
_CANDIDATES = Answer("Channels or shows", list[bodies.Candidate])
_MOST_FOUND = 50

Body = TypeVar("Body", bodies.NewState, bodies.Callback)


@operation(
    "List connections to accounts",
    tag="following",
    answers={200: Answer("By provider; null where there is none", bodies.Connections)},
)
def list_connections(request: Request) -> Response:
    found = connections.list_connections(owner_of(request))
    return responses.json({provider.value: serializers.connection_body(found[provider]) for provider in CONNECTED})


@operation(
    "Register the state of a connection that is being made; it works once, for 30 minutes",
    tag="following",
    body=bodies.NewState,
    answers={200: _DONE},
    refuses=(400, 429),
    because={409: "The provider is not configured"},
)
def register_state(request: Request) -> Response:
    owner, body = owner_of(request), _read(request, bodies.NewState, Call.STATE)
    connections.register_state(owner, Provider(body.provider), body.state)
    return responses.json(bodies.Done())


@operation(
    "Complete a connection with the code the provider sent",
    tag="following",
    body=bodies.Callback,
    answers={200: _DONE},
    refuses=(429,),
    because={400: "Invalid state, or the provider refused the code", 409: "The provider is not configured"},
)
def complete_connection(request: Request) -> Response:
    owner, body = owner_of(request), _read(request, bodies.Callback, Call.CALLBACK)
    connections.complete(owner, Provider(body.provider), body.code, body.state, body.code_verifier)
    return responses.json(bodies.Done())


@operation(
    "End a connection: tokens are deleted, and follows wait for another",
    tag="following",
    answers={200: _DONE},
    refuses=(429,),
    because={404: "No such provider"},
)
def delete_connection(request: Request) -> Response:
    connections.disconnect(owner_of(request), _provider(request))
    return responses.json(bodies.Done())


@operation(
    "List what the connected account follows there",
    tag="following",
    answers={200: _CANDIDATES},
    refuses=(429,),
    because={404: "No such provider", 409: "Not connected"},
)
def list_mine(request: Request) -> Response:
    found = discovery.list_mine(owner_of(request), _provider(request))
    return responses.json([serializers.candidate_body(candidate) for candidate in found])


@operation(
    "Search for channels or shows",
    tag="following",
    query=bodies.SearchQuery,
    answers={200: _CANDIDATES},
    refuses=(400, 429),
    because={404: "No such provider", 409: "Not connected"},
)
def search(request: Request) -> Response:
    provider, words = _provider(request), check_words(request.query.get("q"))
    limit = cursors.requested_limit(request, most=_MOST_FOUND)
    found = discovery.search(owner_of(request), provider, words, limit)
    return responses.json([serializers.candidate_body(candidate) for candidate in found])


def check_words(text: str | None) -> str:
    words = " ".join((text or "").split())
    if not 1 <= len(words) <= bodies.LONGEST_SEARCH or not words.isprintable():
        raise Invalid(f"q must be 1 to {bodies.LONGEST_SEARCH} characters")
    return words


def _read(request: Request, kind: type[Body], call: Call) -> Body:
    """A body that is refused counts as a call."""
    try:
        return schemas.read(kind, request.fields)
    except Invalid:
        connections.count(owner_of(request), call)
        raise


def _provider(request: Request) -> Provider:
    try:
        provider = Provider(request.path["provider"])
    except ValueError:
        raise NotFound("No such provider") from None
    if provider not in CONNECTED:
        raise NotFound("No such provider")
    return provider

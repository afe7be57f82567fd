"""The inbox as the desk has it, and as a member has theirs: the same calls with another prefix."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.kernel import clock
from chalicelib.kernel.http import client
from tests.fixtures.client import Client
from tests.rooms.inbox.box import Box
from tests.rooms.inbox.web import Web
from tests.rooms.sightings.person import Person


@pytest.fixture
def desk(admin: Client, configure: Any) -> Box:
    configure(MEMBERS="open", DISABLE_AUTH="true")
    return Box("desk", "/admin/api", admin.request)


@pytest.fixture
def ada(http: Client, configure: Any) -> Box:
    configure(MEMBERS="open", DISABLE_AUTH="true")
    person = Person(http, "ada")
    return Box(person.id, "/api", person.ask)


@pytest.fixture
def bob(http: Client, ada: Box) -> Box:
    person = Person(http, "bob")
    return Box(person.id, "/api", person.ask)


@pytest.fixture(params=["desk", "ada"])
def box(request: pytest.FixtureRequest) -> Any:
    """Each of the two in turn."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    found = Web()
    monkeypatch.setattr(client, "get", found.get)
    return found


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let so much time pass: `later(hours=1)`."""

    def move(**amount: float) -> None:
        moment = clock.now() + timedelta(**amount)
        monkeypatch.setattr(clock, "now", lambda: moment)

    return move

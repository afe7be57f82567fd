"""Two members, an editor, and the bucket of their photos."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.kernel import clock
from tests.fixtures.client import Answer, Client
from tests.rooms.sightings.person import Person


@pytest.fixture(autouse=True)
def _members(http: Client, media_bucket: str, configure: Any) -> None:
    configure(MEMBERS="open")


@pytest.fixture
def ada(http: Client) -> Person:
    return Person(http, "ada")


@pytest.fixture
def bob(http: Client) -> Person:
    return Person(http, "bob")


@pytest.fixture
def desk(admin: Client) -> Callable[[str], Answer]:
    """What the publication sees: `desk("?limit=5")`."""
    return lambda query="": admin.get(f"/admin/api/sightings{query}")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let so much time pass: `later(days=30)`."""

    def move(**amount: float) -> None:
        moment = clock.now() + timedelta(**amount)
        monkeypatch.setattr(clock, "now", lambda: moment)

    return move

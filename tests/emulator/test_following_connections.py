"""A process killed at every step of connecting, of renewing a token and of disconnecting: the connection works
afterwards or is gone, a state was used once, a token was renewed once, and follows wait or go on as they should."""

from itertools import count
from typing import Any

import pytest

from chalicelib.following.stores.connections import StateRow
from chalicelib.inbox.model import DESK
from local.providers.catalogue import CHANNELS, SHOWS
from local.providers.main import Providers
from tests.emulator.dying import SETTLED_SECONDS
from tests.emulator.following import (
    assert_consistent,
    assert_settled,
    count_events,
    due,
    entries,
    item_id,
)
from tests.rooms.following.conftest import VERIFIER, Owner

CHANNEL = CHANNELS[0].id


@pytest.mark.parametrize("provider", ["YOUTUBE", "SPOTIFY"])
def test_a_renewal_killed_at_any_step_leaves_a_connection_that_works(
    desk: Owner, dying: Any, later: Any, recover: Any, providers: Providers, configure: Any, provider: str
) -> None:
    """The token has ended, so the poll renews it. Only one who dies with the answer in hand asks twice."""
    configure(YOUTUBE_API_KEY="")
    desk.connect(provider)
    where, path = (CHANNEL, "POST /token") if provider == "YOUTUBE" else (SHOWS[0].id, "POST /api/token")
    follow = desk.follow(provider, where)
    unheard = 0
    for steps in count():
        providers.publish(where, f"Life {steps}")
        later(hours=25)
        providers.forget_calls()
        ended = dying(steps, "handle", due(follow["creator_id"], provider))
        if ended == "killed":
            recover()
        calls = providers.calls()[provider.lower()][path]
        unheard += calls - 1
        if desk.connection(provider)["status"] != "ACTIVE":
            _assert_told(desk, provider, calls)
            desk.connect(provider)
            recover()
        assert desk.active() == []
        assert desk.titles()[0] == f"Life {steps}"
        assert len(desk.inbox()) == steps + 2
        assert_settled(follow["creator_id"])
        if ended != "killed":
            break
    assert ended == "done"
    assert calls == 1
    assert unheard == 1, "between the answer and the write"
    assert max(count_events().values()) == 1


def _assert_told(desk: Owner, provider: str, calls: int) -> None:
    """Spotify takes a token for another one once. If the other one is lost, nobody can renew; the owner is told."""
    assert (provider, calls) == ("SPOTIFY", 2)
    assert desk.connection(provider)["status"] == "EXPIRED"
    assert desk.active() == ["connection_expired"]


def test_a_callback_killed_at_any_step_is_made_up_for_by_the_person(
    desk: Owner, dying: Any, later: Any, tick: Any, work: Any, providers: Providers, configure: Any
) -> None:
    configure(YOUTUBE_API_KEY="")
    desk.connect("YOUTUBE")
    follow = desk.follow("YOUTUBE", CHANNEL)
    for steps in count():
        later(hours=5)
        assert desk.call("DELETE", "connections/YOUTUBE").status == 200
        assert desk.follows()[0]["status"] == "DISCONNECTED"
        state, code = desk.begin("YOUTUBE")
        ended = dying(steps, "complete", DESK, "YOUTUBE", code, state, VERIFIER)
        again = desk.complete("YOUTUBE", state, code)
        assert (again.status, ended) in ((200, "killed"), (400, "killed"), (400, "done"))
        if again.status == 400:
            assert again.json == {"error": "Invalid state"}, "used once"
            if ended == "killed":
                later(minutes=2)
                desk.connect("YOUTUBE")
        assert list(StateRow.scan(StateRow.part.startswith("state "))) == []
        assert (desk.connection("YOUTUBE")["status"], desk.follows()[0]["status"]) == ("ACTIVE", "ACTIVE")
        video = providers.publish(CHANNEL, f"Life {steps}")
        work("feed")
        tick("sweep_following")
        work("feed")
        assert entries(DESK)[item_id(video)] == "INBOX"
        assert_consistent()
        assert_settled(follow["creator_id"])
        if ended != "killed":
            break
    assert ended == "done"
    assert steps > 10


def test_a_disconnection_killed_at_any_step_is_ended_by_the_queue(
    desk: Owner, member: Any, dying: Any, work: Any, providers: Providers, configure: Any
) -> None:
    """But for the one who died before anything was done. Each life is another member's."""
    configure(YOUTUBE_API_KEY="")
    owners = []
    for steps in count():
        owner = member(f"member{steps}")
        owner.connect("YOUTUBE")
        owner.follow("YOUTUBE", CHANNEL)
        owners.append(owner)
        ended = dying(steps, "disconnect", owner.id, "YOUTUBE")
        if ended != "killed":
            break
    assert ended == "done"
    assert steps > 12
    gone = [owner for owner in owners if owner.connection("YOUTUBE") is None]
    assert 10 < len(gone) < len(owners)
    work.until(lambda: all(list(entries(owner.id).values()) == [None] for owner in gone), 10 + SETTLED_SECONDS)
    assert_consistent()
    for owner in owners:
        expected = ("DISCONNECTED", [None]) if owner in gone else ("ACTIVE", ["INBOX"])
        assert (owner.follows()[0]["status"], list(entries(owner.id).values())) == expected
        assert owner.active() == []

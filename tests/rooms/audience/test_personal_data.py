"""What other rooms keep about a person goes in the very transaction that erases the person, or stays with them."""

import sys
from types import ModuleType

import pytest

from chalicelib.audience import erasure, personal_data
from chalicelib.audience.stores import subscribers
from chalicelib.events import service as events
from chalicelib.events.model import EventType
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.locks import LockRow


@pytest.fixture
def keeper(monkeypatch):
    """A room that keeps one row about each person."""
    room = ModuleType("chalicelib.keeping")
    room.about = lambda subscriber_id: {"kept": tables.get(LockRow, subscriber_id) is not None}
    room.erase_writes = lambda subscriber_id: [tables.Delete(LockRow(subscriber_id))]
    monkeypatch.setitem(sys.modules, "chalicelib.keeping", room)
    monkeypatch.setattr(personal_data, "_keepers", {})
    personal_data.register("keeping", "keeping")
    return room


@pytest.fixture
def ada(reader, keeper, rows):
    """The id of somebody who subscribed, and about whom something is kept."""

    def subscribe(confirm):
        person = reader()
        person.join() if confirm else person.subscribe()
        [row] = rows("subscribers")
        tables.put(LockRow(row["id"]["S"], holder="x", until="x", expires_at=1))
        return row["id"]["S"]

    return subscribe


def test_it_is_shown_to_the_person_and_goes_with_them(ada, rows):
    person = ada(confirm=True)
    assert personal_data.about(person) == {"keeping": {"kept": True}}
    erasure.erase(subscribers.find(person), EventType.UNSUBSCRIBED, "link")
    assert rows("subscribers") == rows("locks") == []


def test_it_goes_with_a_sign_up_that_nobody_confirmed(ada, rows, later):
    person = ada(confirm=False)
    events.ensure_relayed(person)
    later(hours=25)
    assert erasure.expire(person)
    assert rows("subscribers") == rows("locks") == []


def test_it_stays_if_the_person_changed_meanwhile(ada, rows):
    before = subscribers.find(ada(confirm=True))
    tables.transact(*subscribers.change_email_writes(before, "grace@example.net", clock.now()))
    with pytest.raises(Stale):
        erasure.erase(before, EventType.UNSUBSCRIBED, "link")
    assert len(rows("locks")) == 1

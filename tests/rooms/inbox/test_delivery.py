"""An item enters the inbox of each recipient once, whatever is repeated, interrupted or done at the same time."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from chalicelib.events import outbox
from chalicelib.events.store import EventRow
from chalicelib.inbox import delivery, service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK, Entry, State
from chalicelib.kernel.aws import tables
from tests.rooms.inbox.things import FOLLOW, NOON, article, entry, events, states, to, video

pytestmark = pytest.mark.usefixtures("aws")

MANY = [DESK, *(f"member-{number:02}" for number in range(44))]


class Transactions:
    """What was written together, and what happens just before the next transaction."""

    def __init__(self, monkeypatch):
        self.done, self.before = [], []
        self._transact = tables.transact
        monkeypatch.setattr(tables, "transact", self)

    def __call__(self, *writes):
        acts, self.before = self.before, []
        for act in acts:
            act()
        self._transact(*writes)
        self.done.append(writes)


@pytest.fixture
def transactions(monkeypatch):
    return Transactions(monkeypatch)


@pytest.fixture
def hurried(monkeypatch):
    found = []
    monkeypatch.setattr(outbox, "relay_soon", found.append)
    return found


def test_the_desk_gets_the_item_the_entry_and_the_event_in_one_transaction(transactions, hurried):
    item = video()
    assert service.deliver(item, to(DESK), NOON) == [DESK]
    (writes,) = transactions.done
    assert {type(write.row) for write in writes} == {ItemRow, EntryRow, EventRow}
    assert service.find_item(item.id) == item
    assert entry(DESK, item.id) == Entry(DESK, item.id, State.INBOX, NOON, item.provider, item.content_type, FOLLOW)
    (event,) = events()
    assert event.aggregate_id == item.id
    assert event.payload == {"entry_id": item.id, "provider": "YOUTUBE", "content_type": "VIDEO"}
    assert hurried == [item.id]


def test_a_member_gets_no_event(hurried):
    assert service.deliver(video(), to("ada"), NOON) == ["ada"]
    assert states("ada") == {video().id: "INBOX"}
    assert not events()
    assert not hurried


def test_again_changes_nothing(hurried):
    service.deliver(video(), to(DESK, "ada"), NOON)
    before = entry(DESK, video().id)
    assert service.deliver(video(), to(DESK, "ada"), NOON + timedelta(hours=1)) == []
    assert entry(DESK, video().id) == before
    assert len(events()) == len(hurried) == 1


def test_those_who_have_it_already_keep_theirs_and_the_others_get_it():
    service.deliver(video(), to("bob", follow_id="other", state=State.ARCHIVED), NOON)
    service.deliver(video(), to(DESK, "cy"), NOON)
    later = NOON + timedelta(hours=1)
    assert service.deliver(video(), to("ada", "bob", DESK, "cy", "dan"), later) == ["ada", "dan"]
    assert entry("bob", video().id).follow_id == "other"
    assert states("bob") == {video().id: "ARCHIVED"}
    assert entry("ada", video().id).received_at == later
    assert len(events()) == 1


def test_forty_five_recipients_take_three_transactions_and_one_event(transactions):
    assert service.deliver(video(), to(*MANY), NOON) == MANY
    assert [len(writes) for writes in transactions.done] == [22, 21, 6]
    assert len(list(EntryRow.scan())) == 45
    assert len(events()) == 1
    assert service.deliver(video(), to(*MANY, "late"), NOON) == ["late"]


@pytest.mark.parametrize("crash_at", range(3))
def test_a_crash_between_two_transactions_loses_and_doubles_nothing(monkeypatch, crash_at):
    owners = [*MANY[1:30], DESK, *MANY[30:]]
    real, turns = tables.transact, iter(range(10))

    def crash(*writes):
        if next(turns) == crash_at:
            raise RuntimeError
        real(*writes)

    with monkeypatch.context() as crashing:
        crashing.setattr(tables, "transact", crash)
        with pytest.raises(RuntimeError):
            service.deliver(video(), to(*owners), NOON)
    missing = len(owners) - len(list(EntryRow.scan()))
    assert len(service.deliver(video(), to(*owners), NOON)) == missing
    assert len(list(EntryRow.scan())) == 45
    assert len(events()) == 1


def test_a_twin_in_between_shares_the_recipients_with_us(transactions):
    twins = []
    transactions.before.append(lambda: twins.extend(service.deliver(video(), to("ada", DESK), NOON)))
    assert service.deliver(video(), to("ada", "bob", DESK), NOON) == ["bob"]
    assert twins == ["ada", DESK]
    assert len(list(EntryRow.scan())) == 3
    assert len(events()) == 1


def test_a_twin_that_does_the_same_leaves_nothing_to_do(transactions):
    transactions.before.append(lambda: service.deliver(video(), to(*MANY), NOON))
    assert service.deliver(video(), to(*MANY), NOON) == []
    assert len(list(EntryRow.scan())) == 45
    assert len(events()) == 1


def test_a_twin_with_newer_word_of_the_item_is_not_overwritten(transactions):
    newer = replace(video(), title="Newer", refreshed_at=NOON + timedelta(seconds=1))
    transactions.before.append(lambda: service.deliver(newer, to("bob"), NOON))
    assert service.deliver(video(), to("ada", "bob"), NOON) == ["ada"]
    assert service.find_item(video().id) == newer


def test_an_item_that_everybody_has_is_brought_up_to_date():
    service.deliver(video(), to(DESK), NOON)
    newer = replace(video(), title="Corrected", excerpt="", refreshed_at=NOON + timedelta(days=1))
    assert service.deliver(newer, to(DESK), NOON) == []
    assert service.find_item(video().id) == newer


def test_without_recipients_the_item_is_stored():
    assert service.deliver(article(), [], NOON) == []
    assert service.find_item(article().id) == article()
    assert not list(EntryRow.scan())


def test_an_owner_with_two_follows_gets_it_once_by_the_first():
    recipients = [*to("ada", follow_id="one"), *to("ada", follow_id="two")]
    assert service.deliver(video(), recipients, NOON) == ["ada"]
    assert entry("ada", video().id).follow_id == "one"


def test_it_can_arrive_bookmarked():
    service.deliver(video(), to(DESK, state=State.BOOKMARKED), NOON)
    assert states() == {video().id: "BOOKMARKED"}
    assert len(events()) == 1


def test_what_was_dismissed_does_not_come_back():
    service.deliver(video(), to(DESK, "ada"), NOON)
    delivery.entry_store.dismiss(DESK, video().id)
    assert service.deliver(video(), to(DESK, "ada", follow_id="again"), NOON) == []
    assert states() == {video().id: None}
    assert len(events()) == 1


def test_a_failure_that_names_no_row_is_not_repeated_for_ever(monkeypatch):
    from chalicelib.kernel.aws.failures import Stale
    from chalicelib.kernel.errors import Unavailable

    def fail(*writes):
        raise Stale([None] * len(writes))

    monkeypatch.setattr(tables, "transact", fail)
    with pytest.raises(Unavailable):
        service.deliver(video(), to(DESK), NOON)


def test_of_two_sources_that_lead_to_one_page_the_first_one_s_words_stay():
    first = video(creator_id="creator-1", title="As the channel calls it")
    second = video(creator_id="creator-2", title="As a blog calls it", refreshed_at=NOON + timedelta(hours=1))
    service.deliver(first, to("ada"), NOON)
    assert service.deliver(second, to("ada", "bob"), NOON) == ["bob"]
    stored = service.find_item(first.id)
    assert stored is not None
    assert (stored.title, stored.creator_id) == ("As the channel calls it", "creator-1")

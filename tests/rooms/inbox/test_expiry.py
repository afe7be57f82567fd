"""Entries that nobody keeps leave the inbox after a while, without a word; what was kept stays."""

from datetime import timedelta

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.following import maintenance
from chalicelib.inbox import composing, expiry, expiry_store, service, triage
from chalicelib.inbox.composing import Section
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import DESK, Recipient, State
from chalicelib.kernel import settings, sweeping
from chalicelib.kernel.errors import Misconfigured
from tests.rooms.inbox.things import NOON, entry, events, receive, row, states, video

pytestmark = pytest.mark.usefixtures("aws")

DAY = timedelta(days=1)
OVER = NOON + 61 * DAY


def always():
    return True


def test_after_sixty_days_what_was_not_kept_leaves_and_is_seen():
    old, young = video("old"), video("young")
    for owner in (DESK, "ada"):
        receive(owner, old)
        receive(owner, young, at=NOON + DAY)
    told = len(events())
    assert service.expire(OVER, always) == 2
    for owner in (DESK, "ada"):
        assert states(owner) == {old.id: None, young.id: "INBOX"}
    assert len(events()) == told
    assert row(DESK, old.id) == {*row(DESK, young.id)} - {"state", "follow_id"}
    assert service.expire(OVER, always) == 0


def test_not_a_moment_before():
    receive(DESK, video())
    assert service.expire(NOON + 60 * DAY, always) == 0
    assert states() == {video().id: "INBOX"}


@pytest.mark.parametrize("state", [State.BOOKMARKED, State.ARCHIVED])
def test_what_was_kept_stays_for_ever(state):
    receive(DESK, video("arrived"), state=state)
    (moved,) = receive(DESK, video("moved"))
    (service.bookmark if state is State.BOOKMARKED else service.archive)(DESK, moved)
    assert service.expire(NOON + 4000 * DAY, always) == 0
    assert set(states().values()) == {state.value}


def test_what_was_put_back_has_its_time_again(later):
    (id,) = receive(DESK, video())
    later(days=1)
    service.archive(DESK, id)
    service.restore(DESK, id)
    restored = expiry_store.clock.now()
    assert service.expire(restored + 60 * DAY, always) == 0
    assert service.expire(restored + 61 * DAY, always) == 1


@pytest.mark.parametrize("owner", [DESK, "ada"])
def test_a_note_keeps_it(owner):
    (id,) = receive(owner, video())
    service.set_note(owner, id, "Maybe")
    assert service.expire(OVER, always) == 0
    assert entry(owner, id).note == "Maybe"
    service.set_note(owner, id, "")
    assert service.expire(OVER, always) == 1


def test_being_meant_for_a_section_keeps_it():
    (id,) = receive(DESK, video())
    triage.set_section(DESK, id, "Reading")
    assert service.expire(OVER, always) == 0
    triage.set_section(DESK, id, "")
    assert service.expire(OVER, always) == 1


def test_a_suggestion_alone_does_not_keep_it():
    service.deliver(video(), [Recipient(DESK, suggestion="Read this")], NOON)
    assert service.expire(OVER, always) == 1


@pytest.mark.usefixtures("admin")
def test_what_a_draft_has_stays_until_it_is_sent_or_deleted():
    sent, deleted, hers = receive(DESK, video("sent"), video("deleted"), video("hers"))
    receive("ada", video("sent"))
    drafts = [composing.compose([Section((id,))]).detail.campaign.id for id in (sent, deleted)]
    assert service.expire(OVER, always) == 2
    assert states() == {sent: "INBOX", deleted: "INBOX", hers: None}
    campaigns.send_now(drafts[0])
    deliveries.finish(campaigns.view(drafts[0]).deliveries[0], Counts(1, 1, 0))
    campaigns.delete(drafts[1])
    assert service.expire(OVER, always) == 2


def test_the_setting_says_when(configure):
    receive(DESK, video())
    configure(INBOX_DAYS="7")
    assert service.expire(NOON + 8 * DAY, always) == 1


@pytest.mark.parametrize("days", ["0", "3651", "-1", "soon", "1.5"])
def test_what_is_no_number_of_days(days):
    with pytest.raises(Misconfigured, match="INBOX_DAYS must be a whole number from 1 to 3650"):
        settings.load({"INBOX_DAYS": days})


def test_what_is_kept_at_that_moment_stays(monkeypatch):
    (id,) = receive(DESK, video())
    expire = expiry_store.expire

    def kept_meanwhile(key, before):
        service.bookmark(key.owner, key.id)
        return expire(key, before)

    monkeypatch.setattr(expiry_store, "expire", kept_meanwhile)
    assert service.expire(OVER, always) == 0
    assert states() == {id: "BOOKMARKED"}


def test_it_goes_on_where_time_ended():
    receive(DESK, *(video(f"number {number}") for number in range(10)))
    turns = iter([True] * 5)
    first = service.expire(OVER, lambda: next(turns, False))
    assert 0 < first < 10
    assert first + service.expire(OVER, always) == 10


def test_one_that_fails_does_not_keep_the_others_from_leaving(monkeypatch):
    ids = receive(DESK, *(video(f"number {number}") for number in range(3)))
    expire = expiry_store.expire

    def fail(key, before):
        if key.id == ids[1]:
            raise RuntimeError
        return expire(key, before)

    monkeypatch.setattr(expiry_store, "expire", fail)
    with pytest.raises(sweeping.Unfinished):
        service.expire(OVER, always)
    assert states() == {ids[0]: None, ids[1]: "INBOX", ids[2]: None}


def test_every_part_of_the_table_is_first_once_a_week(monkeypatch):
    read = []
    monkeypatch.setattr(
        expiry_store, "list_expired", lambda before, part, parts: read.append((part, parts)) or iter(())
    )
    for day in range(7):
        expiry.expire(NOON + day * DAY, always)
    parts = [read[start : start + 7] for start in range(0, 49, 7)]
    assert sorted(part[0] for part in parts) == [(number, 7) for number in range(7)]
    assert all(sorted(part) == [(number, 7) for number in range(7)] for part in parts)


def test_rows_of_others_in_the_table_are_left_alone():
    EntryRow("uses of desk", "x", placed="2020", provider="RSS", content_type="LINK").save()
    assert service.expire(OVER, always) == 0


def test_the_daily_job_does_it(monkeypatch):
    receive(DESK, video())
    monkeypatch.setattr(maintenance.clock, "now", lambda: OVER)
    monkeypatch.setattr(maintenance, "_stale_batches", lambda now: iter(()))
    maintenance.run(always)
    assert states() == {video().id: None}

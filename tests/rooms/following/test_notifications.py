"""What owners are told: one active of a kind and provider, newest first, resolved by itself, listed for 30 days."""

import pytest

from chalicelib.following import jobs, notifications, quota
from chalicelib.following.providers.contract import UNITS
from chalicelib.following.stores import notifications as store
from chalicelib.following.stores.notifications import Notification
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from tests.rooms.following.conftest import SLOW_SOIL

YOUTUBE, SPOTIFY = Provider.YOUTUBE, Provider.SPOTIFY
FIELDS = {"id", "type", "provider", "title", "message", "data", "read_at", "resolved_at", "created_at"}


def kinds(desk):
    return [(told["type"], told["provider"]) for told in desk.notifications()]


def test_they_are_listed_with_all_their_fields(desk):
    notifications.tell_expired(DESK, YOUTUBE)
    page = desk.call("GET", "notifications").json
    assert (page["next_cursor"], page["has_more"]) == (None, False)
    (told,) = page["items"]
    assert set(told) == FIELDS
    assert (told["type"], told["provider"], told["data"]) == ("connection_expired", "YOUTUBE", {})
    assert (told["read_at"], told["resolved_at"]) == (None, None)
    assert told["created_at"] > 1_700_000_000_000
    assert told["title"]
    assert told["message"]


def test_one_is_active_of_a_kind_and_provider(desk):
    for _ in range(3):
        notifications.tell_expired(DESK, YOUTUBE)
    notifications.tell_expired(DESK, SPOTIFY)
    notifications.tell_revoked(DESK, YOUTUBE)
    assert sorted(kinds(desk)) == [
        ("connection_expired", "SPOTIFY"),
        ("connection_expired", "YOUTUBE"),
        ("connection_revoked", "YOUTUBE"),
    ]


def test_the_newest_is_first_and_pages_are_walked_by_cursor(desk):
    for _ in range(5):
        notifications.tell_expired(DESK, YOUTUBE)
        notifications.resolve_connection(DESK, YOUTUBE)
    found, query = [], "?limit=2"
    while query:
        page = desk.call("GET", f"notifications{query}").json
        found += [told["id"] for told in page["items"]]
        query = f"?limit=2&cursor={page['next_cursor']}" if page["has_more"] else ""
    assert len(found) == 5
    assert found == sorted(found, reverse=True)


def test_one_that_was_resolved_can_be_told_again(desk):
    notifications.tell_expired(DESK, YOUTUBE)
    notifications.resolve_connection(DESK, YOUTUBE)
    assert desk.active() == []
    notifications.tell_expired(DESK, YOUTUBE)
    assert desk.active() == ["connection_expired"]
    assert len(desk.notifications()) == 2


def test_reading_one_keeps_the_first_time_and_resolves_nothing(desk, later):
    notifications.tell_expired(DESK, YOUTUBE)
    (told,) = desk.notifications()
    answer = desk.call("POST", f"notifications/{told['id']}/read")
    assert (answer.status, answer.json) == (200, {"success": True})
    (read,) = desk.notifications()
    assert read["read_at"] >= told["created_at"]
    later(minutes=5)
    desk.call("POST", f"notifications/{told['id']}/read")
    assert desk.notifications() == [read]
    assert desk.active() == ["connection_expired"]


@pytest.mark.parametrize("id", ["none", "01890000-0000-7000-8000-000000000000", "x" * 300])
def test_what_is_none_is_not_found(desk, id):
    assert desk.call("POST", f"notifications/{id}/read").status == 404


def test_resolved_ones_stay_listed_for_thirty_days(desk, later):
    notifications.tell_expired(DESK, YOUTUBE)
    notifications.resolve_connection(DESK, YOUTUBE)
    later(days=29, hours=23)
    assert len(desk.notifications()) == 1
    later(hours=2)
    assert desk.notifications() == []


def test_active_ones_stay_however_old_they_are(desk, later):
    notifications.tell_revoked(DESK, YOUTUBE)
    later(days=300)
    assert desk.active() == ["connection_revoked"]


def test_what_has_ended_leaves_no_gap_between_pages(desk, later):
    for _ in range(3):
        notifications.tell_expired(DESK, YOUTUBE)
        notifications.resolve_connection(DESK, YOUTUBE)
    later(days=20)
    for _ in range(3):
        notifications.tell_expired(DESK, SPOTIFY)
        notifications.resolve_connection(DESK, SPOTIFY)
    later(days=15)
    page = desk.call("GET", "notifications?limit=3").json
    assert [told["provider"] for told in page["items"]] == ["SPOTIFY"] * 3
    assert page["has_more"] is False


@pytest.fixture
def listener(desk):
    desk.connect("SPOTIFY")
    desk.follow("SPOTIFY", SLOW_SOIL)
    return desk


def told_of_the_end(desk):
    return [told["data"]["days"] for told in desk.notifications() if told["type"] == "connection_ending"]


def test_the_end_of_spotifys_consent_is_told_fourteen_and_three_days_before(listener, later):
    later(days=166)
    jobs.maintain(lambda: True)
    assert told_of_the_end(listener) == []
    later(days=1, hours=1)
    for _ in range(3):
        jobs.maintain(lambda: True)
    assert told_of_the_end(listener) == [14]
    later(days=10)
    jobs.maintain(lambda: True)
    assert told_of_the_end(listener) == [14]
    later(days=1)
    for _ in range(2):
        jobs.maintain(lambda: True)
    assert told_of_the_end(listener) == [3, 14]
    assert listener.active() == ["connection_ending"]


def test_connecting_again_resolves_it_and_begins_anew(listener, later):
    later(days=170)
    jobs.maintain(lambda: True)
    assert listener.active() == ["connection_ending"]
    before = listener.connection("SPOTIFY")["consent_ends_at"]
    listener.connect("SPOTIFY")
    assert listener.active() == []
    assert listener.connection("SPOTIFY")["consent_ends_at"] - before > 169 * 86_400_000
    jobs.maintain(lambda: True)
    assert listener.active() == []


def test_renewing_a_token_does_not_move_the_end_of_the_consent(listener, later, sweep):
    before = listener.connection("SPOTIFY")["consent_ends_at"]
    later(days=5)
    sweep()
    assert listener.connection("SPOTIFY")["last_refreshed_at"]
    assert listener.connection("SPOTIFY")["consent_ends_at"] == before


def test_reading_writes_nothing_unless_something_is_over(desk, later, monkeypatch):
    quota.use_up(Provider.YOUTUBE, UNITS)
    resolved, real = [], store.resolve

    def resolve(*args):
        resolved.append(args)
        return real(*args)

    monkeypatch.setattr(store, "resolve", resolve)
    assert desk.active() == ["quota_warning"]
    assert resolved == []
    later(days=1)
    (told,) = desk.notifications()
    assert told["resolved_at"] is not None
    assert len(resolved) == 1
    desk.notifications()
    assert len(resolved) == 1


def test_the_warning_of_a_new_day_is_told_though_nobody_has_read_that_of_the_last(desk, later):
    quota.use_up(Provider.YOUTUBE, UNITS)
    later(days=1)
    quota.use_up(Provider.YOUTUBE, UNITS)
    assert desk.active() == ["quota_warning"]
    assert len(desk.notifications()) == 2


def test_the_page_reads_what_is_active_once(desk, monkeypatch):
    quota.use_up(Provider.YOUTUBE, UNITS)
    read, real = [], store.list_active

    def list_active(owner):
        read.append(owner)
        return real(owner)

    monkeypatch.setattr(store, "list_active", list_active)
    assert desk.http.get("/admin/following").status == 200
    assert len(read) == 1


@pytest.mark.parametrize("meanwhile", ["another recovers", "another fails"])
def test_causes_that_come_and_go_at_once_are_all_counted(desk, monkeypatch, meanwhile):
    """Whoever has read the causes decides again if they have changed before the write."""
    kind, get = notifications.Kind.POLL_FAILURES, tables.get

    def fail(cause):
        told = Notification(ids.new(), kind.value, "RSS", "Not read", "", {}, clock.now())
        store.add(DESK, told, cause)

    fail("one")
    fail("two")
    turns = iter([True])

    def get_slowly(*key):
        found = get(*key)
        if next(turns, False):
            store.resolve(DESK, kind, "RSS", clock.now(), "two")
            if meanwhile == "another fails":
                fail("three")
        return found

    monkeypatch.setattr(store.tables, "get", get_slowly)
    store.resolve(DESK, kind, "RSS", clock.now(), "one")
    assert len(store.list_active(DESK)) == (0 if meanwhile == "another recovers" else 1)

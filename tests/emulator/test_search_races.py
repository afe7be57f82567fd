"""Searching and listing while people come, change and go, and while rows of an earlier version are filled in."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from chalicelib.audience import counts, editing, erasure, filling, folding, listing, places
from chalicelib.audience.listing import Filter
from chalicelib.audience.stores import counts as count_store
from chalicelib.audience.stores import filling as filling_store
from chalicelib.audience.stores import places as place_store
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.kernel import clock, ids, settings
from chalicelib.kernel.aws import tables
from tests.rooms.campaigns import crowd

_BEGIN = datetime(2025, 3, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def small_groups(emulator, monkeypatch):
    monkeypatch.setattr(filling_store, "_TOGETHER", 10)
    monkeypatch.setattr(filling, "_ONE_BY_ONE", 4)
    monkeypatch.setattr(places, "_TOGETHER", 10)
    monkeypatch.setattr(places, "_WORTH_MERGING", 0)
    monkeypatch.setattr(listing, "_COUNTED_PAST", 0)


@pytest.fixture
def old(emulator):
    """`old(60)`: rows as the version before wrote them, with their addresses and counted by the day."""

    def make(people, first=0):
        rows = []
        for number in range(first, first + people):
            at = clock.text(_BEGIN + timedelta(seconds=number // 3))
            row = {"id": ids.new(), "email": f"r{number:03}@example.net", "nickname": "Zoë", "status": "activated"}
            rows.append(row | {"created_at": at, "activated_at": at, "unsubscribe_secret": "s" * 32})
        crowd.write("subscribers", rows)
        crowd.write("emails", [{"address": row["email"], "subscriber_id": row["id"]} for row in rows])
        tables.transact(count_store.count_write(clock.now().date(), joined=people))
        return [row["id"] for row in rows]

    return make


def _check():
    """Everybody is filled in, counted once and found once; every start is exact, and pages are the whole list."""
    rows = {row.id: row for row in SubscriberRow.scan(consistent_read=True)}
    assert filling.is_finished()
    assert all(row.folded == folding.fold_person(row.email, row.nickname) for row in rows.values())
    times = [row.created_at for row in rows.values() if row.status == "activated"]
    assert place_store.sum_of(place_store.newest_first()) == counts.total() == len(times)
    _check_starts()
    pages = [listing.page(Filter(), number, 7).items for number in range(1, 2 + len(rows) // 7)]
    assert sorted(entry.id for page in pages for entry in page) == sorted(rows)
    found = [listing.page(Filter(text="EXAMPLE."), number, 100) for number in range(1, 2 + len(rows) // 100)]
    assert sorted(entry.id for page in found for entry in page.items) == sorted(rows)
    assert {page.total for page in found} == {len(rows)}


def test_two_that_fill_in_while_people_leave_and_are_renamed(old, together):
    people = old(60)

    def leave():
        for id in people[5:45:8]:
            assert erasure.remove(id)

    def rename():
        for number, id in enumerate(people[6:46:8]):
            editing.change(id, editing.Edits(nickname=f"Bo {number}"))

    ends = together(lambda: filling.fill(lambda: True), lambda: filling.fill(lambda: True), leave, rename)
    assert not [end for end in ends if isinstance(end, Exception)]
    assert len(list(SubscriberRow.scan(consistent_read=True))) == 55
    filling.fill(lambda: True)
    _check()
    assert listing.page(Filter(text="bo "), 1, 20).total == 5


def test_filling_in_killed_at_any_step_is_made_up_for(old, dying, emulator):
    for steps in count(1):
        emulator.empty(settings.current().prefix)
        filling.forget()
        old(12)
        ended = dying(steps, "fill_rows")
        filling.fill(lambda: True)
        _check()
        if ended != "killed":
            break
    assert ended == "done"
    assert steps > 4


def test_merging_killed_at_any_step_changes_no_start(old, dying):
    filling.fill(lambda: True)
    for steps in count(1):
        for number in range(12):
            at = _BEGIN + timedelta(minutes=steps, seconds=number)
            crowd_row = {"id": ids.new(), "email": f"m{steps}-{number}@example.net", "status": "activated"}
            crowd_row |= {
                "created_at": clock.text(at),
                "activated_at": clock.text(at),
                "unsubscribe_secret": "s" * 32,
            }
            crowd.write("subscribers", [crowd_row])
            filling._fill_one(crowd_row["id"])
        tables.transact(count_store.count_write(clock.now().date(), joined=12))
        ended = dying(steps, "merge_places")
        _check_starts()
        if ended != "killed":
            break
    assert ended == "done"


def _check_starts():
    times = [row.created_at for row in SubscriberRow.scan(consistent_read=True) if row.status == "activated"]
    assert places.find_start(0, len(times))
    for start in places._boundaries(place_store.newest_first()):
        assert start.people == sum(1 for at in times if at >= start.moment)


def test_lists_and_searches_answer_while_everything_moves(old, together, admin):
    people = old(40)
    filling.fill(lambda: True)
    stop = []

    def move():
        try:
            for number, id in enumerate(people[::2]):
                if number % 2:
                    erasure.remove(id)
                else:
                    editing.change(id, editing.Edits(nickname=f"Moved {number}"))
            places.merge(lambda: True)
        finally:
            stop.append(True)

    def look():
        seen = []
        while not stop:
            for url in ("?q=example", "?q=moved&status=activated", "?page=5&per_page=7", "?page=2&per_page=9"):
                answer = admin.get(f"/admin/api/subscribers{url}")
                found = [item["id"] for item in answer.json["items"]] if answer.status == 200 else []
                seen.append((answer.status, len(found) == len(set(found))))
        return seen

    _, one, two = together(move, look, look)
    assert set(one) == set(two) == {(200, True)}
    _check()

"""Rows of an earlier version: found while they are filled in, filled in once, and never brought back."""

from datetime import timedelta

import pytest

from chalicelib.audience import filling, jobs, listing
from chalicelib.audience.listing import Filter
from chalicelib.audience.stores import filling as store
from chalicelib.audience.stores import imported
from chalicelib.audience.stores import places as place_store
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from tests.rooms.campaigns import crowd


@pytest.fixture(autouse=True)
def small_groups(aws, monkeypatch):
    monkeypatch.setattr(store, "_TOGETHER", 10)
    monkeypatch.setattr(filling, "_ONE_BY_ONE", 4)


@pytest.fixture
def old():
    """`old(25)`: so many rows as the version before wrote them; every fifth is pending."""

    def make(people):
        rows = []
        for number in range(people):
            at = clock.text(clock.now() - timedelta(hours=people - number))
            row = {"id": ids.new(), "email": f"R{number:02}@example.net", "nickname": "Zoë", "created_at": at}
            row |= {"unsubscribe_secret": "s" * 32, "status": "activated", "activated_at": at}
            if number % 5 == 0:
                row["status"] = "pending"
                row["confirmation_expires_at"] = clock.text(clock.now() + timedelta(days=1))
            rows.append(row)
        crowd.write("subscribers", rows)
        return rows

    return make


def _total(text="zoë"):
    return listing.page(Filter(text=text), 1, 100).total


def _counted():
    return place_store.sum_of(place_store.newest_first())


def test_everybody_is_found_before_during_and_after(old):
    old(37)
    left = iter([True] * 3)
    assert (_total(), _total("r07@")) == (37, 1)
    assert filling.fill(lambda: next(left, False)) < 37
    assert not filling.is_finished()
    assert (_total(), _total("r07@")) == (37, 1)
    filling.fill(lambda: True)
    assert filling.is_finished()
    assert (_total(), _total("r07@"), _total("ZOE\u0308")) == (37, 1, 37)
    assert _counted() == 29
    assert filling.fill(lambda: True) == 0


def test_a_run_goes_on_where_the_last_one_stopped(old):
    old(40)
    filled = 0
    for _ in range(20):
        left = iter([True])
        filled += filling.fill(lambda left=left: next(left, False))
    assert filled == 40
    assert filling.is_finished()
    assert _counted() == 32


def test_a_run_that_died_before_it_noted_its_place_does_nothing_twice(old, monkeypatch):
    old(30)
    monkeypatch.setattr(store, "keep", lambda group: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        filling.fill(lambda: True)
    monkeypatch.undo()
    monkeypatch.setattr(store, "_TOGETHER", 7)
    assert filling.fill(lambda: True) > 0
    assert _counted() == 24


def test_whoever_leaves_or_changes_between_reading_and_writing_is_not_brought_back(old, monkeypatch, rows):
    people = old(20)
    gone, renamed = people[3]["id"], people[4]["id"]

    def meanwhile(ids, read=imported.list_subscribers):
        found = read(ids)
        if gone in ids:
            crowd.leave(gone)
        if renamed in ids and len(ids) > 1:
            tables.update(store.SubscriberRow(renamed), [store.SubscriberRow.nickname.set("Bo")])
        return found

    monkeypatch.setattr(imported, "list_subscribers", meanwhile)
    filling.fill(lambda: True)
    monkeypatch.undo()
    kept = {row["id"]["S"]: row for row in rows("subscribers")}
    assert gone not in kept
    assert len(kept) == 19
    assert all("folded" in row for row in kept.values())
    assert kept[renamed]["folded"]["S"] == "r04@example.net\nbo"
    assert _counted() == 15


def test_somebody_who_confirms_is_complete_without_the_pass(reader, rows, admin):
    ada = reader()
    ada.subscribe(nickname="Ada")
    (row,) = rows("subscribers")
    bare = {name: next(iter(value.values())) for name, value in row.items() if name not in ("shard", "folded")}
    bare = {name: set(value) if isinstance(value, list) else value for name, value in bare.items()}
    crowd.write("subscribers", [bare | {"expires_at": int(bare["expires_at"])}])
    assert ada.confirm().status == 303
    (row,) = rows("subscribers")
    assert (row["folded"]["S"], row["shard"]["S"]) == ("ada@example.net\nada", row["id"]["S"][-1])
    filling.fill(lambda: True)
    assert _counted() == 1


def test_the_clean_up_fills_in(old):
    old(12)
    jobs.clean_up(lambda: True)
    assert filling.is_finished()
    assert _total() == 12

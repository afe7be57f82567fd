"""Deep pages: where they begin is known from counts that change with everybody who joins or leaves."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.audience import counts, filling, listing, model, places
from chalicelib.audience.listing import Filter
from chalicelib.audience.stores import places as store
from chalicelib.audience.stores.places import Place
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw, tables
from tests.rooms.campaigns import crowd

_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def few_together(monkeypatch):
    monkeypatch.setattr(places, "_TOGETHER", 10)
    monkeypatch.setattr(places, "_WORTH_MERGING", 0)
    monkeypatch.setattr(listing, "_COUNTED_PAST", 0)


class Crowd:
    """People in a list, and the counts of them, without their rows."""

    def __init__(self) -> None:
        self.people: list[model.Subscriber] = []

    def join(self, second):
        at = _BEGIN + timedelta(seconds=second, milliseconds=random.randrange(1000))
        person = model.Subscriber(
            id=ids.new(), email="a@example.net", nickname=None, status="activated", unsubscribe_secret="s",
            created_at=at, activated_at=at, confirmation_expires_at=None, sources=frozenset(), tags=frozenset(),
            requested_sources=frozenset(), shard="0",
        )  # fmt: skip
        tables.transact(*places.move_writes([person], []))
        self.people.append(person)

    def leave(self, person):
        self.people.remove(person)
        tables.transact(*places.move_writes([], [person]))

    def check(self):
        """Every start that is named has exactly as many people before it as it says."""
        times = [clock.text(person.created_at) for person in self.people]
        total = len(times)
        assert store.sum_of(store.newest_first()) == total
        for count in range(total + 2):
            start = places.find_start(count, total)
            assert start
            assert start.people <= count
            assert start.people == sum(1 for at in times if start.moment and at >= start.moment)


@pytest.fixture
def people(aws, few_together):
    return Crowd()


def test_whatever_happens_every_start_is_exact(people):
    rng = random.Random(7)
    for step in range(240):
        if people.people and rng.random() < 0.3:
            people.leave(rng.choice(people.people))
        else:
            # Mostly newer ones; some were imported with the day they joined elsewhere, many on the same.
            people.join(step * 3 if rng.random() < 0.7 else rng.choice((5, 5, 5, -200, rng.randrange(-500, 700))))
        if rng.random() < 0.1:
            places.merge(lambda: True)
        if step % 24 == 0:
            people.check()
    places.merge(lambda: True)
    people.check()
    before = len(store.newest_first())
    assert before < 60
    assert places.merge(lambda: True) == 0


def test_merging_that_is_cut_short_anywhere_changes_no_start(people, monkeypatch):
    monkeypatch.setattr(places, "_MOST_MERGED", 3)
    for second in range(45):
        people.join(second)
    for steps in range(14):
        left = iter([True] * steps)
        places.merge(lambda left=left: next(left, False))
        people.check()


def test_two_that_merge_at_the_same_time_change_no_sum(people, monkeypatch):
    """One has read, the other merges, and only then the first writes."""
    for second in range(45):
        people.join(second)
    read = store.newest_first()
    for second in (3, 7, 19, 30):
        people.join(second)
        people.leave(people.people[second])
    places.merge(lambda: True)
    monkeypatch.setattr(store, "newest_first", lambda: read)
    places.merge(lambda: True)
    monkeypatch.undo()
    people.check()


def test_whoever_was_not_counted_is_not_subtracted(people):
    people.join(1)
    uncounted = model.Subscriber(
        **{name: getattr(people.people[0], name) for name in model.Subscriber.__struct_fields__ if name != "shard"}
    )
    assert places.move_writes([], [uncounted]) == []
    assert places.move_writes([people.people[0]], [people.people[0]]) == []


def test_a_second_of_which_everybody_has_left_is_forgotten(people, monkeypatch):
    monkeypatch.setattr(places, "_WORTH_MERGING", 2_000)
    for second in range(5):
        people.join(second)
    for person in people.people[1:4]:
        people.leave(person)
    assert len(store.newest_first()) == 5
    assert places.merge(lambda: True) == 3
    assert len(store.newest_first()) == 2
    people.check()


def test_without_sums_that_fit_nothing_is_said(people):
    people.join(1)
    assert places.find_start(0, 2) is None
    assert places.find_start(0, 1) == places.Start()


def test_above_the_newest_anchor_every_row_is_a_boundary():
    rows = [Place("d", 4, False), Place("c", 3, True), Place("b", -1, False), Place("a", 9, True)]
    assert list(places._boundaries(rows)) == [places.Start("d", 4), places.Start("c", 7), places.Start("a", 15)]


@pytest.fixture
def listed(aws, few_together):
    """`listed(70)`: so many rows of an earlier version, several in each second, and counts that know their number."""

    def make(people):
        rows = []
        for number in range(people):
            at = clock.text(_BEGIN + timedelta(seconds=number // 4))
            row = {"id": ids.new(), "email": f"r{number:03}@example.net", "status": "activated", "created_at": at}
            rows.append(row | {"unsubscribe_secret": "s" * 32, "activated_at": at, "sources": {"blog"}})
        crowd.write("subscribers", rows)
        tables.transact(_count(people))
        return rows

    return make


def _count(people):
    from chalicelib.audience.stores import counts as count_store

    return count_store.count_write(clock.now().date(), joined=people)


def _pages(per_page=7, **wanted):
    total = listing.page(Filter(**wanted), 1, per_page).total
    pages = range(1, 2 + total // per_page)
    return [entry.email for number in pages for entry in listing.page(Filter(**wanted), number, per_page).items]


def test_pages_are_the_same_before_during_and_after_filling_in(listed, monkeypatch):
    monkeypatch.setattr("chalicelib.audience.stores.filling._TOGETHER", 10)
    listed(70)
    whole = _pages()
    assert len(set(whole)) == 70
    left = iter([True] * 3)
    assert filling.fill(lambda: next(left, False)) == 20
    assert _pages() == whole
    assert filling.fill(lambda: True) == 50
    assert counts.total() == store.sum_of(store.newest_first()) == 70
    assert _pages() == _pages(status="activated") == whole


def test_a_deep_page_takes_at_most_twice_the_requests_of_the_first(listed, monkeypatch):
    listed(200)
    filling.fill(lambda: True)
    asked = []
    monkeypatch.setattr(raw, "dynamodb", lambda *call, ask=raw.dynamodb: asked.append(call) or ask(*call))
    listing.page(Filter(), 1, 5)
    first = len(asked)
    asked.clear()
    page = listing.page(Filter(), 38, 5)
    assert len(page.items) == 5
    assert len(asked) <= 2 * first
    limits = [parameters["Limit"] for _, parameters in asked if parameters.get("Select") == "COUNT"]
    assert sum(limits) <= 100
    assert listing.page(Filter(), 41, 5).items == ()
    assert listing.page(Filter(), 1_000_000, 100).items == ()


def test_people_who_join_and_leave_move_the_pages(listed, admin, reader, monkeypatch):
    rows = listed(40)
    filling.fill(lambda: True)
    for row in rows[::7]:
        crowd.write("emails", [{"address": row["email"], "subscriber_id": row["id"]}])
        assert admin.delete(f"/admin/api/subscribers/{row['id']}").status == 204
    reader("new@example.net").join()
    reader("pending@example.net").subscribe()
    gone = {row["email"] for row in rows[::7]}
    kept = {row["email"] for row in rows} - gone
    seen = _pages(per_page=4)
    assert len(seen) == len(set(seen))
    assert seen[:2] == ["pending@example.net", "new@example.net"]
    assert set(seen[2:]) == kept
    assert store.sum_of(store.newest_first()) == counts.total() == len(kept) + 1


def test_a_row_filled_in_by_nobody_leaves_without_being_subtracted(listed, admin):
    (row,) = listed(1)
    crowd.write("emails", [{"address": row["email"], "subscriber_id": row["id"]}])
    assert admin.delete(f"/admin/api/subscribers/{row['id']}").status == 204
    assert store.newest_first() == []

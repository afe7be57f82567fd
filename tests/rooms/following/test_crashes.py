"""A process may end between any two steps. What was begun is done once by whoever comes next."""

from itertools import count

import pytest

from chalicelib.following import asking, fan_out, jobs, maintenance, polling, service
from chalicelib.following.model import Cause
from chalicelib.following.stores import creators, followers, polls
from chalicelib.inbox import delivery
from chalicelib.inbox import service as inbox
from chalicelib.kernel.aws import tables
from tests.conftest import received
from tests.rooms.following.conftest import ALLOTMENT, HEDGE

NEW = ["Two", "One"]


class Died(BaseException):
    """Nothing catches it, as nothing catches the end of a process."""


@pytest.fixture
def following(desk, later):
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    for title in reversed(NEW):
        desk.providers.publish(ALLOTMENT, title)
        desk.providers.advance(60)
    later(days=1)
    return desk


def die_at(patch, module, step, turn=0, after=False):
    """When the step is taken for the nth time, before it is done or after."""
    real, turns = getattr(module, step), count()

    def dying(*arguments, **named):
        last = next(turns) == turn
        if last and not after:
            raise Died
        result = real(*arguments, **named)
        if last:
            raise Died
        return result

    patch.setattr(module, step, dying)


STEPS = [
    (asking, "ask", 0),
    (polling, "_deliver", 0),
    (fan_out, "_hand_over", 0),
    (fan_out, "_hand_over", 1),
    (delivery, "_enter", 1),
    (polls, "settle", 0),
    (polling.websub, "renew", 0),
    (followers, "mark_served", 0),
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("module", "step", "turn"), STEPS, ids=[f"{step}-{turn}" for _, step, turn in STEPS])
def test_a_poll_that_dies_at_any_step_is_done_by_the_next(
    following, later, sweep, monkeypatch, module, step, turn, after
):
    with monkeypatch.context() as patch:
        die_at(patch, module, step, turn, after)
        with pytest.raises(Died):
            sweep()
    received("feed")  # the message is lost with it
    for _ in range(2):
        later(minutes=5)
        sweep()
    assert following.titles() == [*NEW, "Sowing broad beans too early"]


@pytest.mark.parametrize("turn", range(8))
def test_a_poll_that_dies_at_any_write_is_done_by_the_next(following, later, sweep, monkeypatch, turn):
    with monkeypatch.context() as patch:
        turns = count()
        for name in ("transact", "update", "put"):
            real = getattr(tables, name)

            def dying(*arguments, _real=real, **named):
                if next(turns) == turn:
                    raise Died
                return _real(*arguments, **named)

            patch.setattr(tables, name, dying)
        with pytest.raises(Died):
            polling.poll(following.followed["creator_id"], Cause.SCHEDULE)
    later(minutes=5)
    sweep()
    assert following.titles() == [*NEW, "Sowing broad beans too early"]


@pytest.mark.parametrize(
    ("module", "step"),
    [
        (service, "_serve_stored"),
        (polling, "poll"),
        (polling, "_deliver"),
        (followers, "mark_served"),
        (polls, "settle"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_first_fetch_that_dies_is_done_by_the_sweep_and_nothing_after_it_is_missed(
    desk, later, sweep, monkeypatch, module, step
):
    with monkeypatch.context() as patch:
        die_at(patch, module, step)
        with pytest.raises(Died):
            desk.follow("YOUTUBE", HEDGE)
    later(minutes=5)
    sweep()
    assert desk.titles() == ["Who is eating the buds?"]
    for title in ("After it", "After that"):
        desk.providers.publish(HEDGE, title)
        desk.providers.advance(60)
    later(days=1)
    sweep()
    assert desk.titles() == ["After that", "After it", "Who is eating the buds?"]


def test_who_is_new_and_was_served_before_the_death_misses_nothing_after_it(desk, later, sweep, monkeypatch):
    with monkeypatch.context() as patch:
        die_at(patch, followers, "mark_served", after=True)
        with pytest.raises(Died):
            desk.follow("YOUTUBE", HEDGE)
    later(minutes=5)
    sweep()
    for title in ("After it", "After that"):
        desk.providers.publish(HEDGE, title)
        desk.providers.advance(60)
    later(days=1)
    sweep()
    assert desk.titles() == ["After that", "After it", "Who is eating the buds?"]


def test_the_older_entry_leaves_although_whoever_brought_the_newer_one_died(following, later, sweep, monkeypatch):
    following.set_options(following.followed, newest_only=True)
    with monkeypatch.context() as patch:
        die_at(patch, inbox, "keep_newest")
        with pytest.raises(Died):
            sweep()
    later(minutes=5)
    sweep()
    assert following.titles() == ["Two"]


def test_an_unfollow_that_dies_is_finished(desk, settle, monkeypatch):
    follow = desk.follow("YOUTUBE", HEDGE)
    with monkeypatch.context() as patch:
        die_at(patch, inbox, "forget_follow")
        with pytest.raises(Died):
            desk.unfollow(follow)
    assert desk.find(follow)["status"] == "UNSUBSCRIBED"
    settle()
    assert desk.titles() == []


def test_an_unfollow_that_dies_before_it_was_written_takes_nothing(desk, settle, monkeypatch):
    follow = desk.follow("YOUTUBE", HEDGE)
    with monkeypatch.context() as patch:
        die_at(patch, service.changes, "change")
        with pytest.raises(Died):
            desk.unfollow(follow)
    settle()
    assert desk.find(follow)["status"] == "ACTIVE"
    assert len(desk.titles()) == 1


def test_a_creator_that_was_followed_and_never_became_due_is_repaired_on_sunday(desk, later, monkeypatch, sweep):
    follow = desk.follow("YOUTUBE", HEDGE)
    row = creators.CreatorRow(follow["creator_id"], "creator")
    tables.update(row, [creators.CreatorRow.due.remove()])
    monkeypatch.setattr(maintenance, "_SUNDAY", maintenance.clock.now().weekday())
    jobs.maintain(lambda: True)
    desk.providers.publish(HEDGE, "Found again")
    later(days=1)
    sweep()
    assert "Found again" in desk.titles()

"""A lease: one holder at a time, never for longer than it said, and never in its own way."""

from datetime import timedelta

import pytest

from chalicelib.kernel import clock, locks
from chalicelib.kernel.aws import tables


def test_one_holds_it_and_then_the_next(aws):
    with locks.held("feed", 60) as mine:
        assert mine
        with locks.held("feed", 60) as theirs, locks.held("other", 60) as elsewhere:
            assert not theirs
            assert elsewhere
    with locks.held("feed", 60) as again:
        assert again


def test_a_holder_that_fails_lets_go(aws):
    with pytest.raises(ZeroDivisionError), locks.held("feed", 60):
        raise ZeroDivisionError
    with locks.held("feed", 60) as free:
        assert free


def test_a_lease_ends_by_itself_and_who_overran_it_takes_nothing_away(aws, monkeypatch):
    real = clock.now
    with locks.held("feed", 60):
        monkeypatch.setattr(clock, "now", lambda: real() + timedelta(seconds=61))
        late = locks.held("feed", 60)
        assert late.__enter__()
    with locks.held("feed", 60) as free:
        assert not free
    late.__exit__(None, None, None)


def test_a_put_repeated_after_a_lost_answer_is_not_in_its_own_way(aws, monkeypatch):
    put = tables.put

    def twice(row, condition):
        put(row, condition)
        put(row, condition)

    monkeypatch.setattr(tables, "put", twice)
    with locks.held("feed", 60) as mine:
        assert mine

"""Clean-ups go on after something that fails, and say at the end that it did."""

from collections.abc import Iterator

import pytest

from chalicelib.kernel.sweeping import Sweep, Unfinished


def always() -> bool:
    return True


def halve(number: int) -> bool:
    if number == 1:
        raise ValueError("cannot be halved")
    return number != 0


def test_one_that_fails_does_not_stop_the_others():
    sweep = Sweep("test", always)

    assert sweep.each([4, 1, 2], halve) == 2
    assert sweep.each([6], halve) == 1
    with pytest.raises(Unfinished):
        sweep.finish()


def test_a_list_that_cannot_be_read_does_not_stop_the_next():
    def listed() -> Iterator[int]:
        yield 2
        raise OSError

    sweep = Sweep("test", always)

    assert sweep.each(listed(), halve) == 1
    assert sweep.each([2], halve) == 1
    with pytest.raises(Unfinished):
        sweep.finish()


def test_what_needed_nothing_is_not_counted_and_is_no_failure():
    sweep = Sweep("test", always)

    assert sweep.each([0, 2], halve) == 1
    sweep.finish()


def test_it_stops_when_there_is_no_time_left():
    time = iter([True, True, False])
    sweep = Sweep("test", lambda: next(time))

    assert sweep.each([2, 2, 2, 2], halve) == 2
    sweep.finish()


def test_a_failure_is_logged_by_id_and_without_its_message(capsys: pytest.CaptureFixture[str]):
    def fail(id: str) -> None:
        raise ValueError("ada@example.org")

    Sweep("test.failed", always).each(["some-id"], fail)

    logged = capsys.readouterr().out
    assert "test.failed" in logged
    assert "some-id" in logged
    assert "ada@" not in logged

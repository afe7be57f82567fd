import pytest

from chalicelib.audience.tags import model
from chalicelib.audience.tags.model import Action, Change
from chalicelib.kernel.errors import Invalid


@pytest.mark.parametrize(
    ("action", "tags", "to"),
    [
        (None, ["a"], "b"),
        ("burn", ["a"], "b"),
        ({}, ["a"], "b"),
        (5, ["a"], "b"),
        ("rename", None, "b"),
        ("rename", [], "b"),
        ("rename", [5], "b"),
        ("rename", {"a": 1}, "b"),
        ("rename", ["a", "b"], "c"),
        ("rename", ["a"], None),
        ("rename", ["a"], ""),
        ("rename", ["a"], 5),
        ("rename", ["a"], ["b"]),
        ("rename", ["a"], " A "),
        ("rename", ["a"], "x" * 65),
        ("rename", ["a"], "two\nlines"),
        ("rename", ["x" * 65], "b"),
        ("rename", [" "], "b"),
        ("merge", ["a", "b"], None),
        ("merge", ["a"], "a"),
        ("merge", [f"t{number}" for number in range(51)], "b"),
        ("remove", ["a"], "b"),
        ("remove", [], None),
    ],
)
def test_a_change_that_makes_no_sense(action, tags, to):
    with pytest.raises(Invalid):
        model.check_change(action, tags, to)


def test_tags_are_read_in_their_normal_form():
    assert model.check_change("rename", [" VIP "], "Friends ") == Change(Action.RENAME, ("vip",), "friends")
    assert model.check_change("merge", "a, B,a", "c") == Change(Action.MERGE, ("a", "b"), "c")
    assert model.check_change("remove", ["a"], "") == Change(Action.REMOVE, ("a",))


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (Change(Action.RENAME, ("a",), "b"), {"a", "x"}, {"b", "x"}),
        (Change(Action.RENAME, ("a",), "b"), {"a", "b"}, {"b"}),
        (Change(Action.RENAME, ("a",), "b"), {"x"}, {"x"}),
        (Change(Action.MERGE, ("a", "b"), "b"), {"a"}, {"b"}),
        (Change(Action.MERGE, ("a", "b"), "b"), {"b"}, {"b"}),
        (Change(Action.MERGE, ("a", "b"), "c"), {"a", "b", "x"}, {"c", "x"}),
        (Change(Action.REMOVE, ("a", "b")), {"a", "x"}, {"x"}),
        (Change(Action.REMOVE, ("a",)), {"a"}, set()),
        (Change(Action.RENAME, ("a",), "b"), set(), set()),
    ],
)
def test_what_becomes_of_tags(change, before, after):
    changed = change.apply(frozenset(before))
    assert changed == after
    assert len(changed) <= len(before)
    assert change.apply(changed) == changed

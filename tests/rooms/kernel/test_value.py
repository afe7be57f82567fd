"""A value behaves as a frozen dataclass does."""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, asdict, field, replace
from functools import cached_property

import pytest

from chalicelib.kernel.values import value


@value
class Point:
    x: int
    y: int = 2
    marks: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def sum(self) -> int:
        return self.x + self.y


def test_it_is_made_by_place_by_name_and_by_default():
    assert (Point(1).y, Point(1, 3).y, Point(x=1, y=4).y) == (2, 3, 4)
    with pytest.raises(TypeError):
        Point()


def test_equal_contents_are_equal_values_of_the_same_class_only():
    @value
    class Other:
        x: int

    assert Point(1) == Point(1) != Point(2)
    assert Other(1) != Point(1)
    assert hash(Other(1)) == hash(Other(1))


def test_nothing_can_be_changed_added_or_deleted():
    point = Point(1)
    for change in (
        lambda: setattr(point, "x", 5),
        lambda: setattr(point, "z", 5),
        lambda: delattr(point, "x"),
    ):
        with pytest.raises(FrozenInstanceError):
            change()
    assert point == Point(1)


def test_it_is_a_dataclass_in_every_other_respect():
    assert replace(Point(1), y=9) == Point(1, 9)
    assert asdict(Point(1)) == {"x": 1, "y": 2, "marks": {}}
    assert repr(Point(1)) == "Point(x=1, y=2, marks={})"
    match Point(7):
        case Point(x, y):
            assert (x, y) == (7, 2)


def test_a_cached_property_may_remember():
    point = Point(1)
    assert (point.sum, point.sum) == (3, 3)
    assert point == Point(1)


def test_each_value_has_its_own_default():
    assert Point(1).marks is not Point(1).marks

"""A line through daily counts, as the few numbers an SVG needs. Days on which nothing happened are filled in."""

from collections.abc import Sequence
from datetime import date, timedelta

from msgspec import Struct

from chalicelib.audience.counts import Day

WIDTH, HEIGHT = 720, 160


class Point(Struct, frozen=True):
    day: date
    total: int
    joined: int
    left: int


class Chart(Struct, frozen=True):
    points: tuple[Point, ...]
    top: int

    @property
    def first(self) -> Point:
        return self.points[0]

    @property
    def last(self) -> Point:
        return self.points[-1]

    @property
    def line(self) -> str:
        step = WIDTH / max(1, len(self.points) - 1)
        places = (
            f"{number * step:.1f} {HEIGHT - HEIGHT * point.total / self.top:.1f}"
            for number, point in enumerate(self.points)
        )
        return "M" + "L".join(places)

    @property
    def area(self) -> str:
        return f"{self.line}L{WIDTH} {HEIGHT}L0 {HEIGHT}Z"

    @property
    def weeks(self) -> list[Point]:
        """The end of each week with what happened in it, newest first: the chart in words."""
        found = []
        for end in range(len(self.points), 0, -7):
            week = self.points[max(0, end - 7) : end]
            joined, left = sum(one.joined for one in week), sum(one.left for one in week)
            found.append(Point(week[-1].day, week[-1].total, joined, left))
        return found


def build_chart(days: Sequence[Day], today: date, most: int = 90) -> Chart | None:
    """The last days up to today; None while there is nothing to draw."""
    if not days:
        return None
    known = {date.fromisoformat(day.day): day for day in days}
    begin = max(min(known), today - timedelta(days=most - 1))
    total = next((day.total - day.joined + day.left for at, day in sorted(known.items()) if at >= begin), None)
    if total is None:
        total = days[-1].total
    points = []
    for number in range((today - begin).days + 1):
        at = begin + timedelta(days=number)
        day = known.get(at)
        total = day.total if day else total
        points.append(Point(at, total, day.joined if day else 0, day.left if day else 0))
    return Chart(tuple(points), _round_up(max(point.total for point in points))) if points else None


def _round_up(value: int) -> int:
    """A round number not far above, so that the line uses most of its room."""
    size = 1
    while value > 10 * size:
        size *= 10
    return next(step * size for step in (1, 2, 3, 4, 6, 8, 10) if value <= step * size)

"""The chart of subscribers by day, as the path of an SVG. Days without a row are filled in."""

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
        coordinates = (
            f"{number * step:.1f} {HEIGHT - HEIGHT * point.total / self.top:.1f}"
            for number, point in enumerate(self.points)
        )
        return "M" + "L".join(coordinates)

    @property
    def area(self) -> str:
        return f"{self.line}L{WIDTH} {HEIGHT}L0 {HEIGHT}Z"

    @property
    def weeks(self) -> list[Point]:
        """The last day of each week with the week's sums, newest first: the chart as a table."""
        weeks = []
        for end in range(len(self.points), 0, -7):
            week = self.points[max(0, end - 7) : end]
            joined, left = sum(point.joined for point in week), sum(point.left for point in week)
            weeks.append(Point(week[-1].day, week[-1].total, joined, left))
        return weeks


def build_chart(days: Sequence[Day], today: date, most: int = 90) -> Chart | None:
    """The last days up to today, at most `most`; None if there is nothing to draw."""
    if not days:
        return None
    known = {date.fromisoformat(day.day): day for day in days}
    first = max(min(known), today - timedelta(days=most - 1))
    # What the first day known in this period started with.
    total = next((day.total - day.joined + day.left for date_, day in sorted(known.items()) if date_ >= first), None)
    if total is None:
        total = days[-1].total
    points = []
    for number in range((today - first).days + 1):
        current = first + timedelta(days=number)
        day = known.get(current)
        total = day.total if day else total
        points.append(Point(current, total, day.joined if day else 0, day.left if day else 0))
    return Chart(tuple(points), round_up(max(point.total for point in points))) if points else None


def round_up(value: int) -> int:
    """A round number not far above `value`, so that the line uses most of the chart's height."""
    size = 1
    while value > 10 * size:
        size *= 10
    return next(step * size for step in (1, 2, 3, 4, 6, 8, 10) if value <= step * size)

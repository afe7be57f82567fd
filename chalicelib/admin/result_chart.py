"""The chart of a year of campaigns, as paths of two SVGs: emails sent, and below them the share of people who left or
complained. A bar a campaign; with many campaigns a bar a week, because more would be too thin to see."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import groupby

from msgspec import Struct

from chalicelib.admin.chart import round_up
from chalicelib.campaigns.results import Result

HEIGHT = 100
_MOST_BARS, _FEWEST_PLACES = 120, 12
# The scale of shares ends at one of these, in per cent.
_TOPS = (0.5, 1, 2, 5, 10, 20, 50, 100)


class Bar(Struct, frozen=True):
    """A campaign, or all campaigns of the week that begins on this day."""

    day: date
    sent: int
    left: int
    complaints: int


class ResultChart(Struct, frozen=True):
    bars: tuple[Bar, ...]
    weekly: bool
    top: int
    top_share: float

    @property
    def places(self) -> int:
        """How many bars there is room for: one alone is not as wide as the page."""
        return max(len(self.bars), _FEWEST_PLACES)

    @property
    def sent_bars(self) -> str:
        return "".join(_line(x, 0, bar.sent, self.top) for x, bar in enumerate(self.bars))

    @property
    def left_bars(self) -> str:
        return "".join(_line(x, 0, left, self.top_share) for x, left, _ in self._shares())

    @property
    def complaints_bars(self) -> str:
        return "".join(_line(x, left, complaints, self.top_share) for x, left, complaints in self._shares())

    def _shares(self) -> Iterator[tuple[int, float, float]]:
        for x, bar in enumerate(self.bars):
            yield x, _percent(bar.left, bar), _percent(bar.complaints, bar)


def build_chart(newest_first: Sequence[Result]) -> ResultChart | None:
    """None if there is nothing to draw."""
    bars = [_bar(result) for result in reversed(newest_first)]
    weekly = len(bars) > _MOST_BARS
    if weekly:
        bars = list(_by_week(bars))
    if not any(bar.sent for bar in bars):
        return None
    share = max(_percent(bar.left + bar.complaints, bar) for bar in bars)
    top_share = next((top for top in _TOPS if share <= top), _TOPS[-1])
    return ResultChart(tuple(bars), weekly, round_up(max(bar.sent for bar in bars)), top_share)


def _bar(result: Result) -> Bar:
    campaign, tally = result.campaign, result.tally
    at = campaign.published_at or campaign.created_at
    return Bar(at.date(), campaign.counts.sent, tally.left if tally else 0, tally.complaints if tally else 0)


def _by_week(bars: Sequence[Bar]) -> Iterator[Bar]:
    """Also the weeks in which nothing was sent."""
    found = {monday: list(group) for monday, group in groupby(bars, lambda bar: _monday(bar.day))}
    monday, last = min(found), max(found)
    while monday <= last:
        week = found.get(monday, [])
        yield Bar(
            monday,
            sum(bar.sent for bar in week),
            sum(bar.left for bar in week),
            sum(bar.complaints for bar in week),
        )
        monday += timedelta(days=7)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _percent(part: int, bar: Bar) -> float:
    return min(100.0, 100 * part / bar.sent) if bar.sent else 0.0


def _line(x: int, start: float, value: float, top: float) -> str:
    """Upwards from `start`; what is more than nothing can be seen."""
    if not value:
        return ""
    bottom = HEIGHT - HEIGHT * min(start / top, 1)
    height = max(1, HEIGHT * value / top)
    return f"M{x} {bottom:g}V{max(0, bottom - height):.1f}"

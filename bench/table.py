"""One row per measurement, in one table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`ok` is None where there is no target and the figure is only reported."""

    what: str
    target: str
    measured: str
    ok: bool | None = None

    @property
    def verdict(self) -> str:
        return {True: "met", False: "MISSED", None: ""}[self.ok]


def at_most(what: str, measured: float, limit: float, unit: str = "", detail: str = "") -> Row:
    """A figure that must not be larger than `limit`."""
    shown = f"{measured:.3g}{unit}" + (f" ({detail})" if detail else "")
    return Row(what, f"≤ {limit:g}{unit}", shown, measured <= limit)


def growth(what: str, measured: Mapping[int, float], limit: float = 1.0) -> Row:
    """A figure at several sizes of the stored data: the largest, divided by that at the smallest size."""
    ratio = max(measured.values()) / measured[min(measured)]
    figures = ", ".join(f"{measured[size]:.3g}" for size in sorted(measured))
    return at_most(
        f"{what}, at {', '.join(f'{size:,}' for size in sorted(measured))}: growth", ratio, limit, detail=figures
    )


def printed(rows: Sequence[Row]) -> str:
    """For a terminal."""
    cells = [("what", "target", "measured", ""), *((row.what, row.target, row.measured, row.verdict) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def markdown(rows: Sequence[Row]) -> str:
    lines = ["| what | target | measured | |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.target} | {row.measured} | {row.verdict} |" for row in rows]
    return "\n".join(lines)

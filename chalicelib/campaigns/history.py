"""The versions of a campaign's content, and what a save does to them. Knows no table and no campaign.

The content itself is the newest version. A save begins another one, and what was there before is kept as an older
one; but saves that one editor's browser makes by itself within ten minutes are one version.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import asdict, replace

MOST = 50
KEPT = timedelta(days=30)
TOGETHER = timedelta(minutes=10)
# The places of older versions, which are used in turn, so that there are never more of them.
SLOTS = MOST - 1


class Saver(Struct, frozen=True):
    """Who saves; `autosave`: their browser did it by itself."""

    by: str = ""
    autosave: bool = False


NOBODY = Saver()


class Saved(Struct, frozen=True, array_like=True):
    """When a version was saved, and by whom. `number` is what its last save made the campaign's version; `ordinal`
    counts the versions, however many saves each had."""

    number: int
    ordinal: int
    began_at: datetime
    saved_at: datetime
    by: str = ""
    autosave: bool = False

    @property
    def slot(self) -> int:
        return self.ordinal % SLOTS


class Summary(Struct, frozen=True, array_like=True):
    """What a list shows of a version; `size` in bytes."""

    subject: str
    words: int
    size: int


class Past(Saved, frozen=True, array_like=True, kw_only=True):
    """An older version. `last` is the campaign's last version that had its content: some changes are not of the
    content."""

    last: int
    expires_at: datetime
    summary: Summary


class History(Struct, frozen=True):
    """The older versions are in order, newest first. `current` is None if nothing was saved since there are versions.
    `withdrawn` counts those that were dropped because of something in them."""

    current: Saved | None = None
    past: tuple[Past, ...] = ()
    withdrawn: int = 0

    def begin(self, begun: Saved, replaced: Past) -> "History":
        """Another version, in the place of one that is kept."""
        kept = [one for one in self.past if one.expires_at > begun.began_at]
        return replace(self, current=begun, past=(replaced, *kept)[:SLOTS])

    def keep_only(self, ordinals: Collection[int], gone: int) -> "History":
        """Nor those whose rows are gone already: they have expired, or whoever deleted them died. So many are dropped
        because of something in them."""
        kept = tuple(one for one in self.past if one.ordinal in ordinals)
        return replace(self, past=kept, withdrawn=self.withdrawn + gone)

    def readable(self, now: datetime) -> tuple[Past, ...]:
        """Rows are deleted some time after they expire, but not shown any more."""
        return tuple(one for one in self.past if one.expires_at > now)


def continues(current: Saved, saver: Saver, now: datetime) -> bool:
    """Whether this save is one more of the same version."""
    same = saver.autosave and current.autosave and saver.by == current.by
    return same and now - current.began_at <= TOGETHER


def keep(saved: Saved, now: datetime, last: int, summary: Summary) -> Past:
    """The version as an older one, because another begins now."""
    return Past(**asdict(saved), last=last, expires_at=now + KEPT, summary=summary)

"""When posts go out: at once, after a hold, or with the next digest. No I/O.

Times of digests are wall-clock times of the publication's zone, read as schedules of campaigns are: an hour that the
clock skips is the hour after it, and of one that comes twice the first counts.
"""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from msgspec import Struct

from chalicelib.kernel import publication, zones

WEEKLY = "weekly"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_USUAL = time(9)
# Longer than from a change to the sweep that learns of it.
_LATELY = timedelta(minutes=10)
# A digest a week, and some more days: a zone may skip one.
_FURTHEST = 10


class Policy(Struct, frozen=True):
    """`hold` is in minutes. What has no meaning beside the rest is empty, so that changing it changes no plan."""

    digest: str = publication.OFF
    at: str = ""
    zone: str = ""
    hold: int = 0

    @property
    def collects(self) -> bool:
        return self.digest != publication.OFF

    def next_digest(self, after: datetime) -> datetime | None:
        return next_moment(self.digest, self.at, self.zone, after) if self.collects else None

    def due(self, found_at: datetime, now: datetime) -> datetime | None:
        """When a post that was found then leaves by itself; None: with the digest. Never in the past: a shorter hold
        is no reason to call a post late."""
        return None if self.collects else max(found_at + timedelta(minutes=self.hold), now)


def current() -> Policy:
    site = publication.current()
    return policy_for(site.feed, site.time_zone)


def since(now: datetime) -> datetime:
    """From when today's policy is planned: if editors changed something a moment ago, from then. A digest whose time
    came before anything noticed the change would be put off, perhaps for a week."""
    changed_at = publication.current().changed_at
    return changed_at if changed_at and now - _LATELY < changed_at < now else now


def policy_for(feed: publication.Feed, zone: str) -> Policy:
    """A digest has no hold, and neither has a draft: nothing of it leaves by itself."""
    if feed.digest != publication.OFF:
        return Policy(feed.digest, feed.digest_at, zone)
    return Policy(hold=feed.hold if feed.mode == "auto" else 0)


def next_moment(digest: str, at: str, zone: str, after: datetime) -> datetime:
    """The first moment of a digest that is later than `after`, in UTC. A weekly one is on Mondays if `at` names no
    day; a daily one is every day, whatever it names."""
    weekday, clock_time = parse(at)
    place = zones.find(zone)
    today = after.astimezone(place).date()
    for ahead in range(-1, _FURTHEST):
        day = today + timedelta(days=ahead)
        if digest == WEEKLY and day.weekday() != weekday:
            continue
        moment = _moment(day, clock_time, place)
        if moment > after:
            return moment
    raise AssertionError("a week without its days")


def parse(at: str) -> tuple[int, time]:
    """The weekday, Monday being 0, and the time; of an empty text, Monday at nine."""
    day, _, clock_time = at.strip().lower().rpartition(" ")
    weekday = _DAYS.index(day) if day in _DAYS else 0
    return weekday, time.fromisoformat(clock_time) if clock_time else _USUAL


def _moment(day: date, clock_time: time, place: tzinfo) -> datetime:
    return datetime.combine(day, clock_time, place).astimezone(UTC)

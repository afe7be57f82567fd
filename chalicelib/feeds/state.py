"""What is known about a watched feed between two checks, and how each outcome changes it. No I/O."""

from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from chalicelib.feeds.model import Verdict
from chalicelib.feeds.reading.reader import Reading, Unreadable, Validators

# The id of the one watched feed, whose URL is in FEED_URL.
WATCHED = "feed"
FAILING = 3


class Trigger(StrEnum):
    SCHEDULE = "schedule"
    WEBHOOK = "webhook"
    WEBSUB = "websub"
    ADMIN = "admin"
    DUE = "due"


class Result(StrEnum):
    FIRST = "first"
    UNCHANGED = "unchanged"
    NOTHING_NEW = "nothing_new"
    SENT = "sent"
    DRAFTED = "drafted"
    WAITING = "waiting"
    CANCELLED = "cancelled"
    FAILED = "failed"
    # These are not recorded in the history:
    BUSY = "busy"
    RESTING = "resting"
    STOPPED = "stopped"
    OFF = "off"


class Notice(Struct, frozen=True):
    subject: str
    text: str


class Check(Struct, frozen=True):
    """One check as the admin sees it. `summary` is the result in a sentence."""

    at: datetime
    trigger: Trigger
    result: Result
    summary: str
    entries: int = 0
    new: int = 0
    campaign_id: str = ""
    took_ms: int = 0


class State(Struct, frozen=True):
    """`version` grows with every write: a transaction based on an older state fails.

    `notice` is owed to the admin from the moment it is committed until it is mailed."""

    feed_id: str
    url: str
    version: int = 0
    watermark: datetime | None = None
    validators: Validators = field(default_factory=Validators)
    permanent_url: str = ""
    waiting_until: datetime | None = None
    failures: int = 0
    not_before: datetime | None = None
    stopped: bool = False
    checked_at: datetime | None = None
    result: Result | None = None
    summary: str = ""
    title: str = ""
    entries: int = 0
    hub: str = ""
    topic: str = ""
    campaign_id: str = ""
    notice: Notice | None = None

    @property
    def is_failing(self) -> bool:
        return self.stopped or self.failures >= FAILING

    @property
    def current_url(self) -> str:
        return self.permanent_url or self.url

    def usable_validators(self, now: datetime) -> Validators | None:
        """None if the feed must be read even if it is unchanged, because a future-dated entry in it is due now."""
        due = self.waiting_until is not None and self.waiting_until <= now
        return None if self.watermark is None or due else self.validators

    def reason_to_skip(self, trigger: Trigger, now: datetime) -> tuple[Result, str] | None:
        """Why the feed is not checked now, if so. A feed that is gone is requested again only by the admin."""
        if self.stopped and trigger is not Trigger.ADMIN:
            return Result.STOPPED, self.summary
        if self.not_before and now < self.not_before:
            return Result.RESTING, "The feed's server asked us to wait"
        return None

    def owing(self, notice: Notice | None) -> "State":
        """With one more notice: several that come at once are one mail."""
        if not notice or not self.notice:
            return replace(self, notice=notice or self.notice)
        return replace(
            self, notice=Notice(self.notice.subject, f"{self.notice.text}\n\n{notice.subject}\n\n{notice.text}")
        )

    def changed(self) -> "State":
        return replace(self, version=self.version + 1)

    def next_check(self, every: timedelta) -> datetime | None:
        if self.stopped or not self.checked_at:
            return None
        return max(self.checked_at + every, self.not_before or self.checked_at)


def state_for(feed_id: str, url: str, stored: State | None) -> State:
    """The state for this URL. A changed URL means another feed, whose first check sends nothing."""
    if stored and stored.url == url:
        return stored
    return State(feed_id, url, version=stored.version if stored else 0)


def after_reading(state: State, reading: Reading, now: datetime) -> State:
    """After an answer that could be read, whether or not the feed has changed."""
    moved = reading.permanent_url if reading.permanent_url != state.url else ""
    after = replace(
        state,
        version=state.version + 1,
        validators=reading.validators,
        permanent_url=moved,
        failures=0,
        not_before=None,
        stopped=False,
        checked_at=now,
    )
    if not reading.feed:
        return after
    feed = reading.feed
    return replace(after, title=feed.title, entries=len(feed.entries), hub=feed.hub, topic=feed.topic)


def after_verdict(state: State, verdict: Verdict) -> State:
    return replace(state, watermark=verdict.memory.watermark, waiting_until=verdict.waiting_until)


def after_failure(state: State, failure: Unreadable, now: datetime) -> State:
    """A remembered redirect that fails is forgotten: the next check follows the redirects again. A feed that is gone
    stays stopped until it can be read."""
    gone = failure.kind == "gone" and not state.permanent_url
    return replace(
        state,
        version=state.version + 1,
        permanent_url="",
        failures=state.failures + 1,
        not_before=now + timedelta(seconds=failure.retry_after) if failure.retry_after else None,
        stopped=gone or state.stopped,
        checked_at=now,
    )

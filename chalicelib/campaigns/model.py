"""Campaigns and deliveries, and the rules about their states. Knows no table and no HTTP.

`permit` says what may be done to a campaign in which state, `step` what a delivery may become, and `derive_state`
what the campaign's state is then.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from chalicelib.bounces.model import Tally
from chalicelib.campaigns.history import History
from chalicelib.campaigns.targeting import LONGEST_WORD as LONGEST_WORD
from chalicelib.campaigns.targeting import MOST_WORDS as MOST_WORDS
from chalicelib.campaigns.targeting import Resolved as Resolved
from chalicelib.campaigns.targeting import Segment as Segment
from chalicelib.campaigns.targeting import Targeting as Targeting
from chalicelib.campaigns.targeting import Terms as Terms
from chalicelib.campaigns.wave import Wave as Wave
from chalicelib.campaigns.wave import WaveState as WaveState
from chalicelib.kernel.errors import Conflict

OVERDUE = timedelta(hours=6)
EMAIL = "email"
NOT_ALLOWED = "Operation not allowed in current state"
STOPPED = "Stopped by an editor"
# How the notice of a campaign begins that was not sent at its time.
HELD_BACK = "Held back: "
HELD = f"{HELD_BACK}its scheduled time was missed by more than six hours. Review it, then send or schedule it again."


class State(StrEnum):
    DRAFT = "draft"
    SCHEDULED = "scheduled"
    PUBLISHING = "publishing"
    PUBLISHED = "published"


class DeliveryState(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"


class Action(StrEnum):
    UPDATE = "update"
    DELETE = "delete"
    SEND = "send"
    SCHEDULE = "schedule"
    CANCEL = "cancel"


class Format(StrEnum):
    HTML = "html"
    MARKDOWN = "markdown"


class Origin(StrEnum):
    MANUAL = "manual"
    FEED = "feed"


_PERMITTED = {
    Action.UPDATE: {State.DRAFT, State.SCHEDULED},
    Action.DELETE: {State.DRAFT},
    Action.SEND: {State.DRAFT, State.SCHEDULED},
    Action.SCHEDULE: {State.DRAFT, State.SCHEDULED},
    Action.CANCEL: {State.SCHEDULED},
}

_STEPS = {
    (DeliveryState.PENDING, DeliveryState.SENDING),
    (DeliveryState.SENDING, DeliveryState.SENT),
    (DeliveryState.SENDING, DeliveryState.FAILED),
    (DeliveryState.FAILED, DeliveryState.SENDING),
}


class Counts(Struct, frozen=True):
    """sent + failed + unknown = recipients once a delivery has finished."""

    recipients: int = 0
    sent: int = 0
    failed: int = 0
    unknown: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.recipients + other.recipients,
            self.sent + other.sent,
            self.failed + other.failed,
            self.unknown + other.unknown,
        )


class Delivery(Struct, frozen=True):
    """One campaign going out through one channel. `attempt` counts retries; `note` is for editors to read. With
    `waves`, people who were imported and never written to get it in waves; `wave` is the current one, which is known
    of a delivery that is being sent. `tally` is what became of its emails, if it was looked up: `results`."""

    id: str
    campaign_id: str
    created_at: datetime
    state: DeliveryState = DeliveryState.PENDING
    channel_type: str = EMAIL
    content: str | None = None
    counts: Counts = field(default_factory=Counts)
    error_detail: str | None = None
    note: str | None = None
    attempt: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    waves: bool = True
    wave: Wave | None = None
    tally: Tally = field(default_factory=Tally)


class Correction(Struct, frozen=True):
    """What the web version of a sent campaign says now, except for its body. `note` tells readers what was wrong."""

    subject: str
    preheader: str
    note: str
    corrected_at: datetime


class Campaign(Struct, frozen=True):
    """A campaign without its content, which lists do not need. `version` grows with every change.

    `hidden` keeps it out of the public archive. A `correction` changes what the archive shows, never what is sent.
    Without a `design` it has the publication's. It has `delivery_ids` since it began to be sent; none if that was in
    a version that did not count what became of campaigns."""

    id: str
    subject: str
    created_at: datetime
    updated_at: datetime
    state: State = State.DRAFT
    preheader: str = ""
    format: Format = Format.HTML
    targeting: Targeting = field(default_factory=Targeting)
    origin: Origin = Origin.MANUAL
    scheduled_at: datetime | None = None
    time_zone: str = "UTC"
    published_at: datetime | None = None
    notice: str | None = None
    hidden: bool = False
    design: str | None = None
    correction: Correction | None = None
    delivery_state: DeliveryState = DeliveryState.PENDING
    delivery_ids: tuple[str, ...] = ()
    counts: Counts = field(default_factory=Counts)
    version: int = 1


class Content(Struct, frozen=True):
    """What the author wrote: a body in the campaign's format and, optionally, a plain text of their own. `pictures`
    are the names of the public copies in it that know of this use. Those that are `crowded` count it without naming
    the campaign, which matters only while it is being saved."""

    body: str
    text: str | None = None
    pictures: frozenset[str] = frozenset()
    crowded: frozenset[str] = frozenset()


class CampaignDetail(Struct, frozen=True):
    campaign: Campaign
    content: Content
    deliveries: tuple[Delivery, ...]
    history: History = field(default_factory=History)

    def delivery(self, delivery_id: str) -> Delivery | None:
        return next((delivery for delivery in self.deliveries if delivery.id == delivery_id), None)


def permit(action: Action, state: State) -> None:
    if state not in _PERMITTED[action]:
        raise Conflict(NOT_ALLOWED)


def permit_retry(delivery: Delivery) -> None:
    if delivery.state is not DeliveryState.FAILED:
        raise Conflict(NOT_ALLOWED)


def permit_correction(campaign: Campaign) -> None:
    """Only what has a web version: sent, or being sent, to everybody."""
    if campaign.state not in (State.PUBLISHING, State.PUBLISHED) or not campaign.targeting.everybody:
        raise Conflict(NOT_ALLOWED)


def permit_stop(delivery: Delivery) -> None:
    """Stopping it a second time changes nothing and is no error: it is what the second editor wants as well."""
    if delivery.state is not DeliveryState.SENDING and not is_stopped(delivery):
        raise Conflict(NOT_ALLOWED)


def is_stopped(delivery: Delivery) -> bool:
    return delivery.state is DeliveryState.FAILED and delivery.error_detail == STOPPED


def permitted_actions(state: State) -> list[str]:
    """What may be done to a campaign in this state: the buttons a page shows."""
    return [action.value for action, states in _PERMITTED.items() if state in states]


def step(delivery: Delivery, to: DeliveryState, now: datetime) -> Delivery:
    """The delivery in its next state, with the times that go with it."""
    if (delivery.state, to) not in _STEPS:
        raise Conflict(NOT_ALLOWED)
    if to is DeliveryState.SENDING:
        again = delivery.state is DeliveryState.FAILED
        # What ended early has counted only the recipients it came to.
        counts = replace(delivery.counts, recipients=0) if delivery.error_detail else delivery.counts
        return replace(
            delivery,
            state=to,
            counts=counts,
            started_at=delivery.started_at or now,
            finished_at=None,
            error_detail=None,
            note=None,
            attempt=delivery.attempt + again,
        )
    return replace(delivery, state=to, finished_at=now, note=None)


def derive_state(deliveries: Iterable[Delivery], scheduled_at: datetime | None) -> State:
    """A campaign's state follows from its deliveries and from whether a time is set."""
    states = {delivery.state for delivery in deliveries}
    if DeliveryState.SENDING in states:
        return State.PUBLISHING
    if states and states <= {DeliveryState.SENT, DeliveryState.FAILED}:
        return State.PUBLISHED
    return State.SCHEDULED if scheduled_at else State.DRAFT


def with_deliveries(campaign: Campaign, deliveries: Sequence[Delivery], now: datetime) -> Campaign:
    """The campaign with what follows from its deliveries: state, counts, and when it was first published."""
    state = derive_state(deliveries, campaign.scheduled_at)
    published_at = campaign.published_at or (now if state is State.PUBLISHED else None)
    return replace(
        campaign,
        state=state,
        published_at=published_at,
        delivery_state=_gravest(deliveries),
        counts=sum((delivery.counts for delivery in deliveries), Counts()),
        updated_at=now,
        version=campaign.version + 1,
    )


def final_state(counts: Counts, error_detail: str | None) -> DeliveryState:
    """A delivery failed if it was stopped, if somebody may have been missed, or if nobody was reached at all.

    Single addresses that were refused do not make it fail: they would be refused again."""
    reached_nobody = counts.recipients > 0 and counts.sent == 0
    if error_detail or counts.unknown or reached_nobody:
        return DeliveryState.FAILED
    return DeliveryState.SENT


def is_overdue(scheduled_at: datetime, now: datetime) -> bool:
    """So late that sending unasked would surprise: a restored backup, or a long outage."""
    return now - scheduled_at > OVERDUE


def _gravest(deliveries: Sequence[Delivery]) -> DeliveryState:
    order = (DeliveryState.SENDING, DeliveryState.FAILED, DeliveryState.PENDING, DeliveryState.SENT)
    states = {delivery.state for delivery in deliveries}
    return next((state for state in order if state in states), DeliveryState.PENDING)

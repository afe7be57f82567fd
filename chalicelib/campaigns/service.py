"""What can be done with campaigns, one function per verb. Whether it may be done is decided in `model`."""

from dataclasses import field
from datetime import datetime
from typing import Any

from chalicelib.campaigns import changes, deliveries, fields, model, store
from chalicelib.campaigns.model import Aim, Campaign, Content, Deed, Delivery, Format, Origin, State, Whole
from chalicelib.kernel import clock, ids, log, tables
from chalicelib.kernel.errors import Conflict, NotFound, Unavailable
from chalicelib.kernel.value import value


@value
class Draft:
    """What an author composes."""

    subject: str
    body: str
    text: str | None = None
    preheader: str = ""
    format: Format = Format.HTML
    aim: Aim = field(default_factory=Aim)


@value
class Page:
    items: list[Campaign]
    total: int


def create(draft: Draft, origin: Origin = Origin.MANUAL) -> Whole:
    made = _made(draft, origin, clock.now())
    tables.transact(*store.creating(made))
    return made


def prepare(draft: Draft, send: bool, origin: Origin = Origin.FEED) -> tuple[Whole, list[tables.Write]]:
    """A campaign as writes, for the caller's own transaction. Once that is through, `deliveries.wake(whole)`."""
    now = clock.now()
    made = _made(draft, origin, now)
    if send:
        made = changes.sending(made, now)
    return made, store.creating(made)


def imagine(draft: Draft) -> Whole:
    """The campaign this would be; nothing is kept."""
    return _made(draft, Origin.MANUAL, clock.now())


def view(campaign_id: str) -> Whole:
    return changes.known(campaign_id)


def page(state: State | None, number: int, size: int) -> Page:
    return Page(store.page(state, (number - 1) * size, size), store.total(state))


def update(campaign_id: str, edits: dict[str, Any], content: dict[str, Any], version: int | None = None) -> Whole:
    """`edits` are fields of `Campaign`, `content` fields of `Content`, all of them checked.

    Setting `scheduled_at` on a draft schedules it, and taking it away makes it a draft again."""

    def edit(whole: Whole) -> changes.Changed:
        if version is not None and version != whole.campaign.version:
            raise Conflict("The campaign has changed: reload it and try again")
        return changes.edited(whole, edits, content)

    return changes.apply(campaign_id, Deed.UPDATE, edit)


def delete(campaign_id: str) -> None:
    changes.apply(campaign_id, Deed.DELETE, lambda whole: (whole, store.deleting(whole)))


def send_now(campaign_id: str, due: datetime | None = None) -> Whole:
    """`due`: only if its time has come by then. The list it was found in may be a moment old, and somebody may have
    cancelled it since, or put it off."""

    def begin(whole: Whole) -> changes.Changed:
        at = whole.campaign.scheduled_at
        if due and (not at or at > due):
            raise Conflict(model.NOT_ALLOWED)
        return changes.begun(whole)

    sent = changes.apply(campaign_id, Deed.SEND, begin)
    deliveries.wake(sent)
    return sent


def schedule(campaign_id: str, at: Any, time_zone: str | None = None) -> Whole:
    """For the first time or to another time. `at` may carry any offset; it is kept in UTC."""

    def set_time(whole: Whole) -> changes.Changed:
        when = fields.moment(at, time_zone, clock.now())
        zone = time_zone or whole.campaign.time_zone
        return changes.edited(whole, {"scheduled_at": when, "time_zone": zone, "notice": None}, {})

    return changes.apply(campaign_id, Deed.SCHEDULE, set_time)


def cancel(campaign_id: str) -> Whole:
    return changes.apply(
        campaign_id,
        Deed.CANCEL,
        lambda whole: changes.edited(whole, {"scheduled_at": None, "notice": None}, {}),
    )


def duplicate(campaign_id: str) -> Whole:
    """A new draft with the same words and the same aim."""
    whole = view(campaign_id)
    old, content = whole.campaign, whole.content
    return create(Draft(old.subject, content.body, content.text, old.preheader, old.format, old.aim))


def due(now: datetime) -> list[Campaign]:
    """Scheduled campaigns whose time has come, the earliest first."""
    timed = [(one.scheduled_at, one.id, one) for one in store.in_state(State.SCHEDULED) if one.scheduled_at]
    return [one for at, _, one in sorted(timed, key=lambda entry: entry[:2]) if at <= now]


def start_due(now: datetime) -> list[Whole]:
    """Start what is due; what is long overdue becomes a draft with a notice instead of going out unasked."""
    started = []
    for campaign in due(now):
        try:
            if model.is_overdue(campaign.scheduled_at or now, now):
                _hold(campaign, now)
            else:
                started.append(send_now(campaign.id, now))
        except (Conflict, NotFound):
            log.info("campaign.not_due_any_more", campaign_id=campaign.id)
        except Unavailable as failure:
            # The next sweep tries again; the others need not wait for it.
            log.exception("campaign.not_started", failure, campaign_id=campaign.id)
    return started


def _hold(campaign: Campaign, now: datetime) -> None:
    from chalicelib.mail import notices

    def hold(whole: Whole) -> changes.Changed:
        at = whole.campaign.scheduled_at
        if not at or not model.is_overdue(at, now):
            raise Conflict(model.NOT_ALLOWED)
        return changes.edited(whole, {"scheduled_at": None, "notice": model.HELD}, {})

    changes.apply(campaign.id, Deed.CANCEL, hold)
    log.warning("campaign.held", campaign_id=campaign.id)
    notices.notify_admin("A campaign was held back", f"“{campaign.subject}”\n\n{model.HELD}")


def _made(draft: Draft, origin: Origin, now: datetime) -> Whole:
    id = ids.new()
    campaign = Campaign(
        id=id,
        subject=draft.subject,
        created_at=now,
        updated_at=now,
        preheader=draft.preheader,
        format=draft.format,
        aim=draft.aim,
        origin=origin,
    )
    return Whole(campaign, Content(draft.body, draft.text), (Delivery(ids.new(), id, now),))

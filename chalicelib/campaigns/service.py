"""What can be done with campaigns, one function per verb. Whether it may be done is decided in `model`."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.campaigns import changes, fields, model, pictures, removal, snapshots, store, uses
from chalicelib.campaigns.bodies import Draft as Draft
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.history import NOBODY
from chalicelib.campaigns.history import Saver as Saver
from chalicelib.campaigns.model import Action, Campaign, CampaignDetail, Content, Delivery, Origin, State
from chalicelib.campaigns.sending import deliveries
from chalicelib.kernel import clock, ids, log
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, Unavailable

# Fields of the campaign, and of its content.
Edits = tuple[dict[str, Any], dict[str, Any]]


class Page(Struct, frozen=True):
    items: list[Campaign]
    total: int


def create(
    draft: Draft, notice: str | None = None, needed: frozenset[str] = frozenset(), by: str = ""
) -> CampaignDetail:
    """`notice` is what the editor has to know about it. `needed` are names of pictures in it: without one of them
    nothing is made. `by` is the editor."""
    detail = _new_detail(draft, Origin.MANUAL, clock.now(), notice, by)

    def decide() -> CampaignDetail:
        made, writes = _draft_writes(detail, needed)
        changes.commit(writes)
        return made

    return retry_stale(decide)


def draft_writes(draft: Draft, by: str = "") -> tuple[CampaignDetail, list[tables.Write]]:
    """A new draft as writes, for the caller's transaction. Raises `Invalid` if it cannot be rendered."""
    return _draft_writes(_new_detail(draft, Origin.MANUAL, clock.now(), by=by))


def create_writes(draft: Draft, send: bool) -> tuple[CampaignDetail, list[tables.Write]]:
    """A campaign from the feed as writes, for the caller's transaction; `deliveries.wake` once it is committed."""
    now = clock.now()
    detail = _new_detail(draft, Origin.FEED, now)
    detail = replace(detail, content=pictures.recognize(detail.content))
    if send:
        detail = changes.start_deliveries(detail, now)
    return detail, [*_create_writes(detail), *changes.note_sent_writes(detail)]


def preview_detail(draft: Draft) -> CampaignDetail:
    """The campaign this draft would become; nothing is saved."""
    return _new_detail(draft, Origin.MANUAL, clock.now())


def view(campaign_id: str) -> CampaignDetail:
    return changes.get_detail(campaign_id)


def find_last_sent() -> CampaignDetail | None:
    """The newest that was sent, whomever it was for."""
    found = store.list_page(State.PUBLISHED, 0, 1)
    return store.find_detail(found[0].id) if found else None


def find_many(campaign_ids: Iterable[str]) -> dict[str, Campaign]:
    """By id; those that exist."""
    return store.find_many(campaign_ids)


def list_page(state: State | None, number: int, size: int) -> Page:
    return Page(store.list_page(state, (number - 1) * size, size), store.count(state))


def update(
    campaign_id: str,
    edits: dict[str, Any],
    content: dict[str, Any],
    version: int | None = None,
    saver: Saver = NOBODY,
) -> CampaignDetail:
    """`edits` are fields of `Campaign`, `content` fields of `Content`, all of them checked. What is the same already
    is not written.

    Setting `scheduled_at` on a draft schedules it; setting it to None makes it a draft again. `hidden` alone, which
    takes it out of the public archive or puts it back, may be changed in every state."""
    if set(edits) == {"hidden"} and not content:
        return _hide(campaign_id, edits, version)
    return save(campaign_id, lambda _: (edits, content), saver, version)


def rewrite(
    campaign_id: str,
    decide: Callable[[CampaignDetail], str],
    needed: frozenset[str] = frozenset(),
    saver: Saver = NOBODY,
) -> CampaignDetail:
    """`decide` says what the body is from now on, and is asked again if somebody has saved the campaign meanwhile.
    If that is what it was, nothing is written; and nothing is saved without the pictures that are `needed`."""

    def write(detail: CampaignDetail) -> Edits:
        body = fields.body(decide(detail))
        return {}, {} if body == detail.content.body else {"body": body}

    return save(campaign_id, write, saver, needed=needed)


def save(
    campaign_id: str,
    decide: Callable[[CampaignDetail], Edits],
    saver: Saver = NOBODY,
    version: int | None = None,
    needed: frozenset[str] = frozenset(),
) -> CampaignDetail:
    """What an editor writes: fields of the campaign and of its content. With a `version`, only if it is the current
    one. An autosave does not read the deliveries, and answers without them."""

    def change(detail: CampaignDetail) -> changes.Changed:
        _check_version(detail, version)
        edits, content = decide(detail)
        changed = changes.edit_writes(detail, edits, content, needed, saver)
        return (detail, []) if changes.is_same(detail, changed[0]) else _checked(changed)

    find = changes.get_written if saver.autosave else changes.get_detail
    return changes.apply(campaign_id, Action.UPDATE, change, find)


def hide(campaign_id: str, hidden: bool) -> CampaignDetail:
    """Take it out of the public archive, or put it back; in any state."""
    return _hide(campaign_id, {"hidden": hidden})


def delete(campaign_id: str) -> None:
    def remove(detail: CampaignDetail) -> changes.Changed:
        return detail, [*store.delete_writes(detail), *changes.use_writes(detail, None)]

    deleted = changes.apply(campaign_id, Action.DELETE, remove)
    snapshots.delete_all(campaign_id, snapshots.current(deleted).ordinal)


def send_now(
    campaign_id: str, due: datetime | None = None, version: int | None = None, waves: bool | None = None
) -> CampaignDetail:
    """`due`: only if its time has come by then. The list it was found in may be a moment old, and somebody may have
    cancelled it since, or put it off. `version`: only if nobody has edited it since this version was reviewed.
    `waves`: whether people who were imported get it in waves; None as it was scheduled."""

    def begin(detail: CampaignDetail) -> changes.Changed:
        at = detail.campaign.scheduled_at
        if due and (not at or at > due):
            raise Conflict(model.NOT_ALLOWED)
        if version is not None and version != detail.campaign.version:
            raise Conflict("The campaign has changed since you reviewed it")
        _check_placeholders(detail)
        return changes.begin_writes(detail, waves)

    sent = changes.apply(campaign_id, Action.SEND, begin)
    deliveries.wake(sent)
    return sent


def schedule(campaign_id: str, at: Any, time_zone: str | None = None, waves: bool = True) -> CampaignDetail:
    """Set or move the time. `at` may have any offset; it is stored in UTC. `waves` is remembered with the
    deliveries."""

    def set_time(detail: CampaignDetail) -> changes.Changed:
        when = fields.moment(at, time_zone, clock.now())
        zone = time_zone or detail.campaign.time_zone
        edits = {"scheduled_at": when, "time_zone": zone, "notice": None}
        return _checked(changes.choose_waves(detail, waves, changes.edit_writes(detail, edits, {})))

    return changes.apply(campaign_id, Action.SCHEDULE, set_time)


def cancel(campaign_id: str) -> CampaignDetail:
    return changes.apply(
        campaign_id,
        Action.CANCEL,
        lambda detail: changes.edit_writes(detail, {"scheduled_at": None, "notice": None}, {}),
    )


def duplicate(campaign_id: str, by: str = "") -> CampaignDetail:
    """A new draft with the same content and the same targeting, but for what was withdrawn since."""
    draft = snapshots.draft_of(view(campaign_id))
    try:
        return create(draft, by=by)
    except uses.Withdrawn as refusal:
        left = replace(draft, body=removal.without(draft.body, refusal.entries))
        return create(left, removal.WITHDRAWN, by=by)


def list_due(now: datetime) -> list[Campaign]:
    """Scheduled campaigns whose time has come, the earliest first."""
    scheduled = store.list_in_state(State.SCHEDULED)
    due = [(at, campaign) for campaign in scheduled if (at := campaign.scheduled_at) and at <= now]
    return [campaign for at, campaign in sorted(due, key=lambda entry: (entry[0], entry[1].id))]


def start_due(now: datetime) -> list[CampaignDetail]:
    """Start what is due. What is long overdue, or has placeholders nobody fills in, becomes a draft with a notice
    instead: it would go out unexpectedly, or wrong."""
    started = []
    for campaign in list_due(now):
        try:
            if model.is_overdue(campaign.scheduled_at or now, now):
                _hold(campaign, model.HELD, lambda at: model.is_overdue(at, now))
            else:
                started.append(_start_or_hold(campaign, now))
        except (Conflict, NotFound):
            log.info("campaign.not_due_any_more", campaign_id=campaign.id)
        except Unavailable as failure:
            # The next sweep tries again; the others need not wait for it.
            log.exception("campaign.not_started", failure, campaign_id=campaign.id)
    return started


def _start_or_hold(campaign: Campaign, now: datetime) -> CampaignDetail:
    try:
        return send_now(campaign.id, now)
    except Invalid as failure:
        # From a version that let it be scheduled.
        _hold(campaign, f"{model.HELD_BACK}{failure.reason}.", lambda at: at <= now)
        raise Conflict(model.NOT_ALLOWED) from failure


def _hold(campaign: Campaign, notice: str, applies: Callable[[datetime], bool]) -> None:
    from chalicelib.mail import notices

    def hold(detail: CampaignDetail) -> changes.Changed:
        at = detail.campaign.scheduled_at
        if not at or not applies(at):
            raise Conflict(model.NOT_ALLOWED)
        return changes.edit_writes(detail, {"scheduled_at": None, "notice": notice}, {})

    changes.apply(campaign.id, Action.CANCEL, hold)
    log.warning("campaign.held", campaign_id=campaign.id)
    notices.notify_admin("A campaign was held back", f"“{campaign.subject}”\n\n{notice}")


def _hide(campaign_id: str, edits: dict[str, Any], version: int | None = None) -> CampaignDetail:
    """In every state, and also what cannot be rendered: it may be what should never have been sent."""

    def change(detail: CampaignDetail) -> changes.Changed:
        _check_version(detail, version)
        changed = changes.edit_writes(detail, edits, {})
        return (detail, []) if changes.is_same(detail, changed[0]) else changed

    return changes.apply(campaign_id, None, change)


def _check_version(detail: CampaignDetail, version: int | None) -> None:
    if version is not None and version != detail.campaign.version:
        raise Conflict("The campaign has changed: reload it and try again")


def _checked(changed: changes.Changed) -> changes.Changed:
    """What is scheduled goes out without another look."""
    detail = changed[0]
    _check_placeholders(detail) if detail.campaign.scheduled_at else renderer.check(detail)
    return changed


def _check_placeholders(detail: CampaignDetail) -> None:
    if unknown := renderer.find_unknown(detail):
        raise Invalid(unknown[0].refusal)


def _draft_writes(
    detail: CampaignDetail, needed: frozenset[str] = frozenset()
) -> tuple[CampaignDetail, list[tables.Write]]:
    made = replace(detail, content=pictures.recognize(detail.content, needed=needed))
    writes = _create_writes(made)
    renderer.check(made)
    return made, writes


def _create_writes(detail: CampaignDetail) -> list[tables.Write]:
    return [*store.create_writes(detail), *changes.use_writes(None, detail)]


def _new_detail(
    draft: Draft, origin: Origin, now: datetime, notice: str | None = None, by: str = ""
) -> CampaignDetail:
    id = ids.new()
    given, content = draft.split()
    campaign = Campaign(id=id, created_at=now, updated_at=now, origin=origin, notice=notice, **given)
    detail = CampaignDetail(campaign, Content(**content), (Delivery(ids.new(), id, now),))
    return snapshots.first(detail, by)

"""Looking after deliveries that are being sent: cut them into parts, keep every part going, finish with the counts.

Every function here may run twice, at the same time, or years late: `tend` does whatever the delivery needs, from
whatever state it finds.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience import recipients
from chalicelib.bounces import service as bounces
from chalicelib.campaigns.model import Counts, Delivery, DeliveryState, Wave
from chalicelib.campaigns.sending import (
    batch,
    deliveries,
    mailer,
    part_store,
    parts,
    wave_steps,
    worker,
)
from chalicelib.campaigns.sending.parts import Kind, Part, Plan, Progress
from chalicelib.campaigns.sending.worker import FORGOTTEN, Halt, Held, Job, PartRun, Pause
from chalicelib.kernel import clock, ids, log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import GnaError, NotFound, Unavailable

QUEUE = "sending"
OWED_FOR = timedelta(days=30)
_LONGEST_DELAY = 900
_COUNT_UP_TO = 16_000


class Order(Struct, frozen=True):
    """A message on the queue: one part of one delivery, to be worked on."""

    campaign_id: str
    delivery_id: str
    part: str


def tend(delivery: Delivery) -> None:
    """Do what this delivery needs now: cut it, open its parts again, order workers for them, or finish it."""
    if delivery.state is not DeliveryState.SENDING:
        return
    plan = _find_or_make_plan(delivery)
    if plan is None:
        deliveries.finish(delivery, delivery.counts, FORGOTTEN)
        return
    found = part_store.list_parts(delivery.id)
    now = worker.now_ms()
    free = [] if plan.stopped else [part for part in found if part.is_free(now) and not plan.holds(part)]
    if any(part.wave for part in free) and wave_steps.stop_if_over(delivery, plan):
        return
    _order(delivery, free)
    if not free:
        _finish(delivery, plan, found)


def drive(order: Order, time_left: Callable[[], float]) -> None:
    """Work on a part until it is done, has to wait, or the time of this function is over."""
    delivery = _find_sending(order)
    if not delivery:
        return
    now = worker.now_ms()
    part = part_store.take(order.delivery_id, order.part, ids.new()[-8:], now, now + worker.LEASE_MS)
    if not part:
        return
    try:
        _work(order, delivery, part, time_left)
    except part_store.Lost:
        log.warning("sending.lease_lost", delivery_id=delivery.id, part=part.name)


def stop(delivery: Delivery, reason: str) -> None:
    """Send nothing more of this attempt but the batches at hand; the last worker finishes it, or nobody is at work
    and it ends here. What a delivery needs to continue later (a plan, its parts) is made first if it is not there."""
    plan = _find_or_make_plan(delivery)
    if plan is None:
        deliveries.finish(delivery, delivery.counts, FORGOTTEN)
    elif part_store.stop(delivery.id, delivery.attempt, reason):
        for part in part_store.list_parts(delivery.id):
            if part.progress is Progress.OPEN:
                part_store.recall(part)
        _finish_if_last(delivery)


def _order(delivery: Delivery, free: Sequence[Part]) -> None:
    for part in free:
        _enqueue(Order(delivery.campaign_id, delivery.id, part.name))


def _work(order: Order, delivery: Delivery, part: Part, time_left: Callable[[], float]) -> None:
    try:
        job = _job(delivery, time_left)
    except Unavailable:
        raise
    except Exception as failure:
        # The next worker could not render it either.
        log.exception("sending.not_rendered", failure, delivery_id=delivery.id)
        _stop(delivery, part, failure.reason if isinstance(failure, GnaError) else batch.DEFECT)
        return
    _run(order, delivery, PartRun(job, part))


def _run(order: Order, delivery: Delivery, part_run: PartRun) -> None:
    try:
        part_run.run()
    except Pause as pause:
        _pause(order, delivery, part_run.part, pause)
    except Unavailable as failure:
        log.exception("sending.interrupted", failure, delivery_id=delivery.id, part=part_run.part.name)
        _pause(order, delivery, part_run.part, Pause(parts.rest_seconds(part_run.part.strikes)))
    except Halt as halt:
        _stop(delivery, part_run.part, halt.reason)
    except Held:
        _hold(order, delivery, part_run.part)
    else:
        _finish_if_last(delivery)


def warm_up() -> None:
    """Create clients before threads run: botocore's session is not thread-safe while it creates them."""
    part_store.find_plan("none")
    try:
        mailer.account_watch().account()
    except Unavailable as failure:
        log.exception("sending.account_unknown", failure)  # each part asks again, and rests if necessary


def view_parts(delivery: Delivery) -> tuple[Counts, Wave | None]:
    """How far a delivery has come; one query, and one more if it has waves."""
    plan, found = part_store.view(delivery.id)
    return parts.total(found), wave_steps.view(delivery, plan, found)


def count_deferred(delivery_id: str) -> int | None:
    """How many emails are owed because SES failed for now; None if the delivery has no parts any more."""
    found = part_store.list_parts(delivery_id)
    return sum(len(part.claim) for part in found if part.kind is Kind.FAILED) if found else None


def _find_or_make_plan(delivery: Delivery) -> Plan | None:
    """The delivery's plan, made now if there is none; None if it had one that has expired."""
    plan = part_store.find_plan(delivery.id)
    if plan is None:
        if delivery.attempt:
            return None
        plan = Plan(delivery.id)
        part_store.begin(plan, parts.cut(delivery.id, recipients.count_up_to(_COUNT_UP_TO)))
    if plan.attempt < delivery.attempt:
        if plan.expires_at and plan.expires_at < clock.epoch(clock.now()):
            return None
        _open_owed_parts(delivery, plan)
        return replace(plan, attempt=delivery.attempt, stopped=None)
    return plan


def _open_owed_parts(delivery: Delivery, plan: Plan) -> None:
    found = part_store.list_parts(delivery.id)
    for part in found:
        if part.progress is Progress.OWED and part.attempt < delivery.attempt:
            _save_unless_lost(parts.reopen(part, delivery.attempt))
        elif part.expires_at:
            _save_unless_lost(replace(part, expires_at=None))
    wave_steps.take_out(plan, found)
    part_store.open_attempt(plan, delivery.attempt)


def _save_unless_lost(part: Part) -> None:
    try:
        part_store.save(part)
    except part_store.Lost:
        log.info("sending.twin", delivery_id=part.delivery_id, part=part.name)


def _finish(delivery: Delivery, plan: Plan, found: Sequence[Part]) -> None:
    """Add up the counts and finish, unless a worker is still busy or somebody waits for a wave."""
    now = worker.now_ms()
    if any(_is_busy(part, plan, now) for part in found):
        return
    opened = None if plan.stopped else wave_steps.advance(delivery, plan, found)
    if opened is not None:
        _order(delivery, opened)
        return
    try:
        found = _give_up_claims(found)
        part_store.expire(delivery.id, found, until := clock.epoch(clock.now() + OWED_FOR))
    except part_store.Lost:
        return  # another supervisor is doing this, or a worker came back: the last one finishes it
    counts = parts.total(found)
    unfinished = any(part.progress is Progress.OPEN for part in found) or wave_steps.remain(plan, found)
    stopped = plan.stopped if unfinished else None
    wave_steps.put_away(plan, found, until if unfinished else None)
    detail = deliveries.finish(delivery, counts, stopped or parts.describe_owed(found))
    after = detail.delivery(delivery.id)
    if after and after.state is DeliveryState.SENT and after.attempt == delivery.attempt:
        part_store.forget(part_store.list_parts(delivery.id))


def _is_busy(part: Part, plan: Plan, now: int) -> bool:
    if part.progress is not Progress.OPEN:
        return False
    return not plan.stopped or (bool(part.holder) and part.until >= now)


def _give_up_claims(found: Sequence[Part]) -> list[Part]:
    """In a stopped delivery, claims whose worker is gone become unknown before the counts are added up."""
    closed = []
    for part in found:
        if part.out:
            owed = parts.owe(part, Kind.UNKNOWN, part.claim)
            part = part_store.save_owing(replace(part, claim=(), out=False), [owed])
            closed.append(owed)
        closed.append(part)
    return closed


def _find_sending(order: Order) -> Delivery | None:
    try:
        delivery = deliveries.get(order.campaign_id, order.delivery_id)
    except NotFound:
        return None
    return delivery if delivery.state is DeliveryState.SENDING else None


def _job(delivery: Delivery, time_left: Callable[[], float]) -> Job:
    prepared = mailer.load_mailer(delivery.campaign_id, delivery.id, delivery.attempt)
    return Job(
        delivery=delivery,
        targeting=prepared.targeting,
        post=prepared.post,
        refused=lambda person, reason: bounces.record_refusal(person, delivery.id, reason),
        left_today=lambda: mailer.account_watch().account().left_today,
        pace=mailer.shared_pace(),
        time_left=time_left,
        is_over_limit=lambda plan: wave_steps.stop_if_over(delivery, plan),
    )


def _pause(order: Order, delivery: Delivery, part: Part, pause: Pause) -> None:
    until = worker.now_ms() + pause.seconds * 1000
    part_store.save(parts.rest(part, until if pause.seconds else 0))
    if _is_stopped(delivery):
        _finish_if_last(delivery)
        return
    if pause.note != delivery.note:
        deliveries.annotate(delivery, pause.note)
    if pause.seconds < _LONGEST_DELAY:
        _enqueue(order, pause.seconds + 1 if pause.seconds else 0)


def _hold(order: Order, delivery: Delivery, part: Part) -> None:
    part_store.save(parts.rest(part, 0))
    plan = part_store.find_plan(delivery.id)
    if plan and plan.stopped:
        _finish_if_last(delivery)
    elif plan and not plan.holds(part):
        _enqueue(order)  # an editor went on before we let it go


def _stop(delivery: Delivery, part: Part, reason: str) -> None:
    if reason:
        part_store.stop(delivery.id, delivery.attempt, reason)
    part_store.save(parts.rest(part, 0))
    _finish_if_last(delivery)


def _finish_if_last(delivery: Delivery) -> None:
    """A part is done: finish if it was the last. Parts that wait for a worker have their message already."""
    plan = part_store.find_plan(delivery.id)
    if plan and plan.attempt == delivery.attempt:
        _finish(delivery, plan, part_store.list_parts(delivery.id))


def _is_stopped(delivery: Delivery) -> bool:
    plan = part_store.find_plan(delivery.id)
    return plan is not None and plan.stopped is not None


def _enqueue(order: Order, delay_seconds: int = 0) -> None:
    message = {"campaign_id": order.campaign_id, "delivery_id": order.delivery_id, "part": order.part}
    try:
        queues.send(QUEUE, message, delay_seconds)
    except Unavailable:
        log.warning("sending.order_lost", delivery_id=order.delivery_id, part=order.part)  # the sweep repeats it

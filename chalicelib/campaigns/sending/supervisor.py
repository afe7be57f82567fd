"""Looking after deliveries that are being sent: cut into parts, keep every part going, end with the sums.

Every function here may run twice, at the same time, or years late: `tend` brings a delivery to what should be, from
whatever it finds.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience import recipients
from chalicelib.bounces import service as bounces
from chalicelib.campaigns.model import Counts, Delivery, DeliveryState
from chalicelib.campaigns.sending import batch, deliveries, part_store, parts, worker
from chalicelib.campaigns.sending import mailer as postings
from chalicelib.campaigns.sending.parts import Kind, Part, Plan, Progress
from chalicelib.campaigns.sending.worker import Halt, Job, PartRun, Pause
from chalicelib.kernel import clock, ids, log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import GnaError, NotFound, Unavailable

QUEUE = "sending"
OWED_FOR = timedelta(days=30)
_LONGEST_DELAY = 900
_COUNT_UP_TO = 16_000
_FORGOTTEN = "This delivery can no longer be retried: it ended more than thirty days ago"


class Order(Struct, frozen=True):
    """A message on the queue: one part of one delivery, to be worked on."""

    campaign_id: str
    delivery_id: str
    part: str


def tend(delivery: Delivery) -> None:
    """Whatever this delivery needs now: to be cut, to be opened again, workers for its parts, or its end."""
    if delivery.state is not DeliveryState.SENDING:
        return
    plan = _planned(delivery)
    if plan is None:
        deliveries.finish(delivery, delivery.counts, _FORGOTTEN)
        return
    found = part_store.list_parts(delivery.id)
    now = worker.now_ms()
    free = [] if plan.stopped else [part for part in found if part.is_free(now)]
    for part in free:
        _enqueue(Order(delivery.campaign_id, delivery.id, part.name))
    if not free:
        _end(delivery, plan, found)


def drive(order: Order, time_left: Callable[[], float]) -> None:
    """Work on a part until it is done, has to wait, or our time is over."""
    delivery = _find(order)
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


def _work(order: Order, delivery: Delivery, part: Part, time_left: Callable[[], float]) -> None:
    try:
        job = _job(delivery, time_left)
    except Unavailable:
        raise
    except Exception as failure:
        # The next worker would make no better letter of it.
        log.exception("sending.no_letter", failure, delivery_id=delivery.id)
        _stop(delivery, part, failure.reason if isinstance(failure, GnaError) else batch.DEFECT)
        return
    _run(order, delivery, PartRun(job, part))


def _run(order: Order, delivery: Delivery, run: PartRun) -> None:
    try:
        run.go()
    except Pause as pause:
        _rest(order, delivery, run.part, pause)
    except Unavailable as failure:
        log.exception("sending.interrupted", failure, delivery_id=delivery.id, part=run.part.name)
        _rest(order, delivery, run.part, Pause(parts.rest_seconds(run.part.strikes)))
    except Halt as halt:
        _stop(delivery, run.part, halt.reason)
    else:
        _after(delivery)


def warm_up() -> None:
    """Before threads run: botocore's session is not safe while it makes clients."""
    part_store.find_plan("none")
    try:
        postings.account_watch().account()
    except Unavailable as failure:
        log.exception("sending.account_unknown", failure)  # each part will ask again, and rest if need be


def count_parts(delivery_id: str) -> Counts:
    """How far a delivery has come; one query, and nothing of anybody."""
    return parts.total(part_store.list_parts(delivery_id))


def _planned(delivery: Delivery) -> Plan | None:
    """The delivery's plan, made now if there is none; None if there was one, long ago."""
    plan = part_store.find_plan(delivery.id)
    if plan is None:
        if delivery.attempt:
            return None
        plan = Plan(delivery.id)
        part_store.begin(plan, parts.cut(delivery.id, recipients.count_up_to(_COUNT_UP_TO)))
    if plan.attempt < delivery.attempt:
        if plan.expires_at and plan.expires_at < clock.epoch(clock.now()):
            return None
        _open_again(delivery, plan)
        return replace(plan, attempt=delivery.attempt, stopped=None)
    return plan


def _open_again(delivery: Delivery, plan: Plan) -> None:
    for part in part_store.list_parts(delivery.id):
        if part.progress is Progress.OWED and part.attempt < delivery.attempt:
            _unless_lost(parts.reopen(part, delivery.attempt))
        elif part.expires_at:
            _unless_lost(replace(part, expires_at=None))
    part_store.open_attempt(plan, delivery.attempt)


def _unless_lost(part: Part) -> None:
    try:
        part_store.save(part)
    except part_store.Lost:
        log.info("sending.twin", delivery_id=part.delivery_id, part=part.name)


def _end(delivery: Delivery, plan: Plan, found: Sequence[Part]) -> None:
    """Add up and finish, unless somebody is still at it."""
    now = worker.now_ms()
    if any(_is_busy(part, plan, now) for part in found):
        return
    try:
        found = _closed(found)
        part_store.expire(delivery.id, found, clock.epoch(clock.now() + OWED_FOR))
    except part_store.Lost:
        return  # a twin is at it, or a worker came back: whoever is last ends it
    counts = parts.total(found)
    detail = deliveries.finish(delivery, counts, plan.stopped or _owed_detail(found))
    after = detail.delivery(delivery.id)
    if after and after.state is DeliveryState.SENT and after.attempt == delivery.attempt:
        part_store.forget(part_store.list_parts(delivery.id))


def _is_busy(part: Part, plan: Plan, now: int) -> bool:
    if part.progress is not Progress.OPEN:
        return False
    return not plan.stopped or (bool(part.holder) and part.until >= now)


def _closed(found: Sequence[Part]) -> list[Part]:
    """Of a stopped delivery, claims whose worker vanished have to be given up before anything is added up."""
    closed = []
    for part in found:
        if part.out:
            owed = parts.owe(part, Kind.UNKNOWN, part.claim)
            part = part_store.save_owing(replace(part, claim=(), out=False), [owed])
            closed.append(owed)
        closed.append(part)
    return closed


def _owed_detail(found: Sequence[Part]) -> str | None:
    owed = [part for part in found if part.progress is Progress.OWED]
    unknown = sum(len(part.claim) for part in owed if part.kind is Kind.UNKNOWN)
    failed = sum(len(part.claim) for part in owed if part.kind is Kind.FAILED)
    said = []
    if unknown:
        said.append(f"{unknown} emails may or may not have been sent: a response was lost or a worker stopped")
    if failed:
        said.append(f"{failed} emails could not be sent, but SES may accept them later")
    return "; ".join(said) + ". Retry sends exactly these." if said else None


def _find(order: Order) -> Delivery | None:
    try:
        delivery = deliveries.get(order.campaign_id, order.delivery_id)
    except NotFound:
        return None
    return delivery if delivery.state is DeliveryState.SENDING else None


def _job(delivery: Delivery, time_left: Callable[[], float]) -> Job:
    posting = postings.load_mailer(delivery.campaign_id, delivery.id, delivery.attempt)
    return Job(
        delivery=delivery,
        targeting=posting.targeting,
        post=posting.post,
        refused=lambda person, reason: bounces.record_refusal(person, delivery.id, reason),
        left_today=lambda: postings.account_watch().account().left_today,
        pace=postings.shared_pace(),
        time_left=time_left,
    )


def _rest(order: Order, delivery: Delivery, part: Part, pause: Pause) -> None:
    until = worker.now_ms() + pause.seconds * 1000
    part_store.save(parts.rest(part, until if pause.seconds else 0))
    if pause.note != delivery.note:
        deliveries.annotate(delivery, pause.note)
    if pause.seconds < _LONGEST_DELAY:
        _enqueue(order, pause.seconds + 1 if pause.seconds else 0)


def _stop(delivery: Delivery, part: Part, reason: str) -> None:
    if reason:
        part_store.stop(delivery.id, reason)
    part_store.save(parts.rest(part, 0))
    _after(delivery)


def _after(delivery: Delivery) -> None:
    """A part is done: perhaps it was the last. Parts that wait for a worker have their message already."""
    plan = part_store.find_plan(delivery.id)
    if plan and plan.attempt == delivery.attempt:
        _end(delivery, plan, part_store.list_parts(delivery.id))


def _enqueue(order: Order, delay_seconds: int = 0) -> None:
    message = {"campaign_id": order.campaign_id, "delivery_id": order.delivery_id, "part": order.part}
    try:
        queues.send(QUEUE, message, delay_seconds)
    except Unavailable:
        log.warning("sending.order_lost", delivery_id=order.delivery_id, part=order.part)  # the sweeper repeats it

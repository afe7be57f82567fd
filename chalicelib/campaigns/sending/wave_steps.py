"""What happens with the waves of a delivery: they are cut, opened, waited after, stopped and continued.

Every step is one conditional write on the plan, so that of two who take the same step one succeeds, and a step that
died on the way is taken again by the sweep.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from chalicelib.bounces import tallies
from chalicelib.campaigns import store
from chalicelib.campaigns.model import Delivery, Wave, WaveState
from chalicelib.campaigns.sending import part_store, wave_store, waves
from chalicelib.campaigns.sending.parts import Kind, Part, Plan, Progress
from chalicelib.campaigns.sending.waves import Events, Waves
from chalicelib.kernel import clock, log, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.plurals import count_of
from chalicelib.mail import notices, validation

_SWEPT_EVERY_MS = 300_000


def advance(delivery: Delivery, plan: Plan, found: Sequence[Part]) -> list[Part] | None:
    """No part is open: take the next step. Returns the parts that are open now, None if everybody has been written
    to."""
    if not plan.waves:
        return _cut(delivery, plan) if any(part.aside for part in found) else None
    match plan.waves.state:
        case _ if plan.waves.is_last:
            return None
        case WaveState.SENDING:
            _wait(delivery, plan, plan.waves)
        case WaveState.WAITING if not stop_if_over(delivery, plan):
            left = plan.waves.next_at - _now_ms()
            if left <= 0:
                return _open(plan, waves.following(plan.waves))
            _hurry(delivery, left)
    return []


def remain(plan: Plan, found: Sequence[Part]) -> bool:
    """Whether there are people whose wave has not begun."""
    if plan.waves:
        return not plan.waves.is_last
    return any(part.aside for part in found)


def put_away(plan: Plan, found: Sequence[Part], until: int | None) -> None:
    """The delivery has ended: keep who waits until then, for a retry; None if nobody does."""
    if plan.waves or remain(plan, found):
        wave_store.expire(plan.delivery_id, until) if until else wave_store.forget_all(plan.delivery_id)


def take_out(plan: Plan, found: Sequence[Part]) -> None:
    """The delivery goes on: who waits is needed until it ends again."""
    if plan.waves or remain(plan, found):
        wave_store.expire(plan.delivery_id, None)


def stop_if_over(delivery: Delivery, plan: Plan) -> bool:
    """Whether too much of a wave bounced or was complained about: then nothing more is sent until an editor says so,
    and the operator is told."""
    if not plan.waves or plan.waves.state is WaveState.STOPPED:
        return plan.waves is not None
    events = _events(delivery.id)
    if not waves.may_be_over(plan.waves, events):
        return False
    found = part_store.list_parts(delivery.id)
    number = waves.find_over_limit(plan.waves, events, count_sent(found))
    if number is None:
        return False
    if wave_store.change(plan, waves.stopped(plan.waves)):
        log.warning("wave.stopped", delivery_id=delivery.id, wave=number)
        log.metric("WaveStopped")
        for part in found:
            if part.wave and part.progress is Progress.OPEN:
                part_store.recall(part)
        _tell(delivery, number, events[number], count_sent(found)[number])
    return True


def go_on(delivery: Delivery, plan: Plan, found: Sequence[Part]) -> bool:
    """An editor has seen the numbers: resume what was stopped in the middle, or open the next wave. False if somebody
    else changed something at the same time."""
    assert plan.waves
    excused = waves.excuse(plan.waves, _events(delivery.id))
    in_the_middle = any(part.wave == excused.number and part.progress is Progress.OPEN for part in found)
    if in_the_middle or excused.is_last:
        return wave_store.change(plan, waves.resumed(excused))
    after = waves.following(excused)
    return wave_store.change(plan, after, _parts(plan, after))


def view(delivery: Delivery, plan: Plan | None, found: Sequence[Part]) -> Wave | None:
    """The current wave with its numbers. What is over the limits counts as stopped, also before the sweep has seen
    that."""
    if not plan or not plan.waves:
        return None
    current, events, sent = plan.waves, _events(delivery.id), count_sent(found)
    state = current.state
    if state is WaveState.WAITING and waves.find_over_limit(current, events, sent) is not None:
        state = WaveState.STOPPED
    of_wave = events.get(current.number, Events())
    return Wave(
        number=current.number,
        waves=len(current.sizes),
        size=current.size,
        sent=sent[current.number],
        bounced=of_wave.bounced,
        complained=of_wave.complained,
        state=state,
        next_at=_moment(current.next_at) if state is WaveState.WAITING else None,
    )


def count_sent(found: Sequence[Part]) -> Counter[int]:
    """How many emails of each wave were sent."""
    sent: Counter[int] = Counter()
    for part in found:
        if part.wave:
            sent[part.wave] += part.sent
    return sent


def _cut(delivery: Delivery, plan: Plan) -> list[Part]:
    """Everybody has been looked at, so nobody is set aside any more: twins write the same lists."""
    people = sorted(set(wave_store.read_aside(delivery.id)), reverse=True)
    groups = list(waves.split([person.id for person in people]))
    for number, group in enumerate(groups, 1):
        for part, ids in zip(_names(number, len(group)), waves.lists(group), strict=True):
            wave_store.write_list(delivery.id, part, ids)
    validation.switch_on()
    opened = _open(plan, Waves(tuple(len(group) for group in groups)))
    if opened:
        log.info("wave.cut", delivery_id=delivery.id, people=len(people), waves=len(groups))
        wave_store.forget_aside(delivery.id)
    return opened


def _open(plan: Plan, after: Waves) -> list[Part]:
    opened = _parts(plan, after)
    return opened if wave_store.change(plan, after, opened) else []


def _parts(plan: Plan, after: Waves) -> list[Part]:
    return [
        Part(plan.delivery_id, name, attempt=plan.attempt, wave=after.number)
        for name in _names(after.number, after.size)
    ]


def _wait(delivery: Delivery, plan: Plan, current: Waves) -> None:
    left = settings.current().wave_wait * 60_000
    if wave_store.change(plan, waves.waiting(current, _now_ms() + left)):
        wave_store.forget_wave(delivery.id, _prefix(current.number))
        _hurry(delivery, left)


def _hurry(delivery: Delivery, left_ms: int) -> None:
    """The sweep starts the next wave; when it would come late, a message comes in time."""
    if left_ms <= _SWEPT_EVERY_MS:
        message = {"campaign_id": delivery.campaign_id, "delivery_id": delivery.id}
        try:
            queues.send("deliveries", message, 1 + left_ms // 1000)
        except Unavailable:
            log.warning("wave.message_lost", delivery_id=delivery.id)


def _tell(delivery: Delivery, number: int, events: Events, sent: int) -> None:
    campaign = store.find_campaign(delivery.campaign_id)
    numbers = f"{count_of(events.bounced, 'bounce')} and {count_of(events.complained, 'complaint')}"
    notices.notify_admin(
        "A campaign was stopped between waves",
        f"“{campaign.subject if campaign else ''}”\n\nWave {number} met with {numbers} in {count_of(sent, 'email')}. "
        f"Sending stops by itself at {waves.BOUNCED_PERCENT:g} % bounces or {waves.COMPLAINED_PERCENT:g} % "
        "complaints of a wave. Nobody else is written to until you decide.\n\n"
        f"Look at the numbers, and continue or stop: {settings.current().site_url}/admin/campaigns/"
        f"{delivery.campaign_id}",
    )


def _events(delivery_id: str) -> Mapping[int, Events]:
    return {number: Events(*counts) for number, counts in tallies.count_by_wave(delivery_id).items()}


def _names(number: int, size: int) -> list[str]:
    return [f"{_prefix(number)}{index}" for index in range(waves.count_lists(size))]


def _prefix(number: int) -> str:
    return f"{Kind.WAVE}{number}/"


def _now_ms() -> int:
    return clock.milliseconds(clock.now())


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)

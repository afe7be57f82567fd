"""A scripted SES, and what queue and sweep do until nothing is left to do."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns import service
from chalicelib.campaigns.model import Delivery, DeliveryState, Targeting
from chalicelib.campaigns.sending import deliveries, part_store, supervisor, wave_steps
from chalicelib.campaigns.sending.pacing import Pace
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.campaigns.sending.worker import Job
from chalicelib.campaigns.service import Draft
from chalicelib.mail.failures import Failure
from tests.conftest import received


class Ses:
    """Counts mails a person; `says` may raise, or answer for each person why not. `stops_after` ends our time."""

    def __init__(self) -> None:
        self.got: dict[str, int] = {}
        self.waves: dict[str, int] = {}
        self.says: Callable[[Sequence[Recipient]], Sequence[Failure | None]] = lambda people: [None] * len(people)
        self.targeting = Targeting()
        self.rate = 10_000.0
        self.left_today = 1e9
        self.refused: list[str] = []
        self.batches = 0
        self.stops_after = 10**9

    def post(self, people: Sequence[Recipient], wave: int = 0) -> Sequence[Failure | None]:
        self.batches += 1
        answers = self.says(people)
        for person, answer in zip(people, answers, strict=True):
            if answer is None:
                self.got[person.id] = self.got.get(person.id, 0) + 1
                self.waves[person.id] = wave
        return answers

    def job(self, delivery: Delivery, _: Any) -> Job:
        return Job(
            delivery=delivery,
            targeting=self.targeting.resolve("UTC"),
            post=self.post,
            refused=lambda person, reason: self.refused.append(person),
            left_today=lambda: self.left_today,
            pace=Pace(lambda: self.rate),
            time_left=lambda: 0 if self.batches >= self.stops_after else 60,
            is_over_limit=lambda plan: wave_steps.stop_if_over(delivery, plan),
        )


def started(ses: Ses) -> Delivery:
    detail = service.create(Draft("Hello", "<p>Hi</p>", targeting=ses.targeting))
    delivery = service.send_now(detail.campaign.id).deliveries[0]
    received("deliveries")
    return delivery


def now(delivery: Delivery) -> Delivery:
    return deliveries.get(delivery.campaign_id, delivery.id)


def work(delivery: Delivery, rounds: int = 50) -> Delivery:
    """What queue and sweep do until nothing is left to do; rests are slept through at once."""
    for _ in range(rounds):
        current = now(delivery)
        if current.state is not DeliveryState.SENDING:
            return current
        supervisor.tend(current)
        for message in received("sending"):
            supervisor.drive(Order(**message), lambda: 60)
        wake_all(delivery)
    return now(delivery)


def wake_all(delivery: Delivery) -> None:
    """As if the time had passed for which parts rest, or are leased by somebody who is gone."""
    for part in part_store.list_parts(delivery.id):
        if part.until:
            part_store.save(replace(part, until=0))


def sums(delivery: Delivery) -> tuple[int, int, int, int]:
    counts = delivery.counts
    assert counts.sent + counts.failed + counts.unknown == counts.recipients
    return counts.recipients, counts.sent, counts.failed, counts.unknown


class Killed(BaseException):
    pass


def crash(ses: Ses, delivery: Delivery, *, sent: bool) -> set[str]:
    """A worker dies with its second batch, before or after SES had it."""
    dead: set[str] = set()

    def says(people: Sequence[Recipient]) -> Sequence[None]:
        if ses.batches == 2:
            dead.update(person.id for person in people)
            if sent:
                ses.got |= dict.fromkeys(dead, 1)
            raise Killed
        return [None] * len(people)

    ses.says = says
    supervisor.tend(delivery)
    for message in received("sending"):
        with pytest.raises(Killed):
            supervisor.drive(Order(**message), lambda: 60)
    ses.says = lambda people: [None] * len(people)
    return dead

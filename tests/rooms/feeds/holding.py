"""Hands that hold the clock and do what runs by itself, and what has become of posts."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import State
from chalicelib.feeds import service
from chalicelib.feeds.state import Result, Trigger
from chalicelib.kernel import clock
from local.gateway import handlers
from local.gateway.handlers import QueueHandler, ScheduleHandler
from tests.conftest import received

START = datetime(2026, 11, 18, 12, tzinfo=UTC)


class Hands:
    """Holds the clock, and does what runs by itself: `pass_time` ends with the five-minute sweep and its message."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START
        monkeypatch.setattr(clock, "now", lambda: self.now)

    def check(self, trigger: Trigger = Trigger.SCHEDULE) -> Result:
        return service.check(trigger).result

    def sweep(self) -> int:
        """As `app.py` does it: the schedule, and the checks it asked for. How many these were."""
        _schedule("sweep_deliveries").handle()
        messages = [message for message in received("feed") if message == {"trigger": "due"}]
        for message in messages:
            failed = _queue("feed").handle([{"MessageId": "1", "ReceiptHandle": "1", "Body": json.dumps(message)}])
            assert not failed
        return len(messages)

    def pass_time(self, **time: float) -> int:
        self.now += timedelta(**time)
        return self.sweep()


def _schedule(name: str) -> ScheduleHandler:
    import app

    return next(schedule for schedule in handlers.schedules(app.app) if schedule.name == name)


def _queue(name: str) -> QueueHandler:
    import app

    return next(queue for queue in handlers.queues(app.app) if queue.queue == name)


def mailed() -> list[str]:
    return [campaign.subject for campaign in campaigns.list_page(None, 1, 50).items]


def in_state(state: State) -> list[str]:
    return [campaign.subject for campaign in campaigns.list_page(state, 1, 50).items]


def waiting_titles() -> list[str]:
    return [kept.entry.title for kept in service.view().waiting.entries]


def notices(ses: Any) -> list[str]:
    return [mail["subject"].removeprefix("[The Daily Test] ") for mail in ses.mails()]


def names() -> list[str]:
    return [kept.name for kept in service.view().waiting.entries]

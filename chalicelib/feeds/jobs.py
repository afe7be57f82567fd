"""What runs without anybody waiting: the check by the clock, and the checks that others asked for."""

from collections.abc import Mapping
from typing import Any

from chalicelib.feeds import service, websub
from chalicelib.feeds.state import Result, Trigger
from chalicelib.kernel import log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import GnaError

_MOST_SECONDS = 20  # between two tries; all of them together outlast the lease of a check that crashed
_MOST_TRIES = 8


def on_schedule() -> None:
    """The check, then the subscription with the hub it may have found. What fails is tried again at the next run."""
    for step in (_check, websub.renew_subscriptions):
        try:
            step()
        except GnaError as failure:
            log.exception("feed.run_failed", failure)


def handle(message: Mapping[str, Any]) -> None:
    """One message of the feed queue. A check under way may have read the feed too early to see what this one is
    about, so it is asked for again when that is done."""
    trigger, tries = Trigger(message["trigger"]), int(message.get("tries", 1))
    if service.check(trigger).result is Result.BUSY and tries < _MOST_TRIES:
        queues.send(
            "feed", {"trigger": trigger.value, "tries": tries + 1}, delay_seconds=min(2**tries, _MOST_SECONDS)
        )


def _check() -> None:
    service.check(Trigger.SCHEDULE)

"""Background work: the scheduled check, and the checks that a webhook or a hub asked for."""

from collections.abc import Mapping
from typing import Any

from chalicelib.feeds import service, websub
from chalicelib.feeds.state import Result, Trigger
from chalicelib.kernel import log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import GnaError

_LONGEST_DELAY = 20  # seconds; all tries together outlast the lock of a check that crashed
_MOST_TRIES = 8


def on_schedule() -> None:
    """Check the feed, then subscribe to the hub it may name. What fails is tried again at the next run."""
    for step in (_check, websub.renew_subscriptions):
        try:
            step()
        except GnaError as failure:
            log.exception("feed.run_failed", failure)


def handle(message: Mapping[str, Any]) -> None:
    """One message of the feed queue. A check that is already running may have read the feed before the change, so the
    message is sent again and handled after it."""
    trigger, tries = Trigger(message["trigger"]), int(message.get("tries", 1))
    if service.check(trigger).result is Result.BUSY and tries < _MOST_TRIES:
        again = {"trigger": trigger.value, "tries": tries + 1}
        queues.send("feed", again, delay_seconds=min(2**tries, _LONGEST_DELAY))


def sweep() -> None:
    """Every five minutes: have the feed checked if posts wait whose time has come. Not here, so that no slow server
    keeps deliveries from being tended."""
    if service.find_due():
        service.check_soon()


def _check() -> None:
    service.check(Trigger.SCHEDULE)

"""People whom an import asks to confirm are mailed in their turn: at most half of what an hour allows, so that nobody
who signs up on the site waits behind a list. From there on they are held and released like everybody else."""

from chalicelib.audience import held, mails
from chalicelib.audience.stores import asked, captures, subscribers
from chalicelib.audience.stores import held as held_store
from chalicelib.audience.stores.asked import AskedRow
from chalicelib.kernel import clock, limits, log, settings
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

_ASKED, _HOUR = "asked", 3600
_MOST_A_RUN = 100


def release() -> None:
    """Hand the next ones over, and come back in a minute if there are more. While visitors wait, nobody is asked."""
    rows = list(asked.list_oldest_first(_MOST_A_RUN))
    if not rows:
        return
    released = 0
    for row in rows:
        if held.is_used_up() or not limits.allows(_ASKED, "all", _share(), _HOUR):
            break
        _hand_over(row)
        released += 1
    log.info("asked.released", released=released)
    held.release_soon()


def _share() -> int:
    return max(1, settings.current().mails_per_hour // 2)


def _hand_over(row: AskedRow) -> None:
    """In one transaction, so that a crash neither loses nor repeats it. Whoever has left, or was mailed meanwhile
    because they signed up, need not be asked."""
    subscriber = subscribers.find(row.owner)
    requests = captures.list_requests(row.owner, clock.now())
    request = subscriber and mails.newest_request(subscriber, requests)
    if not request or not any(found.is_held for found in requests):
        asked.forget(row)
        return
    try:
        tables.transact(asked.end_write(row), held_store.hold_write(row.owner, request, None, clock.now()))
    except Stale:
        return  # another worker was faster

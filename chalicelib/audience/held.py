"""The circuit breaker: confirmations beyond the limits of the hour are held, and mailed in order as later hours allow
them.

Anybody can type any address into the form, so confirmations are limited in total and, within that, for each network:
two addresses cannot use up the hour for everybody else. What is held is never lost: it has no expiry until it is
mailed, and a release that runs twice, dies or meets another one changes nothing but the time.
"""

from chalicelib.audience import model
from chalicelib.audience.model import Request, Subscriber
from chalicelib.audience.stores import asked, captures, subscribers
from chalicelib.audience.stores import held as store
from chalicelib.audience.stores.held import HeldRow
from chalicelib.kernel import clock, limits, log, settings
from chalicelib.kernel.aws import queues, tables
from chalicelib.mail import notices

_TO_ALL, _TO_NETWORK = "confirmations", "confirmations to one network"
_HOUR, _MINUTE = 3600, 60
_SHARE = 10
_MOST_A_RUN = 500
MOST_COUNTED = 1000


def admit(subscriber: Subscriber, request: Request, network: str | None) -> bool:
    """Count a new confirmation against this hour's limits. False if it is held: the limits are used up, or older ones
    are still waiting for them."""
    if store.find_backlog().includes(network):
        hold(subscriber, request, network)
        return False
    refused_by = _spend(network)
    if refused_by:
        hold(subscriber, request, network)
        store.join_backlog(network if refused_by == _TO_NETWORK else None)
    if refused_by == _TO_ALL:
        _report_flood()
    return refused_by is None


def hold(subscriber: Subscriber, request: Request, network: str | None) -> None:
    """Nothing of a sign-up expires before its confirmation was mailed. Somebody who is held already keeps their
    place."""
    tables.transact(
        store.hold_write(subscriber.id, request, network, clock.now()),
        captures.extend_write(subscriber.id, request, model.NEVER),
        *subscribers.await_mail_writes(subscriber, model.NEVER),
    )
    log.metric("ConfirmationHeld")
    release_soon()


def is_used_up() -> bool:
    """Whether a confirmation that no visitor asked for would be held now."""
    return store.find_backlog().includes(None) or _Room().is_used_up


def admit_held(network: str | None) -> bool:
    """The same for one that was held before. If the limits are used up again, it stays held."""
    return _spend(network) is None


def give_back(network: str | None) -> None:
    """It was counted, but not sent."""
    limits.give_back(_TO_ALL, "all", _HOUR)
    if network:
        limits.give_back(_TO_NETWORK, network, _HOUR)


def drop(row: HeldRow, subscriber: Subscriber | None, requests: list[Request]) -> None:
    """There is nothing left to confirm, or nobody to write to: what was held for it expires now. A sign-up that has
    expired already is left to the clean-up: its address may be somebody else's by now."""
    now = clock.now()
    ends = [captures.extend_write(row.owner, request, now) for request in requests if request.is_held]
    waits = subscriber and not subscriber.activated and not subscriber.expired(now)
    pending = subscribers.extend_writes(subscriber, now) if subscriber and waits else []
    tables.transact(store.end_write(row), *ends, *pending)


def release() -> None:
    """Queue what this hour's limits allow, the oldest first, and come back in a minute if anything is left."""
    room = _Room()
    now = clock.now()
    waiting = queued = 0
    for row in store.list_oldest_first():
        waiting += 1
        if room.is_used_up or queued >= _MOST_A_RUN:
            break
        if not row.is_claimed(now) and room.take(row.network):
            queues.send("audience", {"kind": model.HELD, "subscriber_id": row.owner})
            queued += 1
    is_cut_short = room.is_used_up or queued >= _MOST_A_RUN
    store.replace_backlog(bool(waiting) and is_cut_short, room.used_up_networks)
    if waiting:
        log.info("held.released", queued=queued)
        release_soon()


def release_forgotten() -> None:
    """For the clean-up, in case a message was lost: what is held is released by the hour at the latest."""
    if next(store.list_oldest_first(most=1), None) or next(asked.list_oldest_first(1), None):
        queues.send("audience", {"kind": model.RELEASE})


def count() -> int:
    """How many are held; no more than a thousand are counted."""
    return sum(1 for _ in store.list_oldest_first(most=MOST_COUNTED))


def share() -> int:
    """How many confirmations an hour may go to people who sign up from one network."""
    return max(1, settings.current().mails_per_hour // _SHARE)


class _Room:
    """What is left of this hour's limits."""

    def __init__(self) -> None:
        self._all = settings.current().mails_per_hour - limits.count(_TO_ALL, "all", _HOUR)
        self._networks: dict[str, int] = {}

    @property
    def is_used_up(self) -> bool:
        return self._all <= 0

    @property
    def used_up_networks(self) -> list[str]:
        return [network for network, left in self._networks.items() if left <= 0]

    def take(self, network: str | None) -> bool:
        if network:
            if network not in self._networks:
                self._networks[network] = share() - limits.count(_TO_NETWORK, network, _HOUR)
            if self._networks[network] <= 0:
                return False
            self._networks[network] -= 1
        self._all -= 1
        return True


def _spend(network: str | None) -> str | None:
    """Which limit is used up, if one is."""
    if network and not limits.allows(_TO_NETWORK, network, share(), _HOUR):
        return _TO_NETWORK
    if limits.allows(_TO_ALL, "all", settings.current().mails_per_hour, _HOUR):
        return None
    if network:
        limits.give_back(_TO_NETWORK, network, _HOUR)
    return _TO_ALL


def release_soon() -> None:
    """One message a minute, however many are held."""
    if limits.allows("release", "all", 1, _MINUTE):
        queues.send("audience", {"kind": model.RELEASE}, delay_seconds=_MINUTE)


def _report_flood() -> None:
    log.metric("ConfirmationBreaker")
    if limits.allows("breaker notice", "all", 1, _HOUR):
        notices.notify_admin(
            "Confirmation emails are being held",
            "More people signed up within an hour than MAILS_PER_HOUR allows. The confirmation emails beyond that "
            "are held, and sent in the following hours, in order. The dashboard shows how many there are.\n\n"
            "If your site is simply popular today, raise MAILS_PER_HOUR. If someone is abusing the form, remove "
            "the pending subscribers they signed up: their emails are then not sent.",
        )

"""WebSub: being told by a hub that the feed has changed. A push only hurries the check and is itself never read.

A subscription's token and secret follow from hub, topic and SECRET_KEY, so that asking twice is asking once.
"""

from datetime import datetime, timedelta
from urllib.parse import urlencode

from chalicelib.feeds import signatures, state, store, websub_store
from chalicelib.feeds.websub_store import Standing, Subscription
from chalicelib.kernel import clock, log, pseudonyms, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import NotFound
from chalicelib.kernel.http import client

LEASE = timedelta(days=10)
_RENEW_BEFORE = timedelta(days=2)
_ASK_AGAIN = timedelta(hours=20)
_LONGEST_LEASE = timedelta(days=90)
_BOUNDS = client.Bounds(seconds=5.0, largest=100_000, redirects=0)


def renew_subscriptions() -> None:
    """Subscribe where the feed names a hub, renew in time, and leave hubs the feed no longer names."""
    now = clock.now()
    url = settings.current().feed_url
    current = state.state_for(url, store.find_state())
    wanted = _token(current.hub, current.topic) if url and _is_private(current.hub) and current.topic else ""
    found = {one.token: one for one in websub_store.list_subscriptions()}
    if wanted and _is_due(found.get(wanted), now):
        _ask(Subscription(wanted, current.hub, current.topic, Standing.ASKED, now, None), found.get(wanted))
    # Before the first check of a new feed nothing is known of its hub; the old one is left in any case.
    for one in found.values():
        if one.token != wanted and one.standing is not Standing.LEAVING:
            _leave(one, now)


def confirm(token: str, mode: str, topic: str, challenge: str, lease_seconds: str) -> str:
    """The hub asks whether we meant it. The challenge to answer with, or `NotFound` for what we did not ask for."""
    one = websub_store.get(token)
    if not one or one.topic != topic:
        raise NotFound("No such subscription")
    leaving = one.standing is Standing.LEAVING
    if mode == "denied" and not leaving:
        log.warning("websub.denied")
        websub_store.save(Subscription(token, one.hub, topic, Standing.ASKED, clock.now(), None))
        return ""
    if not challenge or (mode, leaving) not in (("subscribe", False), ("unsubscribe", True)):
        raise NotFound("No such subscription")
    if leaving:
        websub_store.remove(one)
    else:
        websub_store.activate(one, clock.now() + _lease(lease_seconds))
    log.info("websub.confirmed", mode=mode)
    return challenge


def receive(token: str, signature: str, body: bytes) -> None:
    """Something was pushed. Unsigned or badly signed it is ignored, and the sender is not told."""
    one = websub_store.get(token)
    if not one or one.standing is Standing.LEAVING:
        raise NotFound("No such subscription")
    if not signatures.is_pushed(_secret(token), signature, body):
        log.warning("websub.bad_signature")
        return
    queues.send("feed", {"trigger": state.Trigger.WEBSUB.value})


def _is_due(one: Subscription | None, now: datetime) -> bool:
    """A short lease is renewed at half its time; a hub that did not answer is asked again the next day."""
    if not one or one.standing is Standing.LEAVING:
        return True
    if one.leased_until and one.leased_until > one.asked_at:
        return one.leased_until - now <= min(_RENEW_BEFORE, (one.leased_until - one.asked_at) / 2)
    return now - one.asked_at >= _ASK_AGAIN


def _ask(one: Subscription, before: Subscription | None) -> None:
    """Written down first: the hub may ask back before its answer has reached us."""
    active = before if before and before.standing is Standing.ACTIVE else None
    websub_store.save(active.asked_again(one.asked_at) if active else one)
    _post(one, "subscribe")


def _leave(one: Subscription, now: datetime) -> None:
    websub_store.save(one.left(now))
    _post(one, "unsubscribe")


def _post(one: Subscription, mode: str) -> None:
    form = {
        "hub.mode": mode,
        "hub.topic": one.topic,
        "hub.callback": settings.current().url(f"/api/webhooks/websub/{one.token}"),
        "hub.secret": _secret(one.token),
        "hub.lease_seconds": str(int(LEASE.total_seconds())),
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    try:
        status = client.post(one.hub, urlencode(form).encode(), headers, _BOUNDS).status
    except client.FetchFailed as failure:
        log.warning("websub.unreachable", mode=mode, kind=failure.kind)
        return
    log.info("websub.asked", mode=mode, status=status)


def _is_private(hub: str) -> bool:
    """The secret is told to the hub, so nobody on the way may read it."""
    return hub.startswith("https://") or bool(hub and settings.current().local)


def _token(hub: str, topic: str) -> str:
    return pseudonyms.derive("websub token", f"{hub}\n{topic}")[:40]


def _secret(token: str) -> str:
    return pseudonyms.derive("websub secret", token)


def _lease(seconds: str) -> timedelta:
    """What the hub grants, within reason; a hub that names no time has granted what was asked."""
    if seconds.isascii() and seconds.isdigit():
        return min(timedelta(seconds=int(seconds[:9])), _LONGEST_LEASE)
    return LEASE

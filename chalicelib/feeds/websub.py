"""WebSub: a hub announces that the feed has changed. A push only triggers a check; its content is never read.

A subscription's token and secret are derived from hub, topic and SECRET_KEY, so subscribing twice changes nothing.
"""

from datetime import datetime, timedelta
from urllib.parse import urlencode

from msgspec.structs import replace

from chalicelib.feeds import signatures, state, store, websub_store
from chalicelib.feeds.bodies import HubQuestion
from chalicelib.feeds.state import WATCHED, Trigger
from chalicelib.feeds.websub_store import Standing, Subscription
from chalicelib.kernel import clock, log, pseudonyms, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import NotFound
from chalicelib.kernel.http import client

LEASE = timedelta(days=10)
_RENEW_BEFORE = timedelta(days=2)
_ASK_AGAIN = timedelta(hours=20)
_LONGEST_LEASE = timedelta(days=90)
_BOUNDS = client.Bounds(seconds=5.0, largest=100_000, redirects=3)


def renew_subscriptions() -> None:
    """Subscribe to the hub the feed names, renew in time, and unsubscribe from hubs it no longer names."""
    now = clock.now()
    url = settings.current().feed_url
    current = state.state_for(WATCHED, url, store.find_state(WATCHED))
    wanted = _token(current.hub, current.topic) if url and _is_private(current.hub) and current.topic else ""
    found = {subscription.token: subscription for subscription in websub_store.list_subscriptions(WATCHED)}
    if wanted and _is_due(found.get(wanted), now):
        asked = Subscription(WATCHED, wanted, current.hub, current.topic, Standing.ASKED, now, None)
        _subscribe(asked, found.get(wanted))
    # Before the first check of a new feed its hub is unknown; the old feed's hub is left in any case.
    for subscription in found.values():
        if subscription.token != wanted and not subscription.is_leaving:
            _unsubscribe(subscription, now)


def confirm(token: str, question: HubQuestion) -> str:
    """The hub asks whether the request was ours. Returns the challenge, or raises `NotFound` if it was not."""
    subscription = websub_store.find(WATCHED, token)
    if not subscription or subscription.topic != question.topic:
        raise NotFound("No such subscription")
    leaving = subscription.is_leaving
    if question.mode == "denied" and not leaving:
        log.warning("websub.denied")
        denied = replace(subscription, standing=Standing.ASKED, asked_at=clock.now(), leased_until=None)
        websub_store.save(denied)
        return ""
    if not question.challenge or (question.mode, leaving) not in (("subscribe", False), ("unsubscribe", True)):
        raise NotFound("No such subscription")
    if leaving:
        websub_store.remove(subscription)
    else:
        websub_store.activate(subscription, clock.now() + _lease(question.lease_seconds))
    log.info("websub.confirmed", mode=question.mode)
    return question.challenge


def receive(token: str, signature: str, body: bytes) -> None:
    """A push. Without a valid signature it is ignored, and the sender is not told."""
    subscription = websub_store.find(WATCHED, token)
    if not subscription or subscription.is_leaving:
        raise NotFound("No such subscription")
    if not signatures.is_valid_push(_secret(token), signature, body):
        log.warning("websub.bad_signature")
        return
    queues.send("feed", {"trigger": Trigger.WEBSUB.value})


def _is_due(subscription: Subscription | None, now: datetime) -> bool:
    """A short lease is renewed at half its time; a hub that did not answer is asked again the next day."""
    if not subscription or subscription.is_leaving:
        return True
    leased_until, asked_at = subscription.leased_until, subscription.asked_at
    if leased_until and leased_until > asked_at:
        return leased_until - now <= min(_RENEW_BEFORE, (leased_until - asked_at) / 2)
    return now - asked_at >= _ASK_AGAIN


def _subscribe(asked: Subscription, before: Subscription | None) -> None:
    """Stored first: the hub may call back before it has answered our request."""
    active = before if before and before.standing is Standing.ACTIVE else None
    websub_store.save(active.renewed(asked.asked_at) if active else asked)
    _request(asked, "subscribe")


def _unsubscribe(subscription: Subscription, now: datetime) -> None:
    websub_store.save(subscription.leaving(now))
    _request(subscription, "unsubscribe")


def _request(subscription: Subscription, mode: str) -> None:
    form = {
        "hub.mode": mode,
        "hub.topic": subscription.topic,
        "hub.callback": settings.current().url(f"/api/webhooks/websub/{subscription.token}"),
        "hub.secret": _secret(subscription.token),
        "hub.lease_seconds": str(int(LEASE.total_seconds())),
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    try:
        status = client.post(subscription.hub, urlencode(form).encode(), headers, _BOUNDS).status
    except client.FetchFailed as failure:
        log.warning("websub.unreachable", mode=mode, kind=failure.kind)
        return
    log.info("websub.asked", mode=mode, status=status)


def _is_private(hub: str) -> bool:
    """The hub is sent the secret, so the connection must be encrypted."""
    return hub.startswith("https://") or bool(hub and settings.current().local)


def _token(hub: str, topic: str) -> str:
    return pseudonyms.derive("websub token", f"{hub}\n{topic}")[:40]


def _secret(token: str) -> str:
    return pseudonyms.derive("websub secret", token)


def _lease(seconds: str) -> timedelta:
    """What the hub grants, up to a limit; a hub that names no time has granted what we asked for."""
    if seconds.isascii() and seconds.isdigit():
        return min(timedelta(seconds=int(seconds[:9])), _LONGEST_LEASE)
    return LEASE

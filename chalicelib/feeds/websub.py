"""WebSub: a hub announces that a feed has changed. A push only triggers a check, and may name entries that were
deleted; the rest of its content is never read.

A subject is the watched feed, or the id of a creator that is followed. Token and secret of a subscription are derived
from subject, hub, topic and SECRET_KEY, so subscribing twice changes nothing.
"""

import re
from datetime import datetime, timedelta
from urllib.parse import urlencode

from msgspec.structs import replace

from chalicelib.feeds import deletions, signatures, state, store, websub_store
from chalicelib.feeds.bodies import HubQuestion
from chalicelib.feeds.state import WATCHED, Trigger
from chalicelib.feeds.websub_store import Standing, Subscription
from chalicelib.kernel import clock, log, pseudonyms, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import NotFound
from chalicelib.kernel.http import client

LEASE = timedelta(days=10)
_RENEW_BEFORE = timedelta(days=2)
_ASK_AGAIN = timedelta(hours=20)
_LONGEST_LEASE = timedelta(days=90)
_BOUNDS = client.Bounds(seconds=5.0, largest=100_000, redirects=3)
_TOKEN = re.compile(r"(?:([0-9a-f]{32})\.)?([0-9a-f]{40})\Z")


def renew_subscriptions() -> None:
    """Subscribe to the hub the watched feed names, renew in time, and unsubscribe from hubs it no longer names."""
    url = settings.current().feed_url
    current = state.state_for(WATCHED, url, store.find_state(WATCHED))
    # Before the first check of a new feed its hub is unknown; the old feed's hub is left in any case.
    renew(WATCHED, current.hub if url else "", current.topic)


def renew(subject: str, hub: str, topic: str) -> datetime | None:
    """Ask the hub if that is due, and leave every other. Returns until when the hub has promised to push, if it has.

    It may be called after every poll: when nothing is due, it is one query."""
    return retry_stale(lambda: _renew(subject, hub, topic))


def leave(subject: str) -> None:
    """Unsubscribe from whatever the subject is subscribed to."""
    renew(subject, "", "")


def confirm(token: str, question: HubQuestion) -> str:
    """The hub asks whether the request was ours. Returns the challenge, or raises `NotFound` if it was not."""
    subscription = _find(token)
    if subscription.topic != question.topic:
        raise NotFound("No such subscription")
    leaving = subscription.is_leaving
    if question.mode == "denied" and not leaving:
        _deny(subscription)
        return ""
    if not question.challenge or (question.mode, leaving) not in (("subscribe", False), ("unsubscribe", True)):
        raise NotFound("No such subscription")
    if leaving:
        websub_store.remove(subscription)
    else:
        websub_store.activate(subscription, clock.now() + _lease(question.lease_seconds))
    log.info("websub.confirmed", subject=subscription.subject, mode=question.mode)
    return question.challenge


def receive(token: str, signature: str, body: bytes) -> None:
    """A push. Without a valid signature it is ignored, and the sender is not told."""
    subscription = _find(token)
    if subscription.is_leaving:
        raise NotFound("No such subscription")
    if not signatures.is_valid_push(_secret(token), signature, body):
        log.warning("websub.bad_signature", subject=subscription.subject)
        return
    if subscription.subject == WATCHED:
        queues.send("feed", {"trigger": Trigger.WEBSUB.value})
        return
    deleted = list(deletions.find(body))
    queues.send("feed", {"feed": subscription.subject, "deleted": deleted, "at": clock.text(clock.now())})


def _find(token: str) -> Subscription:
    """The subscription of a callback. A token without a subject is the watched feed's."""
    parts = _TOKEN.match(token)
    subscription = websub_store.find(parts[1] or WATCHED, parts[2]) if parts else None
    if not subscription:
        raise NotFound("No such subscription")
    return subscription


def _renew(subject: str, hub: str, topic: str) -> datetime | None:
    now = clock.now()
    found = {subscription.mac: subscription for subscription in websub_store.list_subscriptions(subject)}
    mac = _mac(subject, hub, topic) if topic and _is_private(hub) else ""
    wanted = found.pop(mac, None)
    if mac and _is_due(wanted, now):
        _subscribe(Subscription(subject, mac, hub, topic, Standing.ASKED, now, None), wanted)
    for subscription in found.values():
        if not subscription.is_leaving:
            _unsubscribe(subscription, now)
    return wanted.leased_until if wanted and wanted.is_active(now) else None


def _deny(subscription: Subscription) -> None:
    log.warning("websub.denied", subject=subscription.subject)
    denied = replace(subscription, standing=Standing.ASKED, asked_at=clock.now(), leased_until=None)
    try:
        websub_store.save(denied, subscription)
    except Stale:  # asked again or left in the meantime: the next answer counts
        return


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
    websub_store.save(active.renewed(asked.asked_at) if active else asked, before)
    _request(asked, "subscribe")


def _unsubscribe(subscription: Subscription, now: datetime) -> None:
    websub_store.save(subscription.leaving(now), subscription)
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
        log.warning("websub.unreachable", subject=subscription.subject, mode=mode, kind=failure.kind)
        return
    log.info("websub.asked", subject=subscription.subject, mode=mode, status=status)


def _is_private(hub: str) -> bool:
    """The hub is sent the secret, so the connection must be encrypted."""
    return hub.startswith("https://") or bool(hub and settings.current().local)


def _mac(subject: str, hub: str, topic: str) -> str:
    """The watched feed's is derived from hub and topic alone: so hubs know it from before there were others."""
    text = f"{hub}\n{topic}" if subject == WATCHED else f"{subject}\n{hub}\n{topic}"
    return pseudonyms.derive("websub token", text)[:40]


def _secret(token: str) -> str:
    return pseudonyms.derive("websub secret", token)


def _lease(seconds: str) -> timedelta:
    """What the hub grants, up to a limit; a hub that names no time has granted what we asked for."""
    if seconds.isascii() and seconds.isdigit():
        return min(timedelta(seconds=int(seconds[:9])), _LONGEST_LEASE)
    return LEASE

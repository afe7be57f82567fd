"""Managing webhooks, one function per verb: list, add, change, remove, rotate, test, replay, attempts."""

from itertools import islice
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict

from chalicelib.events.model import Event
from chalicelib.events.webhooks import model, post, replay, signing, store
from chalicelib.events.webhooks.model import (
    ACTIVE,
    MOST,
    MOST_PREVIOUS,
    OVERLAP,
    PAUSED,
    TEST,
    Attempt,
    NewWebhook,
    PreviousKey,
    Webhook,
    WebhookEdits,
)
from chalicelib.kernel import clock, ids, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.kernel.http import egress

_RESOLVING = 3.0
_NOT_FOUND = "No such webhook"


class Revealed(Struct, frozen=True):
    """A webhook with its secret, which is shown only when it is made."""

    webhook: Webhook
    secret: str


def list_webhooks() -> list[Webhook]:
    return store.list_webhooks()


def get(webhook_id: str) -> Webhook:
    webhook = store.get(webhook_id)
    if webhook is None:
        raise NotFound(_NOT_FOUND)
    return webhook


def add(new: NewWebhook) -> Revealed:
    if len(store.list_webhooks()) >= MOST:
        raise Conflict(f"There are {MOST} webhooks already: remove one first")
    _check_reachable(new.url)
    webhook = Webhook(
        id=ids.new(),
        url=new.url,
        types=frozenset(new.types),
        description=new.description,
        include_address=new.include_address,
        key=ids.new(),
        created_at=clock.text(clock.now()),
    )
    store.add(webhook)
    return _reveal(webhook)


def change(webhook_id: str, edits: WebhookEdits) -> Webhook:
    """Set what is given. Another url, and pausing or resuming, forget earlier failures."""
    values: dict[str, Any] = {name: value for name, value in asdict(edits).items() if value is not UNSET}
    if not values:
        raise Invalid("Nothing to change: give at least one of url, types, description, include_address or paused")
    if "url" in values:
        _check_reachable(values["url"])
        values |= {"failing_since": None, "resume_at": None}
    if "paused" in values:
        state = PAUSED if values.pop("paused") else ACTIVE
        values |= {"state": state, "reason": None, "failing_since": None, "resume_at": None}
    webhook = _change(webhook_id, **values)
    if webhook.state == ACTIVE:
        queues.send("events", {"destination": webhook_id})
    return webhook


def remove(webhook_id: str) -> None:
    try:
        store.remove(webhook_id)
    except Stale:
        raise NotFound(_NOT_FOUND) from None


def rotate(webhook_id: str) -> Revealed:
    """A new secret. Old ones still sign for a day, so that the receiver can be changed without losing an event."""
    before, now = get(webhook_id), clock.now()
    live = before.live_previous(now)
    if len(live) >= MOST_PREVIOUS:
        raise Conflict("The secret was rotated too often today: update the receiver first")
    previous = (*live, PreviousKey(before.key, clock.text(now + OVERLAP)))
    try:
        webhook = store.change(webhook_id, {"key": before.key}, key=ids.new(), previous=previous)
    except Stale:
        raise Conflict("The secret was rotated by someone else just now") from None
    return _reveal(webhook)


def test(webhook_id: str) -> Attempt:
    """Send an event of type TEST now, once, whatever the state of the webhook."""
    webhook = get(webhook_id)
    now = clock.text(clock.now())
    event = Event(ids.new(), webhook_id, TEST, {"webhook_id": webhook_id}, now)
    attempt = Attempt(ids.new(), event.id, TEST, now, 1, post.post(webhook, event, None))
    store.add_attempt(webhook_id, attempt)
    return attempt


def replay_event(webhook_id: str, event_id: str) -> None:
    replay.replay_event(_get_enabled(webhook_id).id, event_id)


def replay_range(webhook_id: str, start: str | None, end: str | None) -> None:
    replay.replay_range(_get_enabled(webhook_id).id, start, end)


def list_attempts(webhook_id: str, before: str = "", most: int = 50) -> list[Attempt]:
    """Attempts of the last seven days, newest first; `before` is the id of the last one seen."""
    get(webhook_id)
    if before and not ids.is_id(before):
        raise Invalid("before must be the id of an attempt")
    page = store.list_attempts(webhook_id, before, min(max(most, 1), model.LONGEST_PAGE) + 1)
    return list(islice((attempt for attempt in page if attempt.id != before), most))


def _get_enabled(webhook_id: str) -> Webhook:
    webhook = get(webhook_id)
    if webhook.state == model.DISABLED:
        raise Conflict("This webhook is disabled: enable it first")
    return webhook


def _reveal(webhook: Webhook) -> Revealed:
    return Revealed(webhook, signing.derive_secret(webhook.id, webhook.key))


def _change(webhook_id: str, **values: Any) -> Webhook:
    try:
        return store.change(webhook_id, **values)
    except Stale:
        raise NotFound(_NOT_FOUND) from None


def _check_reachable(url: str) -> None:
    """https, and on the public internet now; each sending checks the address again."""
    try:
        target = egress.target(url)
        addresses = egress.addresses(target.host, target.port, _RESOLVING)
    except egress.Unreachable as failure:
        raise Invalid(f"This URL cannot be used: {failure.reason}") from None
    if target.scheme != "https" and not (settings.current().local and all(map(_is_loopback, addresses))):
        raise Invalid("This URL cannot be used: it must begin with https://")


def _is_loopback(address: str) -> bool:
    import ipaddress

    return ipaddress.ip_address(address).is_loopback

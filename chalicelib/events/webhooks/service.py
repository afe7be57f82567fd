"""Managing webhooks, one function per verb: list, add, change, remove, rotate, test, replay, attempts."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

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
    Previous,
    Webhook,
)
from chalicelib.kernel import clock, ids, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.kernel.http import egress

_RESOLVING = 3.0
_LONGEST_PAGE = 100
_NONE = "No such webhook"


class Revealed(Struct, frozen=True):
    """A webhook with its secret: the only time it is shown."""

    webhook: Webhook
    secret: str


def list_webhooks() -> list[Webhook]:
    return store.list_webhooks()


def get(webhook_id: str) -> Webhook:
    webhook = store.get(webhook_id)
    if webhook is None:
        raise NotFound(_NONE)
    return webhook


def add(fields: Mapping[str, Any]) -> Revealed:
    if len(store.list_webhooks()) >= MOST:
        raise Conflict(f"There are {MOST} webhooks already: remove one first")
    webhook = Webhook(
        id=ids.new(),
        url=_checked_url(fields.get("url")),
        types=model.parse_types(fields.get("types")),
        description=model.parse_description(fields.get("description")),
        include_address=model.parse_flag("include_address", fields.get("include_address", False)),
        state=ACTIVE,
        reason=None,
        key=ids.new(),
        previous=(),
        failing_since=None,
        resume_at=None,
        untold=False,
        created_at=clock.text(clock.now()),
    )
    store.add(webhook)
    return Revealed(webhook, signing.secret(webhook.id, webhook.key))


def change(webhook_id: str, fields: Mapping[str, Any]) -> Webhook:
    """Whatever is named is changed. `paused: false` also enables a webhook that was disabled."""
    values: dict[str, Any] = {}
    if "url" in fields:
        values |= {"url": _checked_url(fields["url"]), "failing_since": None, "resume_at": None}
    if "types" in fields:
        values["types"] = set(model.parse_types(fields["types"]))
    if "description" in fields:
        values["description"] = model.parse_description(fields["description"])
    if "include_address" in fields:
        values["include_address"] = model.parse_flag("include_address", fields["include_address"])
    if "paused" in fields:
        paused = model.parse_flag("paused", fields["paused"])
        values |= {"state": PAUSED if paused else ACTIVE, "reason": None, "failing_since": None, "resume_at": None}
    if not values:
        raise Invalid("Nothing to change: give at least one of url, types, description, include_address or paused")
    webhook = _change(webhook_id, **values)
    if webhook.state == ACTIVE:
        queues.send("events", {"destination": webhook_id})
    return webhook


def remove(webhook_id: str) -> None:
    try:
        store.remove(webhook_id)
    except Stale:
        raise NotFound(_NONE) from None


def rotate(webhook_id: str) -> Revealed:
    """A new secret. For a day each old one signs too, so that the receiver can be changed without losing an event."""
    before, now = get(webhook_id), clock.now()
    live = before.live_previous(now)
    if len(live) >= MOST_PREVIOUS:
        raise Conflict("The secret was rotated too often today: update the receiver first")
    previous = (*live, Previous(before.key, clock.text(now + OVERLAP)))
    try:
        webhook = store.change(webhook_id, {"key": before.key}, key=ids.new(), previous=store.packed(previous))
    except Stale:
        raise Conflict("The secret was rotated by someone else just now") from None
    return Revealed(webhook, signing.secret(webhook.id, webhook.key))


def test(webhook_id: str) -> Attempt:
    """Send it an event of type TEST now, once, whatever its state."""
    webhook = get(webhook_id)
    now = clock.text(clock.now())
    event = Event(ids.new(), webhook_id, TEST, {"webhook_id": webhook_id}, now)
    attempt = Attempt(ids.new(), event.id, TEST, now, 1, post.post(webhook, event, None))
    store.note(webhook_id, attempt)
    return attempt


def replay_event(webhook_id: str, event_id: str) -> None:
    replay.replay_event(_open(webhook_id).id, event_id)


def replay_range(webhook_id: str, start: str | None, end: str | None) -> None:
    replay.replay_range(_open(webhook_id).id, start, end)


def list_attempts(webhook_id: str, before: str = "", most: int = 50) -> list[Attempt]:
    """Of the last seven days, newest first; `before` is the id of the last one seen."""
    get(webhook_id)
    if before and not ids.is_id(before):
        raise Invalid("before must be the id of an attempt")
    page = store.list_attempts(webhook_id, before, min(max(most, 1), _LONGEST_PAGE) + 1)
    return list(islice((attempt for attempt in page if attempt.id != before), most))


def _open(webhook_id: str) -> Webhook:
    webhook = get(webhook_id)
    if webhook.state == model.DISABLED:
        raise Conflict("This webhook is disabled: enable it first")
    return webhook


def _change(webhook_id: str, **values: Any) -> Webhook:
    try:
        return store.change(webhook_id, **values)
    except Stale:
        raise NotFound(_NONE) from None


def _checked_url(given: object) -> str:
    """https, and on the public internet now; each sending checks the address again."""
    if not isinstance(given, str) or not given.strip():
        raise Invalid("url is required")
    url = given.strip()
    try:
        target = egress.target(url)
        addresses = egress.addresses(target.host, target.port, _RESOLVING)
    except egress.Unreachable as failure:
        raise Invalid(f"This URL cannot be used: {failure.reason}") from None
    if target.scheme != "https" and not (settings.current().local and all(_is_loopback(one) for one in addresses)):
        raise Invalid("This URL cannot be used: it must begin with https://")
    return url


def _is_loopback(address: str) -> bool:
    import ipaddress

    return ipaddress.ip_address(address).is_loopback

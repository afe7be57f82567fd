"""What editors see and change of one subscriber, and the removal of many at once."""

import hashlib
import json
import time
from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from chalicelib.audience import erasure, held, listing, mails, model
from chalicelib.audience.listing import Entry
from chalicelib.audience.model import StoredCapture, Subscriber
from chalicelib.audience.stores import captures, subscribers
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, Unavailable

MOST_AT_ONCE = 100
_SECONDS = 10.0  # API Gateway hangs up after 29, and the slowest single removal takes a few
CHANGED = "The subscriber has changed: reload and try again"


class Detail(Struct, frozen=True):
    """A subscriber as the list shows them, with what came through each source. `awaits_confirmation`: a link can be
    mailed, for the first sign-up or for what a reader added later. `is_held`: it waits for the limits."""

    entry: Entry
    confirmation_expires_at: str | None
    captures: tuple[StoredCapture, ...]
    awaits_confirmation: bool
    is_held: bool

    @property
    def fingerprint(self) -> str:
        """Differs when what an editor can change has changed."""
        return _fingerprint(self.entry.nickname, frozenset(self.entry.tags))


class Edits(Struct, frozen=True):
    """An empty nickname removes the stored one; tags replace the stored ones."""

    nickname: str | UnsetType | None = UNSET
    tags: frozenset[str] | UnsetType = UNSET


class Removal(Struct, frozen=True):
    """What became of each id. A pending removal finishes in the background."""

    removed: tuple[str, ...]
    pending: tuple[str, ...]
    not_found: tuple[str, ...]


def view(subscriber_id: str) -> Detail:
    return _detail(listing.find_subscriber(subscriber_id))


def change(subscriber_id: str, edits: Edits, seen: str | None = None) -> Detail:
    """`seen` is the fingerprint of what the editor was looking at: a change made since then is not overwritten."""
    return retry_stale(lambda: _change(subscriber_id, edits, seen))


def resend_confirmation(subscriber_id: str) -> bool:
    """Have a new link mailed for what has yet to be confirmed; it replaces the one before. False if it is held until
    the limits of the hour allow it."""
    subscriber = listing.find_subscriber(subscriber_id)
    request = mails.newest_request(subscriber, captures.list_requests(subscriber.id, clock.now()))
    if not request:
        raise Conflict("Already confirmed")
    if request.is_held:
        return False
    mails.check_limits(subscriber.email)
    queues.send("audience", {"kind": model.CONFIRM, "subscriber_id": subscriber.id})
    return not held.is_used_up()


def parse_selection(wanted: Sequence[str]) -> list[str]:
    """Each id once."""
    distinct = list(dict.fromkeys(wanted))
    if not all(ids.is_id(id) for id in distinct):
        raise Invalid("ids must be ids of subscribers")
    if not distinct:
        raise Invalid("Select at least one subscriber")
    if len(distinct) > MOST_AT_ONCE:
        raise Invalid(f"At most {MOST_AT_ONCE} subscribers at once")
    return distinct


def remove_many(subscriber_ids: Sequence[str]) -> Removal:
    """One after the other, as long as the caller may wait; the queue does the rest."""
    ends = time.monotonic() + _SECONDS
    removed: list[str] = []
    pending: list[str] = []
    not_found: list[str] = []
    for subscriber_id in subscriber_ids:
        if time.monotonic() > ends:
            erasure.remove_later(subscriber_id)
            pending.append(subscriber_id)
            continue
        try:
            (removed if erasure.remove(subscriber_id) else pending).append(subscriber_id)
        except NotFound:
            not_found.append(subscriber_id)
        except Unavailable:
            erasure.remove_later(subscriber_id)
            pending.append(subscriber_id)
    return Removal(tuple(removed), tuple(pending), tuple(not_found))


def _detail(subscriber: Subscriber) -> Detail:
    until = subscriber.confirmation_expires_at
    expires = clock.text(until) if until and until < model.NEVER else None
    stored = sorted(captures.list_stored(subscriber.id), key=lambda capture: capture.created_at)
    known = tuple(capture for capture in stored if capture.status != model.CAPTURE_EXPIRED)
    request = mails.newest_request(subscriber, captures.open_requests(stored, clock.now()))
    return Detail(
        listing.entry_from(subscriber), expires, known, request is not None, bool(request and request.is_held)
    )


def _change(subscriber_id: str, edits: Edits, seen: str | None) -> Detail:
    subscriber = listing.find_subscriber(subscriber_id)
    if seen is not None and seen != _fingerprint(subscriber.nickname, subscriber.tags):
        raise Conflict(CHANGED)
    nickname = subscriber.nickname if edits.nickname is UNSET else (edits.nickname or None)
    tags = subscriber.tags if edits.tags is UNSET else edits.tags
    if (nickname, tags) != (subscriber.nickname, subscriber.tags):
        tables.transact(subscribers.edit_write(subscriber, nickname, tags))
    return view(subscriber_id)


def _fingerprint(nickname: str | None, tags: frozenset[str]) -> str:
    return hashlib.sha256(json.dumps([nickname, sorted(tags)]).encode()).hexdigest()[:16]

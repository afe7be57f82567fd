"""Entries as JSON shows them: times in Unix milliseconds, null where there is nothing."""

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from chalicelib.inbox import bodies, pictures
from chalicelib.inbox.clipping import Pasted
from chalicelib.inbox.model import Entry, EntryDetail, Outcome, Seen, SeenDetail, State
from chalicelib.inbox.uses import Use
from chalicelib.kernel import clock


def entry_body(detail: EntryDetail, uses: Sequence[Use] = (), photo: str | None = None) -> bodies.InboxEntry:
    """`photo` is a link of `photos.sign_all`, for answers that nobody stores."""
    entry, item = detail.entry, detail.item
    return bodies.InboxEntry(
        id=entry.id,
        state=entry.state.value,
        provider=entry.provider.value,
        content_type=entry.content_type.value,
        title=item.title,
        creator=item.creator or None,
        canonical_url=item.canonical_url,
        image_url=photo or pictures.url(item) or None,
        excerpt=item.excerpt or None,
        duration_seconds=item.duration_seconds,
        published_at=clock.milliseconds(item.published_at) if item.published_at else None,
        received_at=clock.milliseconds(entry.received_at),
        follow_id=entry.follow_id,
        note=entry.words or None,
        used_in=[_usage(use) for use in uses],
        problem=item.problem or None,
        available=item.available,
    )


def any_body(
    detail: EntryDetail | SeenDetail, uses: Sequence[Use] = (), photo: str | None = None
) -> bodies.InboxEntry:
    if isinstance(detail, EntryDetail):
        return entry_body(detail, uses, photo)
    seen = detail.seen
    entry = Entry("", seen.id, State.INBOX, seen.received_at, seen.provider, seen.content_type)
    return replace(entry_body(EntryDetail(entry, detail.item), uses, photo), state="DISMISSED")


def pasted_body(pasted: Pasted) -> bodies.PasteResult:
    return bodies.PasteResult(pasted.url, not pasted.error, pasted.id or None, pasted.error or None)


def kept_entry(detail: EntryDetail) -> dict[str, Any]:
    """For the member's download."""
    fields: dict[str, Any] = to_builtins(entry_body(detail))
    return fields


def seen_item(seen: Seen) -> dict[str, Any]:
    """For the member's download: what was dismissed has no state."""
    return {
        "id": seen.id,
        "state": None,
        "provider": seen.provider.value,
        "content_type": seen.content_type.value,
        "received_at": clock.milliseconds(seen.received_at),
        "words": seen.words or None,
    }


def _usage(use: Use) -> bodies.Usage:
    return bodies.Usage(use.campaign_id, use.subject, clock.milliseconds(use.sent_at) if use.sent_at else None)


def outcome_body(outcome: Outcome) -> bodies.ActResult:
    return bodies.ActResult(outcome.id, not outcome.error, outcome.error or None)

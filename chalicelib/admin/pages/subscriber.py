"""The page of one subscriber: what is known, how it came, and what an editor may change."""

import json
from datetime import datetime
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from chalicelib.access import audit
from chalicelib.admin import shell, truncate
from chalicelib.audience import editing, model
from chalicelib.audience.editing import Detail, Edits
from chalicelib.kernel.errors import Conflict, GnaError, Invalid
from chalicelib.web import responses, text_size
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/subscribers"
_LONGEST_ECHO = 500
_BYTES_FOR_TAGS = 10_000
_BYTES_FOR_METADATA = 15_000
_CHANGED_MEANWHILE = (
    "This subscriber has changed since you opened the page. What you typed is below and not saved yet: "
    "saving now overwrites the change."
)


class SignUp(Struct, frozen=True):
    """What came through one source, as the page shows it."""

    source: str
    state: str
    tags: list[str]
    at: datetime
    metadata: str
    expires_at: datetime | None = None
    is_held: bool = False


def show_subscriber(request: Request) -> Response:
    return _page(request, editing.view(request.path["subscriber_id"]))


def save_subscriber(request: Request) -> Response:
    subscriber_id = request.path["subscriber_id"]
    nickname, tags = (request.text("nickname") or "").strip(), request.text("tags")
    try:
        edits = Edits(model.check_nickname(nickname or None), _parse_tags(tags))
        detail = editing.change(subscriber_id, edits, seen=request.text("seen") or "")
    except (Invalid, Conflict) as failure:
        reason = _CHANGED_MEANWHILE if failure.reason == editing.CHANGED else failure.reason
        typed = {"nickname": nickname[:_LONGEST_ECHO], "tags": truncate.truncate(tags or "", _BYTES_FOR_TAGS)}
        status = responses.status_of(failure)
        return _page(request, editing.view(subscriber_id), status, typed=typed, problem=reason)
    audit.record(request, "subscriber.change", subscriber_id=subscriber_id)
    return shell.back(f"{_HERE}/{detail.entry.id}", "saved")


def resend_confirmation(request: Request) -> Response:
    subscriber_id = request.path["subscriber_id"]
    try:
        is_sent_now = editing.resend_confirmation(subscriber_id)
    except GnaError as failure:
        detail, status = editing.view(subscriber_id), responses.status_of(failure)
        answer = _page(request, detail, status, problem=f"No confirmation email was sent: {failure.reason}.")
        return responses.with_retry_after(failure, answer)
    audit.record(request, "subscriber.resend", subscriber_id=subscriber_id)
    return shell.back(f"{_HERE}/{subscriber_id}", "resent" if is_sent_now else "resend-held")


def _page(request: Request, detail: Detail, status: int = 200, **values: Any) -> Response:
    entry, tags = detail.entry, "\n".join(detail.entry.tags)
    sign_ups = _sign_ups(detail)
    sizes = [text_size.html_size(sign_up.metadata) for sign_up in sign_ups]
    given = {"typed": {"nickname": entry.nickname or "", "tags": tags}, **values}
    return shell.page(
        request,
        "admin/subscriber.html",
        status,
        here=_HERE,
        detail=detail,
        person=entry,
        sign_ups=sign_ups,
        with_metadata=len(truncate.take_within(sign_ups, sizes, _BYTES_FOR_METADATA)),
        tags_fit=text_size.html_size(tags) <= _BYTES_FOR_TAGS,
        **given,
    )


def _parse_tags(text: str | None) -> frozenset[str] | UnsetType:
    """One on each line: a tag that came by the API may contain a comma. Without the field, tags stay as they are."""
    if text is None:
        return UNSET
    return model.check_tags([line for line in text.splitlines() if line.strip()], model.MOST_TAGS_IN_ALL)


def _sign_ups(detail: Detail) -> list[SignUp]:
    """What was confirmed and what waits are lines of their own, also if they came through the same source."""
    found = []
    for stored in detail.captures:
        if stored.status == model.CAPTURE_CONFIRMED:
            metadata = _metadata(stored.metadata)
            found.append(SignUp(stored.source, "confirmed", sorted(stored.tags), stored.created_at, metadata))
        if request := stored.request:
            tags, metadata = sorted(request.capture.tags), _metadata(request.capture.metadata)
            ends = (request.expires_at, request.is_held)
            found.append(SignUp(stored.source, "pending", tags, request.requested_at, metadata, *ends))
    return found


def _metadata(value: dict[str, Any] | None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) if value else ""

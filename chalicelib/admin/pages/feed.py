"""The page of the feed: what waits, what was found, and how the last checks went."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from msgspec import Struct

from chalicelib.access import audit
from chalicelib.admin import shell, truncate
from chalicelib.feeds import plan, service, waiting
from chalicelib.feeds.service import View
from chalicelib.feeds.state import Check, Trigger
from chalicelib.feeds.waiting import Kept
from chalicelib.kernel import clock, settings
from chalicelib.kernel.errors import Conflict, Invalid
from chalicelib.kernel.publication import OFF
from chalicelib.web import text_size
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/feed"
_TEXTS = ("title", "excerpt", "link")
_MARKUP = 150  # bytes of markup around an entry's texts
_BYTES_FOR_ENTRIES, _BYTES_BESIDE_WAITING = 28_000, 16_000
_MOST_WAITING = 20
_MOMENTS = timedelta(minutes=10)
_ACTS = {
    "send": (service.send_waiting, "feed-hurried"),
    "cancel": (service.cancel_waiting, "feed-cancelled"),
}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Group(Struct, frozen=True):
    """Posts that leave together. `name` is what they are sent or cancelled by.
    `leaving`: somebody wants them sent; `stuck`: their time has come, and they are still here."""

    name: str
    due_at: datetime | None
    leaving: bool
    stuck: bool
    posts: Sequence[Kept]


def show_feed(request: Request) -> Response:
    view, hook = service.view(), settings.current().url("/api/webhooks/feed")
    sizes = [_MARKUP + sum(text_size.html_size(getattr(entry, name)) for name in _TEXTS) for entry in view.entries]
    groups, unlisted = _list_waiting(view)
    room = _BYTES_BESIDE_WAITING if groups else _BYTES_FOR_ENTRIES
    return shell.page(
        request,
        "admin/feed.html",
        here=_HERE,
        view=view,
        becomes=_describe(view),
        groups=groups,
        unlisted=unlisted,
        entries=truncate.take_within(view.entries, sizes, room),
        history=_merge_repeated(view.history),
        hook=hook,
    )


def act_on_feed(request: Request) -> Response:
    """Check it now; or send or cancel what waits."""
    action = request.text("action") or "check"
    if action == "check":
        return shell.back(_HERE, f"feed-{service.check(Trigger.ADMIN).result.value}")
    if action not in _ACTS:
        raise Invalid("Unknown action")
    act, done = _ACTS[action]
    try:
        act((request.text("waiting") or "")[:64].split())
    except Conflict:
        return shell.back(_HERE, "feed-not-waiting")
    audit.record(request, f"feed.{action}")
    return shell.back(_HERE, done)


def _list_waiting(view: View) -> tuple[list[Group], int]:
    """With the number of those that are not listed. A digest is one group."""
    held = view.waiting
    listed = held.entries[:_MOST_WAITING]
    batches = groupby(sorted(listed, key=lambda kept: _key(view, kept)), key=lambda kept: _key(view, kept))
    groups = [_group(view, list(batch)) for _, batch in batches]
    return groups, len(held.entries) - len(listed) + held.more


def _key(view: View, kept: Kept) -> tuple[str, str]:
    at = waiting.leaves_at(view.waiting, kept)
    return ("", "") if view.waiting.policy.collects else (at.isoformat() if at else "", kept.batch)


def _group(view: View, batch: Sequence[Kept]) -> Group:
    first = batch[0]
    due_at = waiting.leaves_at(view.waiting, first)
    return Group(
        name=first.name if view.waiting.policy.collects else first.batch,
        due_at=due_at,
        leaving=any(_is_leaving(kept) for kept in batch),
        stuck=due_at is not None and due_at <= clock.now(),
        posts=batch,
    )


def _is_leaving(kept: Kept) -> bool:
    """Somebody wants it sent, and has not waited long."""
    return kept.hurried and kept.due_at is not None and clock.now() - kept.due_at < _MOMENTS


def _describe(view: View) -> str:
    """What becomes of new posts, after "New posts at …"."""
    feed = view.feed
    auto = feed.mode == "auto"
    if feed.digest == OFF:
        if not auto:
            return "become a draft for you to review"
        return (
            f"are emailed after {feed.hold} minutes, unless you cancel them"
            if feed.hold
            else "are emailed automatically"
        )
    weekday, at = plan.parse(feed.digest_at)
    days = f"every {_DAYS[weekday]}" if feed.digest == plan.WEEKLY else "every day"
    what = "are emailed together" if auto else "become one draft for you to review"
    return f"{what} {days} at {at:%H:%M} ({view.time_zone})"


def _merge_repeated(history: Sequence[Check]) -> list[tuple[Check, int]]:
    """Consecutive checks with the same outcome as one: the latest, and how many there were. Most find nothing new."""
    runs = groupby(history, key=lambda check: (check.trigger, check.result, check.summary, check.campaign_id))
    return [(run[0], len(run)) for run in (list(checks) for _, checks in runs)]

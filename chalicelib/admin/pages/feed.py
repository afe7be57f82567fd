"""The watched feed, as a page."""

from collections.abc import Sequence
from itertools import groupby

from chalicelib.admin import shell, truncate
from chalicelib.feeds import service
from chalicelib.feeds.state import Check, Trigger
from chalicelib.kernel import settings
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/feed"
_SHOWN = ("title", "excerpt", "link")
_ENTRY = 150  # what stands around the words of an entry
_ROOM = 28_000


def open_feed(request: Request) -> Response:
    view, hook = service.view(), settings.current().url("/api/webhooks/feed")
    weights = [_ENTRY + sum(truncate.html_size(getattr(entry, name)) for name in _SHOWN) for entry in view.entries]
    return shell.page(
        request,
        "admin/feed.html",
        here=_HERE,
        view=view,
        entries=truncate.take_within(view.entries, weights, _ROOM),
        history=_told(view.history),
        hook=hook,
    )


def look_at_feed(request: Request) -> Response:
    return shell.back(_HERE, f"feed-{service.check(Trigger.ADMIN).result.value}")


def _told(history: Sequence[Check]) -> list[tuple[Check, int]]:
    """The latest of each run of checks with the same outcome, and how many they were: most find nothing."""
    runs = groupby(history, key=lambda check: (check.trigger, check.result, check.summary, check.campaign_id))
    return [(run[0], len(run)) for run in (list(checks) for _, checks in runs)]

"""The page of the feed."""

from collections.abc import Sequence
from itertools import groupby

from chalicelib.admin import shell, truncate
from chalicelib.feeds import service
from chalicelib.feeds.state import Check, Trigger
from chalicelib.kernel import settings
from chalicelib.web import text_size
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/feed"
_TEXTS = ("title", "excerpt", "link")
_MARKUP = 150  # bytes of markup around an entry's texts
_BYTES_FOR_ENTRIES = 28_000


def show_feed(request: Request) -> Response:
    view, hook = service.view(), settings.current().url("/api/webhooks/feed")
    sizes = [_MARKUP + sum(text_size.html_size(getattr(entry, name)) for name in _TEXTS) for entry in view.entries]
    return shell.page(
        request,
        "admin/feed.html",
        here=_HERE,
        view=view,
        entries=truncate.take_within(view.entries, sizes, _BYTES_FOR_ENTRIES),
        history=_merge_repeated(view.history),
        hook=hook,
    )


def check_feed(request: Request) -> Response:
    return shell.back(_HERE, f"feed-{service.check(Trigger.ADMIN).result.value}")


def _merge_repeated(history: Sequence[Check]) -> list[tuple[Check, int]]:
    """Consecutive checks with the same outcome as one: the latest, and how many there were. Most find nothing new."""
    runs = groupby(history, key=lambda check: (check.trigger, check.result, check.summary, check.campaign_id))
    return [(run[0], len(run)) for run in (list(checks) for _, checks in runs)]

"""How many entries wait in the desk's inbox, for the navigation of every page."""

from datetime import datetime, timedelta
from typing import Any

from chalicelib.inbox import service
from chalicelib.inbox.model import DESK
from chalicelib.kernel import clock, log, settings
from chalicelib.kernel.errors import GnaError

MOST = 99
_LIFE = timedelta(seconds=30)

# What was counted under which settings, and until when it is shown.
_counted: tuple[Any, datetime, int] | None = None


def count() -> int:
    """At most half a minute old; beyond `MOST` it is one more. No page fails because they cannot be counted."""
    global _counted
    now, current = clock.now(), settings.current()
    if _counted is None or _counted[0] is not current or _counted[1] <= now:
        _counted = (current, now + _LIFE, _count())
    return _counted[2]


def forget() -> None:
    global _counted
    _counted = None


def _count() -> int:
    try:
        return service.count(DESK, most=MOST)
    except GnaError as failure:
        log.exception("inbox.not_counted", failure)
        return 0

"""What every page says of notifications that nobody has read: read at most twice a minute for each owner. Every page
loads this module, so it loads little."""

from datetime import datetime, timedelta

from chalicelib.following.stores import notifications as store
from chalicelib.following.stores.notifications import Notification
from chalicelib.kernel import clock, log
from chalicelib.kernel.errors import GnaError
from chalicelib.kernel.recent import Recent

_titles: Recent[tuple[str, ...]] = Recent(timedelta(seconds=30), 500)


def list_titles(owner: str) -> tuple[str, ...]:
    """Newest first. No page fails because they cannot be read: then there are none."""
    known = _titles.get(owner)
    return _titles.put(owner, _read_titles(owner)) if known is None else known


def forget(owner: str) -> None:
    """Something has changed, and the next page says so."""
    _titles.forget(owner)


def is_over(one: Notification, now: datetime) -> bool:
    """Whether the time it is about has passed, as that of a day's quota."""
    ends_at = one.data.get("ends_at")
    return isinstance(ends_at, int) and ends_at <= now.timestamp() * 1000


def _read_titles(owner: str) -> tuple[str, ...]:
    now = clock.now()
    try:
        return tuple(one.title for one in store.list_active(owner) if not one.read_at and not is_over(one, now))
    except GnaError as failure:
        log.exception("notifications.unknown", failure)
        return ()

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
    if known is not None:
        return known
    try:
        list_active(owner)
    except GnaError as failure:
        log.exception("notifications.unknown", failure)
        _titles.put(owner, ())
    return _titles.get(owner) or ()


def list_active(owner: str) -> list[Notification]:
    """Newest first: what still is as it says. The page that shows them need not read them again for its titles."""
    now = clock.now()
    active = [one for one in store.list_active(owner) if not is_over(one, now)]
    _titles.put(owner, tuple(one.title for one in active if not one.read_at))
    return active


def forget(owner: str) -> None:
    """Something has changed, and the next page says so."""
    _titles.forget(owner)


def is_over(one: Notification, now: datetime) -> bool:
    """Whether the time it is about has passed, as that of a day's quota."""
    ends_at = one.data.get("ends_at")
    return isinstance(ends_at, int) and ends_at <= now.timestamp() * 1000

"""How many entries wait in an inbox, for the navigation of every page: counted at most twice a minute for each owner.
Every page loads this module, so it loads little."""

from datetime import timedelta

from chalicelib.inbox import listing_store
from chalicelib.inbox.model import State
from chalicelib.kernel import log
from chalicelib.kernel.errors import GnaError
from chalicelib.kernel.recent import Recent

# More are "99+": that many are counted with one request.
MOST = 99

_counts: Recent[int] = Recent(timedelta(seconds=30), 500)


def describe(owner: str) -> str:
    """Empty if there are none. No page fails because they cannot be counted."""
    known = _counts.get(owner)
    count = _counts.put(owner, _count(owner)) if known is None else known
    return f"{MOST}+" if count > MOST else str(count or "")


def forget(owner: str) -> None:
    """Something was moved, and the next page says so."""
    _counts.forget(owner)


def _count(owner: str) -> int:
    try:
        return listing_store.count(owner, State.INBOX, MOST + 1)
    except GnaError as failure:
        log.exception("inbox.not_counted", failure)
        return 0

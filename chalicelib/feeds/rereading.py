"""What a post is now, just before it is mailed: corrected, postponed, or taken down.

Taken down means that it is no longer in the feed while an older post still is, or that its link answers 404 or 410.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.feeds import model, waiting
from chalicelib.feeds.reading.model import Entry, Feed
from chalicelib.feeds.waiting import Kept
from chalicelib.kernel import log
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Bounds, FetchFailed

_GONE = (404, 410)
_SECONDS = 5.0
_AT_ONCE = 10


class Reread(Struct, frozen=True):
    """`current` is what can be mailed, as the feed has it now; `postponed` has a later date by now."""

    current: tuple[Entry, ...]
    postponed: tuple[Kept, ...] = ()
    gone: int = 0


def reread(taken: Iterable[Kept], feed: Feed, now: datetime) -> Reread:
    """A post that was found in this very reading is not asked for once more."""
    present = waiting.by_name(model.unique(feed.entries))
    refreshed = [(kept, _refresh(kept, present)) for kept in taken]
    missing = _find_missing(entry.link for kept, entry in refreshed if entry and kept.found_at < now)
    alive = [
        (kept, entry) for kept, entry in refreshed if entry and (kept.found_at >= now or entry.link not in missing)
    ]
    return Reread(
        tuple(entry for _, entry in alive if not model.is_ahead(entry, now)),
        tuple(replace(kept, entry=entry) for kept, entry in alive if model.is_ahead(entry, now)),
        len(refreshed) - len(alive),
    )


def _refresh(kept: Kept, present: Mapping[bytes, Entry]) -> Entry | None:
    """None: it was taken down. A post that left the feed at its end is mailed as it was last."""
    return waiting.find(kept, present) or (None if kept.missing else kept.entry)


def _find_missing(links: Iterable[str]) -> Collection[str]:
    """Those whose server says that there is nothing. One that does not answer in time says nothing."""
    asked: Sequence[str] = sorted({link for link in links if link})
    if not asked:
        return ()
    deadline = time.monotonic() + _SECONDS
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as threads:
        answers = threads.map(lambda link: _is_missing(link, deadline), asked)
        return {link for link, missing in zip(asked, answers, strict=True) if missing}


def _is_missing(link: str, deadline: float) -> bool:
    left = deadline - time.monotonic()
    if left <= 0:
        return False
    try:
        return client.get(link, bounds=Bounds(seconds=left, largest=0)).status in _GONE
    except FetchFailed as failure:
        log.info("feed.link_unknown", kind=failure.kind)
        return False

"""Pictures that are elsewhere: read through the client for URLs that others chose, and published as our own copies.

The host of a picture learns who opens a mail that links to it, and when; so mails show copies.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Bounds, FetchFailed
from chalicelib.media import model, service
from chalicelib.media.model import PublicCopy

# What the functions that copy pictures have memory for, one at a time.
MOST_PIXELS = 16_000_000
_ACCEPTED = {"Accept": "image/jpeg, image/png, image/webp, image/gif"}
_LONGEST = 6.0
_AT_ONCE = 6
_decoding = threading.Lock()

# The copy, or why there is none.
Outcome = PublicCopy | Exception


def copy(url: str, seconds: float, width: int, height: int) -> PublicCopy:
    """Raises `FetchFailed` or `Invalid`."""
    return service.publish(_read(url, seconds), width, height, MOST_PIXELS)


def copy_many(urls: Sequence[str], seconds: float, width: int, height: int) -> dict[str, Outcome]:
    """All of them within that time, some at once. What fails says why, and keeps no other from being copied."""
    deadline = time.monotonic() + seconds

    def attempt(url: str) -> Outcome:
        try:
            return _copy_in_time(url, deadline, width, height)
        except Exception as failure:
            return failure

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as threads:
        return dict(zip(urls, threads.map(attempt, urls), strict=True))


def _copy_in_time(url: str, deadline: float, width: int, height: int) -> PublicCopy:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _out_of_time()
    if own := _find_own(url):
        return own
    content = _read(url, min(left, _LONGEST))
    # One at a time, because a large one takes the memory of many small ones.
    if not _decoding.acquire(timeout=max(deadline - time.monotonic(), 0)):
        raise _out_of_time()
    try:
        return service.publish(content, width, height, MOST_PIXELS)
    finally:
        _decoding.release()


def _read(url: str, seconds: float) -> bytes:
    answer = client.get(url, _ACCEPTED, Bounds(seconds, model.LARGEST))
    if answer.status != 200:
        raise FetchFailed("status", f"it answers with status {answer.status}")
    return answer.body


def _find_own(url: str) -> PublicCopy | None:
    """What is to be copied may be a copy already."""
    name = url.removeprefix(service.copy_url(""))
    return service.find_copy(name) if model.is_name(name) else None


def _out_of_time() -> FetchFailed:
    return FetchFailed("timeout", "no time left")

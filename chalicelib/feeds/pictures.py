"""The pictures of posts in a mail: our own copies, links to where they are, or none, as the publication wants it.

The host of a linked picture learns who opens the mail and when, so copies are the default. What cannot be copied in
time is left out: no mail waits for a picture.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from chalicelib.kernel import log, publication
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Bounds, FetchFailed
from chalicelib.media import model as media_model
from chalicelib.media import service as media

COPY, LINK = "copy", "link"
# What the functions that check the feed have memory for, one picture at a time.
_MOST_PIXELS = 16_000_000
# What is smaller is an icon, a line or a pixel that counts readers.
_SMALLEST = 40
_ACCEPTED = {"Accept": "image/jpeg, image/png, image/webp, image/gif"}
_LONGEST = 6.0
_AT_ONCE = 6
_decoding = threading.Lock()

Resolve = Callable[[Iterable[str]], Mapping[str, str]]


def as_they_are(addresses: Iterable[str]) -> Mapping[str, str]:
    return {address: address for address in addresses if address}


class Pictures:
    """For one check. `seconds` is what all of its copies may take; a copy that is made is not made again when the
    check has to decide once more."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._copies: dict[str, str] = {}

    def resolve(self, addresses: Iterable[str]) -> Mapping[str, str]:
        """Where mails find each of the pictures; one that is missing here is not shown."""
        asked = [address for address in dict.fromkeys(addresses) if address]
        images = publication.current().feed.images
        if images == LINK:
            return as_they_are(asked)
        return self._copy(asked) if images == COPY else {}

    def _copy(self, addresses: list[str]) -> Mapping[str, str]:
        missing = [address for address in addresses if address not in self._copies]
        if missing:
            started = time.monotonic()
            deadline = started + self._left
            with ThreadPoolExecutor(max_workers=_AT_ONCE) as threads:
                names = list(threads.map(lambda address: _publish(address, deadline), missing))
            found = zip(missing, names, strict=True)
            self._copies |= {address: media.copy_url(name) for address, name in found if name}
            self._left -= time.monotonic() - started
        return {address: self._copies[address] for address in addresses if address in self._copies}


def _publish(address: str, deadline: float) -> str:
    """The name of the copy, or nothing."""
    left = deadline - time.monotonic()
    if left <= 0:
        return ""
    try:
        if own := _find_own(address):
            return own
        answer = client.get(address, _ACCEPTED, Bounds(min(left, _LONGEST), media_model.LARGEST))
        if answer.status != 200:
            raise FetchFailed("status", str(answer.status))
        return _store(answer.body, deadline)
    except FetchFailed as failure:
        log.info("feed.picture_left_out", kind=failure.kind)
    except Invalid:
        log.info("feed.picture_left_out", kind="no_picture")
    except Exception as failure:
        # The bucket does not answer, or is not there: somebody has to look at it, but the mail is worth more.
        log.exception("feed.picture_failed", failure)
    return ""


def _find_own(address: str) -> str:
    """A post may show what is a copy already."""
    name = address.removeprefix(media.copy_url(""))
    return name if media_model.is_name(name) and media.find_copies([name]) else ""


def _store(content: bytes, deadline: float) -> str:
    """One at a time, because a large one takes the memory of many small ones."""
    if not _decoding.acquire(timeout=max(deadline - time.monotonic(), 0)):
        raise FetchFailed("timeout", "no time left")
    try:
        size = media_model.THUMBNAIL
        copy = media.publish(content, size, size, _MOST_PIXELS)
        return copy.name if min(copy.width, copy.height) >= _SMALLEST else ""
    finally:
        _decoding.release()

"""The pictures of posts in a mail: our own copies, links to where they are, or none, as the publication wants it.

The host of a linked picture learns who opens the mail and when, so copies are the default. What cannot be copied in
time is left out: no mail waits for a picture.
"""

import time
from collections.abc import Callable, Iterable, Mapping

from chalicelib.kernel import log, publication
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.http.client import FetchFailed
from chalicelib.media import model as media_model
from chalicelib.media import remote
from chalicelib.media import service as media
from chalicelib.media.model import PublicCopy

COPY, LINK = "copy", "link"
# What is smaller is an icon, a line or a pixel that counts readers.
_SMALLEST = 40

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
            found = remote.copy_many(missing, self._left, media_model.THUMBNAIL, media_model.THUMBNAIL)
            names = {address: _name_of(outcome) for address, outcome in found.items()}
            self._copies |= {address: media.copy_url(name) for address, name in names.items() if name}
            self._left -= time.monotonic() - started
        return {address: self._copies[address] for address in addresses if address in self._copies}


def _name_of(outcome: remote.Outcome) -> str:
    """Of the copy, or nothing."""
    match outcome:
        case PublicCopy(name, width, height):
            return name if min(width, height) >= _SMALLEST else ""
        case FetchFailed():
            log.info("feed.picture_left_out", kind=outcome.kind)
        case Invalid():
            log.info("feed.picture_left_out", kind="no_picture")
        case _:
            # The bucket does not answer, or is not there: somebody has to look at it, but the mail is worth more.
            log.exception("feed.picture_failed", outcome)
    return ""

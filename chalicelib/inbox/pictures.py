"""Our own copies of items' pictures. No page or mail loads one from where it was found: that host would learn who
reads what.

An item is stored first and shown without a picture. A message makes the copy; it may come twice, late, or for an item
that is gone. An image that cannot be copied is tried three times within a day, and then never again.
"""

from contextlib import suppress
from datetime import timedelta

from chalicelib.inbox import item_store, labels, picture_store
from chalicelib.inbox.model import Item
from chalicelib.inbox.picture_store import MOST_TRIES, Picturing
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.http.client import FetchFailed
from chalicelib.media import model as media_model
from chalicelib.media import remote
from chalicelib.media import service as media

# Another queue would cost money while nothing happens.
QUEUE = "feed"
COPY = "copy"

# The message is sent before the item is stored, so that no crash loses it, and arrives after that.
_DELAY = 15
_SECONDS = 8.0
# What the same address will not do better tomorrow.
_FINAL = ("refused", "too_large", "redirects")
_AGAIN_AFTER = {1: timedelta(hours=1), 2: timedelta(hours=18)}


def url(item: Item) -> str:
    """Where the copy is; empty while there is none."""
    return media.copy_url(item.picture) if item.picture else ""


def copy_soon(id: str) -> None:
    queues.send(QUEUE, {"kind": COPY, "item": id}, _DELAY)


def refresh(item: Item) -> bool:
    """Store what the provider tells now, and copy the picture if it has another one. Says whether it was stored."""
    stored = item_store.find(item.id)
    row = item_store.refresh(item)
    if row and stored:
        labels.renew(stored)
    if row and not picture_store.is_settled(row):
        copy_soon(item.id)
    return row is not None


def hide_other(id: str) -> None:
    """What one source showed must not stand beside the words of another, not even until these have a copy."""
    seen = picture_store.find(id)
    if seen and seen.name and not seen.is_settled:
        with suppress(Stale):  # somebody else has changed it at this moment, and has queued the copy
            picture_store.show(seen, "")


def copy(id: str) -> None:
    """Make the copy of the image that the item has now, if there is anything to do."""
    seen = picture_store.find(id)
    if not seen or seen.is_settled:
        return
    try:
        name = _publish(seen.image) if seen.image else ""
    except Invalid as refusal:
        _give_up(seen, refusal.reason)
    except FetchFailed as failure:
        if failure.kind in _FINAL:
            _give_up(seen, failure.kind)
        else:
            _try_again(seen, failure.kind)
    else:
        _show(seen, name)


def _publish(image: str) -> str:
    return remote.copy(image, _SECONDS, media_model.THUMBNAIL, media_model.THUMBNAIL).name


def _show(seen: Picturing, name: str) -> None:
    try:
        picture_store.show(seen, name)
    except Stale:
        # A twin was faster, or the item is gone. Otherwise it has another image now, and the message comes again.
        now = picture_store.find(seen.id)
        if now and not now.is_settled:
            raise
    else:
        log.info("picture.copied", item_id=seen.id)


def _give_up(seen: Picturing, reason: str) -> None:
    log.info("picture.not_copied", item_id=seen.id, reason=reason)
    picture_store.note_failure(seen, MOST_TRIES)


def _try_again(seen: Picturing, reason: str) -> None:
    """Postponed before it is noted: after a crash in between there is one try more, not one less."""
    tries = seen.tries + 1
    log.info("picture.not_copied_yet", item_id=seen.id, reason=reason, tries=tries)
    if tries < MOST_TRIES:
        media.postpone(QUEUE, {"kind": COPY, "item": seen.id}, clock.now() + _AGAIN_AFTER[tries])
    picture_store.note_failure(seen, tries)

"""Pages that were saved when there was no time left to read them: the worker reads them a little later.

A message names the item only. It may come twice, late, or for a page that was read or forgotten meanwhile.
"""

from msgspec.structs import replace

from chalicelib.inbox import delivery, item_store, model, page_reading, pictures
from chalicelib.inbox.model import DESK, Trust
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues

# Shared with polls and pictures: another queue would cost money while nothing happens.
QUEUE = "feed"
READ = "read_page"

_MOST_TRIES = 3
# The message is sent before the item is stored, so that no crash loses it, and arrives after that.
_DELAY = 15
# The longest a queue delays a message.
_AGAIN_AFTER = 900


def read_soon(id: str, tries: int = 0) -> None:
    """`tries` have failed."""
    queues.send(QUEUE, {"kind": READ, "item": id, "tries": tries}, _AGAIN_AFTER if tries else _DELAY)


def read(id: str, tries: int) -> None:
    """Unless it was read meanwhile. What the desk has saved is read for the desk."""
    stored = item_store.find(id)
    if not stored or not stored.problem:
        return
    reading = page_reading.read_again(stored.canonical_url)
    reader = (DESK,) if stored.trust >= Trust.DESK_CLAIMED else ()
    item = model.vouch(replace(page_reading.to_item(reading, clock.now()), id=id), reader)
    if item.problem and tries + 1 < _MOST_TRIES:
        read_soon(id, tries + 1)
    if item.image:
        pictures.copy_soon(id)
    delivery.deliver(item, [], clock.now())
    log.info("page.read_later", item_id=id, tries=tries + 1, is_read=not item.problem)

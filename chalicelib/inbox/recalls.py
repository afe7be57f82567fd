"""What a member has withdrawn leaves every campaign that is not sent, and its photo is public no longer. What was
sent stays, with its photo. It leaves the older versions of every campaign, also of one that used it before.

Every step may be repeated, by a twin or after a crash. Nothing can begin to use what is withdrawn.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from chalicelib.campaigns import removal
from chalicelib.inbox import use_store
from chalicelib.kernel import log
from chalicelib.kernel.errors import Conflict, NotFound
from chalicelib.media import service as media


def handle(message: Mapping[str, Any]) -> None:
    recall_all(str(id) for id in message["items"])


def recall_all(item_ids: Iterable[str]) -> None:
    for id in item_ids:
        recall(id)


def recall(item_id: str) -> None:
    """Nothing happens if it is shared, still or again."""
    used = use_store.find(item_id)
    if not used.is_withdrawn:
        return
    for campaign_id in sorted(used.campaigns | used.earlier):
        with suppress(Conflict, NotFound):  # sent, being sent, or deleted at this moment
            removal.take_out(campaign_id, item_id)
            log.info("offer.taken_out", item_id=item_id, campaign_id=campaign_id)
    for name in used.copies:
        media.unpublish(name)  # unless a campaign uses it: one that was sent, or has it without the item
    if used.copies or used.earlier or used.campaigns:
        use_store.forget(item_id, used)

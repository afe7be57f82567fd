"""What this room asks of its worker, on the queue it shares with the watched feed. A message names ids only, and the
address of a feed that is to be followed."""

from collections.abc import Mapping
from itertools import islice

from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Unavailable

QUEUE = "feed"
POLL, FORGET, FORGET_OWNER = "poll", "forget", "forget_owner"
DISCONNECT, REVIVE = "disconnect", "revive"
FOLLOW_URL = "follow_url"
KINDS = frozenset({POLL, FORGET, FORGET_OWNER, DISCONNECT, REVIVE, FOLLOW_URL})

# After this, no poll that had read its followers before can still be under way.
_SETTLED_SECONDS = 300
# After this, a request has ended, one way or another.
_ENDED_SECONDS = 60
# Between two tries to follow what does not answer: the longest a queue delays a message.
_TRY_AGAIN_SECONDS = 900
# What a queue takes at once.
_TOGETHER = 10


def poll_soon(creator_id: str) -> None:
    """If this is lost, the next sweep finds that it is due."""
    try:
        queues.send(QUEUE, {"kind": POLL, "creator": creator_id})
    except Unavailable:
        log.warning("following.not_hurried", creator_id=creator_id)


def forget_later(owner: str, follow_id: str) -> None:
    """For what there is too much of, and for what a poll that is under way still brings."""
    queues.send(QUEUE, {"kind": FORGET, "owner": owner, "follow": follow_id}, _SETTLED_SECONDS)


def forget_owner_later(owner: str) -> None:
    """For what a poll that is under way still brings to somebody who has gone."""
    queues.send(QUEUE, {"kind": FORGET_OWNER, "owner": owner}, _SETTLED_SECONDS)


def disconnect_follows(owner: str, provider: Provider, at_once: bool) -> None:
    message = {"kind": DISCONNECT, "owner": owner, "provider": provider.value, "at": clock.text(clock.now())}
    queues.send(QUEUE, message, 0 if at_once else _SETTLED_SECONDS)


def revive_follows(owner: str, provider: Provider, at_once: bool) -> None:
    message = {"kind": REVIVE, "owner": owner, "provider": provider.value}
    queues.send(QUEUE, message, 0 if at_once else _ENDED_SECONDS)


def follow_later(owner: str, urls: Mapping[str, int]) -> set[str]:
    """Each after so many seconds. Those that are on the queue now; one of the others may be, too."""
    taken: set[str] = set()
    waiting = iter(urls.items())
    while batch := list(islice(waiting, _TOGETHER)):
        messages = [(_follow_message(owner, url, 0), delay) for url, delay in batch]
        try:
            if queues.send_many(QUEUE, messages) == len(batch):
                taken |= {url for url, _ in batch}
        except Unavailable:
            log.warning("following.not_queued", feeds=len(batch))
    return taken


def follow_again_later(owner: str, url: str, tries: int) -> None:
    queues.send(QUEUE, _follow_message(owner, url, tries), _TRY_AGAIN_SECONDS)


def _follow_message(owner: str, url: str, tries: int) -> dict[str, str | int]:
    return {"kind": FOLLOW_URL, "owner": owner, "url": url, "tries": tries}

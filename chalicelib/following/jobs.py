"""Scheduled and queued work: finding creators that are due, polling them, and what a day leaves to do."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from chalicelib.following import maintenance, messages, model, opml_import, polling, reconnecting, service
from chalicelib.following.model import Cause, Creator, FollowStatus
from chalicelib.following.providers.registry import SOURCES
from chalicelib.following.stores import creators, followers
from chalicelib.inbox import departures, links
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Unavailable

# The longest a queue delays a message, which is also the time between two sweeps.
_SPREAD_SECONDS = 900
# A hub that a feed names may be anybody's, and whoever has it can push as often as they like.
_PUSH_PAUSE = timedelta(minutes=5)
_YOUTUBE_ENTRY = "yt:video:"


class Unfinished(Exception):
    """There was no time for all of it: the message comes again."""


def sweep() -> None:
    """Queue a poll of every creator that is due, spread over time so that no provider is asked faster than it likes.
    What is not queued, or is lost, is still due at the next sweep."""
    now = clock.now()
    for provider in model.PROVIDERS:
        rate = SOURCES[provider].polls_per_second
        due = creators.list_due(provider, now, most=rate * _SPREAD_SECONDS)
        queued = queues.send_many(messages.QUEUE, _spread(due, rate))
        if due:
            log.info("following.swept", provider=provider.value, due=len(due), queued=queued)


def handle(message: Mapping[str, Any], time_left: Callable[[], bool]) -> None:
    """One message of this room, or a push by a hub (`feed` is the creator)."""
    if "feed" in message:
        _take_push(message, time_left)
        return
    match message["kind"]:
        case messages.POLL:
            _poll(message)
        case messages.FORGET:
            _finish(service.forget_ended(str(message["owner"]), str(message["follow"]), time_left))
        case messages.FORGET_OWNER:
            _finish(departures.forget(str(message["owner"]), time_left))
        case messages.DISCONNECT:
            ended_at = clock.parse(str(message["at"]))
            provider = Provider(message["provider"])
            _finish(reconnecting.disconnect(str(message["owner"]), provider, ended_at, time_left))
        case messages.REVIVE:
            _finish(reconnecting.revive(str(message["owner"]), Provider(message["provider"]), time_left))
        case messages.FOLLOW_URL:
            opml_import.follow_queued(str(message["owner"]), str(message["url"]), int(message["tries"]))
        case unknown:
            raise ValueError(f"No such message: {unknown}")


def maintain(time_left: Callable[[], bool]) -> None:
    maintenance.run(time_left)


def _spread(due: list[creators.Due], rate: int) -> Iterator[tuple[dict[str, str], int]]:
    for place, one in enumerate(due):
        yield {"kind": messages.POLL, "creator": one.id, "due": one.at}, place // rate


def _poll(message: Mapping[str, Any]) -> None:
    polling.poll(str(message["creator"]), Cause.SCHEDULE, message.get("due"))


def _take_push(message: Mapping[str, Any], time_left: Callable[[], bool]) -> None:
    """Whatever it says of new items, the provider is asked. A poll that began after the push came has seen it."""
    creator = creators.find(str(message["feed"]))
    if creator is None:
        return
    for reference in message.get("deleted", ()):
        _finish(_mark_deleted(creator, str(reference), time_left))
    if creator.last_polled_at and creator.last_polled_at >= clock.parse(str(message["at"])):
        return
    if creator.not_before and creator.not_before > clock.now():
        return
    if too_early := _find_pause_end(creator):
        creators.make_due(creator, too_early)
        return
    outcome = polling.poll(creator.id, Cause.PUSH)
    if outcome.result is polling.Result.SKIPPED:
        raise Unavailable("It is being polled at this moment")  # by a poll that may have begun before the push


def _find_pause_end(creator: Creator) -> datetime | None:
    """Until when a push does not poll, if it does not; the next sweep after that does. What the desk follows was
    chosen by the editors, and is believed to be in a hurry."""
    polled_at = creator.attempted_at or creator.last_polled_at
    if not SOURCES[creator.provider].is_anybodys or not polled_at or polled_at + _PUSH_PAUSE <= clock.now():
        return None
    desk = followers.find(creator.id, DESK)
    return None if desk and desk.status is FollowStatus.ACTIVE else polled_at + _PUSH_PAUSE


def _mark_deleted(creator: Creator, reference: str, time_left: Callable[[], bool]) -> bool:
    """A hub speaks for the channel it was asked about, and for no other."""
    identity = links.identify(f"https://www.youtube.com/watch?v={reference.removeprefix(_YOUTUBE_ENTRY)}")
    item = inbox.find_item(links.item_id(identity)) if identity and reference.startswith(_YOUTUBE_ENTRY) else None
    if not item or item.creator_id != creator.id:
        return True
    return inbox.mark_unavailable(item.id, time_left)


def _finish(done: bool) -> None:
    if not done:
        raise Unfinished

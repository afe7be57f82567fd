"""Does one thing on request, and dies by SIGKILL when it has made so many steps of it.

A step is whatever leaves the process: a call to AWS, to a provider or to a hub. Started once as a process that has
loaded what is needed and connected to nobody; for every line on its standard input (an order, as JSON) it forks a
child, lets it live, and says how it ended: killed, done, or failed. Dying before a step is dying after the last one.
"""

import json
import os
import signal
import sys
import traceback
from datetime import timedelta
from typing import Any

from chalicelib.audience import filling, places
from chalicelib.audience.imports import jobs as import_jobs
from chalicelib.audience.stores import filling as filling_store
from chalicelib.audience.tags import aim_keepers
from chalicelib.audience.tags import jobs as tag_jobs
from chalicelib.campaigns import content_store, delivery_store, removal, versions
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns import store as campaign_store
from chalicelib.events import store as event_store
from chalicelib.following import connections, jobs, messages, service
from chalicelib.following.stores import connections as connection_store
from chalicelib.following.stores import counters, creator_row, followers, follows, notifications, polls
from chalicelib.inbox import entry_store, item_store
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import ContentType, Item, Provider, Recipient, item_id
from chalicelib.kernel import clock, limits, locks, settings
from chalicelib.kernel.aws import connection, raw, session
from chalicelib.kernel.http import client

# After which what is left of something that has ended is looked at again.
SETTLED_SECONDS = 2

_ROWS = (
    *(event_store.EventRow, connection_store.ConnectionRow, connection_store.StateRow, counters.CounterRow),
    *(creator_row.CreatorRow, followers.FollowerRow, follows.FollowRow, notifications.NotificationRow),
    *(notifications.ActiveRow, polls.SeenRow, entry_store.EntryRow, item_store.ItemRow, locks.LockRow),
    *(limits.LimitRow, campaign_store.CampaignRow, content_store.ContentRow, delivery_store.DeliveryRow),
)


def handle(message: dict[str, Any]) -> None:
    """A message of the queue."""
    jobs.handle(message, lambda: True)


def sweep() -> None:
    jobs.sweep()


def follow(owner: str, provider: str, channel_id: str) -> None:
    service.follow(owner, Provider(provider), channel_id)


def unfollow(owner: str, follow_id: str) -> None:
    service.unfollow(owner, follow_id)


def pause(owner: str, follow_id: str) -> None:
    service.pause(owner, follow_id)


def resume(owner: str, follow_id: str) -> None:
    service.resume(owner, follow_id)


def complete(owner: str, provider: str, code: str, state: str, verifier: str) -> None:
    connections.complete(owner, Provider(provider), code, state, verifier)


def disconnect(owner: str, provider: str) -> None:
    connections.disconnect(owner, Provider(provider))


def deliver(title: str, owners: list[str]) -> None:
    inbox.deliver(make_item(title), [Recipient(owner, f"follow of {owner}") for owner in owners], clock.now())


def work_tags(job_id: str) -> None:
    aim_keepers.register("campaigns.retagging")  # as `app.py` does
    tag_jobs.work(job_id, lambda: True)


def work_import(import_id: str) -> None:
    import_jobs.work(import_id, lambda: True)


def save_draft(campaign_id: str, body: str, autosave: bool) -> None:
    campaigns.update(campaign_id, {}, {"body": body}, saver=campaigns.Saver("ada@example.org", autosave))


def restore_version(campaign_id: str, number: int) -> None:
    versions.restore(campaign_id, number, "ben@example.org")


def delete_draft(campaign_id: str) -> None:
    campaigns.delete(campaign_id)


def take_out(campaign_id: str, entry: str) -> None:
    removal.take_out(campaign_id, entry)


def make_item(title: str) -> Item:
    moment = clock.parse("2026-11-17T12:00:00.000Z")
    id = item_id(Provider.YOUTUBE, title)
    url = "https://www.youtube.com/watch?v=1"
    return Item(id, Provider.YOUTUBE, title, ContentType.VIDEO, title, url, moment, creator="A Channel")


def fill_rows() -> None:
    filling_store._TOGETHER = 5
    filling.fill(lambda: True)


def merge_places() -> None:
    places._TOGETHER, places._WORTH_MERGING, places._MOST_MERGED = 10, 0, 4
    places.merge(lambda: True)


_DONE_HERE = (
    *(handle, sweep, follow, unfollow, pause, resume, complete, disconnect, deliver, work_import, work_tags),
    *(save_draft, restore_version, delete_draft, take_out),
    *(fill_rows, merge_places),
)
ACTIONS = {act.__name__: act for act in _DONE_HERE}


def main() -> None:
    _get_ready()
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _live(order)
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else "failed" if status else "done", flush=True)


def _get_ready() -> None:
    """Whatever can be made without connecting is made once, not in every life."""
    import zoneinfo  # noqa: F401

    import cryptography.hazmat.primitives.ciphers.aead  # noqa: F401
    import urllib3.connection  # noqa: F401

    connection.patient().client  # noqa: B018 - made by being asked for
    for one in (raw._SQS, raw._DYNAMODB):
        raw._connection(session.botocore_session(), one)
    for row in _ROWS:
        row._get_connection()


def _live(order: dict[str, Any]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        _set_up(order["environment"], timedelta(seconds=order["ahead"]))
        _die_after(order["steps"])
        ACTIONS[order["action"]](*order["given"])
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _set_up(environment: dict[str, str], ahead: timedelta) -> None:
    os.environ.clear()
    os.environ.update(environment)
    settings.current.cache_clear()
    settings._secrets.cache_clear()
    settings._provider_secrets.cache_clear()
    messages._SETTLED_SECONDS = SETTLED_SECONDS
    real = clock.now
    clock.now = lambda: real() + ahead


def _die_after(steps: int) -> None:
    from botocore.httpsession import URLLib3Session

    remaining = [steps]

    def counted(call: Any) -> Any:
        def step(*given: Any, **named: Any) -> Any:
            if remaining[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            remaining[0] -= 1
            return call(*given, **named)

        return step

    URLLib3Session.send = counted(URLLib3Session.send)  # type: ignore[method-assign]
    client._request = counted(client._request)


if __name__ == "__main__":
    main()

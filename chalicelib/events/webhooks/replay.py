"""Sending again what was already sent: one event, or all events of a time range, under the same ids."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from chalicelib.events import service as events
from chalicelib.events.model import KEPT, Event
from chalicelib.events.webhooks import store
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.errors import Invalid, NotFound

_AT_ONCE = 100


def replay_event(webhook_id: str, event_id: str) -> None:
    event = events.find_relayed(event_id)
    if event is None:
        raise NotFound("No such event in the last 30 days")
    tables.transact(store.owe_write(webhook_id, event, clock.now()))
    queues.send("events", {"destination": webhook_id})


def replay_range(webhook_id: str, start: str | None, end: str | None) -> None:
    """Done in the background, one message per page: the range may hold more than a request has time for."""
    first, last = _moment("from", start), _moment("to", end)
    if last < first:
        raise Invalid("from must be before to")
    oldest = clock.now() - KEPT
    if last < oldest:
        raise Invalid("Events are kept for 30 days: none are left from that time")
    first = max(first, oldest)
    queues.send(
        "events",
        {
            "replay": webhook_id,
            "day": first.date().isoformat(),
            "shard": 0,
            "after": ids.since(first),
            "first": ids.since(first),
            "until": ids.since(last) + "~",
        },
    )


def replay_page(message: Mapping[str, Any]) -> None:
    """Owe the webhook the next page, and send a message for the rest. Done twice, it owes the same events once."""
    webhook = store.get(message["replay"])
    now = clock.now()
    onward: Mapping[str, Any] | None = message if webhook else None
    while webhook and onward:
        page = _page(onward)
        writes = [store.owe_write(webhook.id, event, now) for event in page if webhook.wants(event.type)]
        onward = _onward(onward, page[-1].id if len(page) == _AT_ONCE else None, now)
        if writes:
            tables.transact(*writes)
            queues.send("events", {"destination": webhook.id})
            break
    if onward:
        queues.send("events", onward)


def _page(message: Mapping[str, Any]) -> list[Event]:
    day = date.fromisoformat(message["day"])
    return events.list_relayed(day, int(message["shard"]), message["after"], message["until"], _AT_ONCE)


def _onward(message: Mapping[str, Any], last: str | None, now: datetime) -> Mapping[str, Any] | None:
    """What comes next: the rest of the same shard, the next shard of the day, the next day; None at the end."""
    day, shard = date.fromisoformat(message["day"]), int(message["shard"])
    if last:
        return {**message, "after": last + "~"}
    if shard + 1 < events.SHARDS:
        return {**message, "shard": shard + 1, "after": message["first"]}
    if day < now.date():
        return {**message, "day": (day + timedelta(days=1)).isoformat(), "shard": 0, "after": message["first"]}
    return None


def _moment(name: str, text: str | None) -> datetime:
    try:
        moment = clock.parse(text or "")
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise Invalid(f"{name} must be a time such as 2026-11-16T08:00:00Z")
    return moment

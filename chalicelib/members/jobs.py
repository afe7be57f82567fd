"""Background work: the queue `members` (mails, departures) and the hourly clean-up."""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from chalicelib.kernel import clock, log
from chalicelib.kernel.sweeping import Sweep
from chalicelib.members import departures, mails, model, service
from chalicelib.members.stores import members
from chalicelib.members.stores import tokens as token_store

# Ten messages come at once, and all of them have to be done within the time of one call.
_SECONDS_A_MESSAGE = 9
# A departure that takes longer has lost its message.
_OVERDUE = timedelta(minutes=10)


def handle(message: Mapping[str, Any]) -> None:
    """One message of the queue."""
    kind = str(message["kind"])
    if kind == model.DEPART:
        departures.finish(str(message["member_id"]), _time_left())
    elif kind == model.INVITE:
        mails.send_invitation(str(message["invitation_id"]))
    else:
        mails.send(kind, str(message["member_id"]), message.get("network"))


def clean_up(time_left: Callable[[], bool]) -> None:
    """Close accounts whose address nobody verified in time, finish departures whose message was lost (while members
    are off, nobody listens to the queue), and delete links and invitations that have expired. Each step is complete
    in itself, so a run that is cut short, or runs beside another, leaves nothing half done; one that fails does not
    keep the others waiting."""
    now = clock.now()
    sweep = Sweep("members.not_cleaned_up", time_left)
    closed = sweep.each(members.list_due(model.VERIFY, now), service.close_unverified)
    departing = members.list_due(model.DEPART, now - _OVERDUE)
    finished = sweep.each(departing, lambda member_id: departures.finish(member_id, time_left))
    forgotten = sweep.each(token_store.list_expired(now), token_store.forget)
    log.info("members.cleaned_up", closed=closed, departures=finished, tokens=forgotten)
    sweep.finish()


def _time_left() -> Callable[[], bool]:
    ends = time.monotonic() + _SECONDS_A_MESSAGE
    return lambda: time.monotonic() < ends

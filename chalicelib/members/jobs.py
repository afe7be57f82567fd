"""Background work: the queue `members` (mails, departures) and the hourly clean-up."""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from chalicelib.kernel import clock, log
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
    in itself, so a run that is cut short, or runs beside another, leaves nothing half done."""
    now = clock.now()
    closed = finished = forgotten = 0
    for member_id in members.list_due(model.VERIFY, now):
        if not time_left():
            break
        closed += service.close_unverified(member_id)
    for member_id in members.list_due(model.DEPART, now - _OVERDUE):
        if not time_left():
            break
        departures.finish(member_id, time_left)
        finished += 1
    for row in token_store.list_expired(now):
        if not time_left():
            break
        token_store.forget(row)
        forgotten += 1
    log.info("members.cleaned_up", closed=closed, departures=finished, tokens=forgotten)


def _time_left() -> Callable[[], bool]:
    ends = time.monotonic() + _SECONDS_A_MESSAGE
    return lambda: time.monotonic() < ends

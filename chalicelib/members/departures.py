"""Leaving. In one transaction the account loses its address and password and leaves every list; what other rooms
store about the member is deleted after that, by the queue's worker, and by the clean-up if a message was lost."""

from collections.abc import Callable

from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Unavailable
from chalicelib.members import member_data, messages
from chalicelib.members.model import Member
from chalicelib.members.stores import emails, members
from chalicelib.members.stores import tokens as token_store


def leave(member: Member) -> None:
    """The address is free again. `Stale` if the account has changed since it was read."""
    tables.transact(
        *members.leave_writes(member, clock.now()),
        *emails.free_writes(member),
        *token_store.end_all_writes(member.id),
    )
    log.info("member.left", member_id=member.id)
    try:
        messages.finish_departure(member.id)
    except Unavailable:
        log.warning("departure.not_queued", member_id=member.id)  # the clean-up finds it


def finish(member_id: str, time_left: Callable[[], bool]) -> None:
    """What other rooms store, as far as there is time now. Twice is as good as once."""
    if not members.is_departing(member_id):
        return
    if member_data.forget(member_id, time_left):
        members.finish_departure(member_id)
    else:
        messages.finish_departure(member_id)

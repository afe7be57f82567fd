"""People whose address does not work any more: how many there are, and pausing or removing them all when an editor
says so, in portions through the queue."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from msgspec import Struct

from chalicelib.audience import erasure, pausing, recipients
from chalicelib.bounces import store
from chalicelib.bounces.model import KEPT, Bounce
from chalicelib.events import outbox
from chalicelib.kernel import addresses, clock, log
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.findings import Finding, Level

PAUSE, REMOVE = "pause", "remove"
ACTIONS = (PAUSE, REMOVE)
SETTLE = "settle-bounced"
# What SES does: https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html
REVIEWED_AT, PAUSED_AT = "5%", "10%"
_QUEUE = "mail-events"
_PORTION = 100
_ENOUGH = 1000


class Failing(Struct, frozen=True):
    """`people` whose mail bounced permanently this week. SES does not send to those of them who are `suppressed`, and
    does not count them in the bounce rate. There are more if it is not `complete`."""

    people: int
    suppressed: int
    complete: bool = True


def count(most: int | None = None, paused: bool = False) -> Failing:
    """Without those who left, confirmed or resumed since and, unless `paused`, without those who are paused. With
    `most`, so many at most are looked up."""
    latest: dict[str, Bounce] = {}
    for bounce in store.list_newest(clock.now()):
        if bounce.is_lasting:
            latest.setdefault(bounce.subscriber_id, bounce)
    people = recipients.look_up(list(latest)[:most])
    found = [
        latest[person.id]
        for person in people.values()
        if not person.is_newer_than(latest[person.id].at) and (paused or not person.paused_at)
    ]
    suppressed = sum(bounce.is_on_account_list for bounce in found)
    return Failing(len(found), suppressed, most is None or len(latest) <= most)


def check(recipients: int | None = None) -> Iterator[Finding]:
    """What to know before the next campaign; with how many it goes to, which share of them would bounce."""
    failing = count(_ENOUGH)
    if not failing.people:
        return
    why = f"SES reviews an account when {REVIEWED_AT} of its emails bounce, and may pause it at {PAUSED_AT}"
    if failing.suppressed:
        why += f"; it does not count those on its suppression list ({failing.suppressed:,} of {failing.people:,})"
    counted = failing.people - failing.suppressed
    if recipients and failing.complete and counted:
        without = "without them, " if failing.suppressed else "here "
        why += f"; {without}{counted / recipients:.1%} of the recipients would bounce"
    yield Finding(
        Level.WARNING, "bounced", _message(failing), why, "Pause or remove them", "/admin/bounces", "Bounces"
    )


def start(action: str) -> None:
    """Have everybody paused or removed whose mail has bounced permanently this week, up to now."""
    if action not in ACTIONS:
        raise Invalid(f"action must be {PAUSE} or {REMOVE}")
    now = clock.now()
    _continue(action, clock.text(now - KEPT), now + timedelta(milliseconds=1))


def settle(message: Mapping[str, Any]) -> None:
    """One portion; the next is a message of its own. Repeating a portion changes nothing."""
    action, until = str(message["action"]), clock.parse(message["until"])
    bounces, last = store.list_portion(str(message["after"]), until, _PORTION)
    people = recipients.look_up(sorted({bounce.subscriber_id for bounce in bounces if bounce.is_lasting}))
    for bounce in bounces:
        person = people.get(bounce.subscriber_id)
        if not person or not bounce.is_lasting or person.is_newer_than(bounce.at):
            continue
        if action == REMOVE:
            erasure.remove_bounced(person.id, addresses.key(person.email), bounce.at)
        elif not person.paused_at:
            retry_stale(partial(_pause, bounce))
    if last:
        _continue(action, last, until)
    log.info("bounced.settled", action=action, bounces=len(bounces), done=last is None)


def _pause(bounce: Bounce) -> None:
    writes = pausing.pause_writes(bounce.subscriber_id, bounce.pause_reason, bounce.at)
    if writes:
        tables.transact(*writes)
        outbox.relay_soon(bounce.subscriber_id)


def _continue(action: str, after: str, until: datetime) -> None:
    queues.send(_QUEUE, {"kind": SETTLE, "action": action, "after": after, "until": clock.text(until)})


def _message(failing: Failing) -> str:
    if failing.people == 1 and failing.complete:
        return "1 person whose email bounced permanently this week is still a recipient"
    number = f"{failing.people:,}" if failing.complete else f"More than {failing.people:,}"
    return f"{number} people whose email bounced permanently this week are still recipients"

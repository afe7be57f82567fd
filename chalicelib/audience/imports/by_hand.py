"""One subscriber added by hand, with the same question about consent and judged by the same rules as a row."""

from datetime import datetime

from msgspec import Struct

from chalicelib.audience import counts, model, sign_ups
from chalicelib.audience.imports import adding, judging, known
from chalicelib.audience.imports.adding import Changes, Terms
from chalicelib.audience.imports.judging import Verdict
from chalicelib.audience.imports.model import Consent, Result
from chalicelib.audience.imports.reading.model import Row, Status
from chalicelib.audience.model import Subscriber
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import clock
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Conflict

_REFUSALS = {
    Result.ALREADY: "Already subscribed, or asked to confirm",
    Result.SUPPRESSED: "This person asked never to be contacted",
    Result.LEFT_ELSEWHERE: "This person left or bounced before: they can sign up by themselves",
    Result.UNCONFIRMED: "Without consent nobody is added: share a link to your sign-up form instead",
}


class NewSubscriber(Struct, frozen=True):
    address: Address
    nickname: str | None
    source: str
    tags: tuple[str, ...]
    consent: Consent


def add(wanted: NewSubscriber) -> str:
    """Returns their id. They are active at once, or asked to confirm, as the consent says."""
    added, result = retry_stale(lambda: _add(wanted))
    if result is Result.ASKED:
        queues.send("audience", {"kind": model.CONFIRM, "subscriber_id": added.id})
    outbox.relay_soon(added.id)
    return added.id


def _add(wanted: NewSubscriber) -> tuple[Subscriber, Result]:
    now = clock.now()
    person = known.look_up([wanted.address.key])[wanted.address.key]
    result, _ = judging.decide(Status.MAILABLE, person, wanted.consent.outcome(now.date()))
    if result in _REFUSALS:
        raise Conflict(_REFUSALS[result])
    verdict = Verdict(_row(wanted), result, person=person)
    terms = Terms(None, wanted.consent, wanted.source, wanted.tags)
    changes = adding.changes_for(verdict, terms, now)
    assert changes.subscriber
    tables.transact(*changes.writes, *_event_writes(changes, result, now))
    return changes.subscriber, result


def _event_writes(changes: Changes, result: Result, now: datetime) -> list[Write]:
    person = changes.subscriber
    assert person
    (source,) = person.sources or person.requested_sources
    created = sign_ups.event_write(EventType.SUBSCRIPTION_CREATED, person.id, source)
    if result is Result.ASKED:
        return [created]
    confirmed = sign_ups.event_write(EventType.SUBSCRIPTION_CONFIRMED, person.id, source)
    return [created, confirmed, *counts.move_writes(now, joined=[person])]


def _row(wanted: NewSubscriber) -> Row:
    return Row(
        number=0,
        file="",
        line=1,
        cells=[],
        typed=wanted.address.typed,
        address=wanted.address,
        problem=None,
        name=wanted.nickname,
    )

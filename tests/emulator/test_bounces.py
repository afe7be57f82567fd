"""A bounce on its way from SES to the next campaign, on real tables, topics and queues."""

import json
from typing import Any

import pytest

from chalicelib.audience import counts, pausing, recipients
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.bounces import failing, jobs, store
from chalicelib.campaigns.model import Counts, DeliveryState
from chalicelib.events.store import EventRow
from chalicelib.kernel.aws import session, tables
from tests.emulator.sending import ended, mails, sent
from tests.rooms.bounces.test_failing import bounced
from tests.rooms.bounces.test_service import event
from tests.rooms.campaigns.crowd import gather, write

BOUNCING = "bounce+ann@simulator.amazonses.com"


@pytest.fixture
def ann(emulator: Any, configure: Any) -> str:
    """Somebody whose mails bounce."""
    configure(BOUNCES="pause", FROM_EMAIL="news@example.org")
    (id,) = gather(1, email=BOUNCING)
    write("emails", [{"address": BOUNCING, "subscriber_id": id}])
    return id


@pytest.fixture
def topic(emulator: Any) -> Any:
    """What SES publishes to, and what reads it for us."""
    sns, sqs = session.client("sns"), session.client("sqs")
    arn = sns.create_topic(Name="bounces-said")["TopicArn"]
    url = sqs.get_queue_url(QueueName=f"{tables.name('mail-events')}")["QueueUrl"]
    queue = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=arn, Protocol="sqs", Endpoint=queue, Attributes={"RawMessageDelivery": "true"})
    return lambda report: sns.publish(TopicArn=arn, Message=json.dumps(report))


def _happened(type: str) -> int:
    return sum(row.type == type for row in EventRow.scan(consistent_read=True))


def test_who_bounced_is_paused_and_the_next_campaign_skips_them(
    short_leases: None, ann: str, topic: Any, ses: Any, work: Any, tick: Any
) -> None:
    others = gather(20)
    first = ended(sent(), work, tick)
    assert first.counts == Counts(21, 21, 0, 0)
    report = event("event_bounce_permanent")
    report["mail"] |= {"destination": [BOUNCING], "tags": {"delivery": [first.id]}}
    report["bounce"]["bouncedRecipients"] = [{"emailAddress": "rfc822;somebody@elsewhere.example."}]
    report["bounce"] = {**report["bounce"], "timestamp": first.finished_at and first.finished_at.isoformat()}
    for _ in range(2):  # SNS delivers at least once
        topic(report)
    work.until(lambda: pausing.count() == 1)
    work("mail-events")
    assert (_happened("BOUNCE_RECORDED"), _happened("SUBSCRIBER_PAUSED")) == (1, 1)
    second = ended(sent(), work, tick)
    assert (second.state, second.counts) == (DeliveryState.SENT, Counts(20, 20, 0, 0))
    assert mails(ses)[BOUNCING] == 1
    pausing.resume(ann, pausing.BY_EDITOR)
    assert ended(sent(), work, tick).counts == Counts(21, 21, 0, 0)
    assert mails(ses)[BOUNCING] == 2
    assert len(others) == 20


def test_who_is_paused_while_a_campaign_waits_is_left_out_of_it(
    short_leases: None, ann: str, ses: Any, work: Any, tick: Any
) -> None:
    gather(5)
    delivery = sent()
    work("deliveries")  # cut into parts, and not sent yet
    pausing.pause(ann)
    over = ended(delivery, work, tick)
    assert over.counts == Counts(5, 5, 0, 0)
    assert BOUNCING not in mails(ses)


@pytest.mark.parametrize("attempt", range(5))
def test_a_bounce_and_an_unsubscribe_at_the_same_moment(
    ann: str, http: Any, together: Any, work: Any, attempt: int
) -> None:
    report = event("event_bounce_permanent")
    report["mail"]["destination"] = [BOUNCING]
    leave = lambda: http.get(f"/api/unsubscribe?token={ann}.{'s' * 32}")  # noqa: E731
    bounce = lambda: jobs.handle(report)  # noqa: E731
    answer, *others = together(leave, bounce, bounce)
    assert answer.status == 200
    assert all(result is None for result in others), others
    work()
    assert not list(SubscriberRow.scan(consistent_read=True))
    assert (_happened("UNSUBSCRIBED"), pausing.count(), counts.total()) == (1, 0, -1)
    assert len(list(store.BounceRow.query("bounces", consistent_read=True))) <= 1


def test_many_who_bounced_are_paused_in_portions_by_two_at_once(
    ann: str, work: Any, together: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failing, "_PORTION", 20)
    people = gather(90)
    bounced(people)
    failing.start(failing.PAUSE)
    failing.start(failing.PAUSE)
    together(lambda: work("mail-events"), lambda: work("mail-events"))
    work()
    assert all(person.paused_at for person in recipients.look_up(people).values())
    assert (pausing.count(), _happened("SUBSCRIBER_PAUSED")) == (90, 90)

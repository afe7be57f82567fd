"""Events on a real event bus: a rule brings them to a queue, as it would to the operator's other systems."""

import json

import pytest

from chalicelib.kernel import settings
from chalicelib.kernel.aws import session


@pytest.fixture
def bus(emulator, sqs, configure):
    """A bus with a rule that sends everything of ours to a queue; gives what arrived."""
    configure(EVENT_BUS="gna-test-bus")
    events = session.client("events")
    events.create_event_bus(Name="gna-test-bus")
    url = sqs.create_queue(QueueName="heard")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name="all", EventBusName="gna-test-bus", EventPattern=json.dumps({"source": ["gna"]}))
    events.put_targets(Rule="all", EventBusName="gna-test-bus", Targets=[{"Id": "1", "Arn": arn}])

    def arrived() -> list[dict]:
        found = []
        while batch := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for message in batch:
                found.append(json.loads(message["Body"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return found

    yield arrived
    events.remove_targets(Rule="all", EventBusName="gna-test-bus", Ids=["1"])
    events.delete_rule(Name="all", EventBusName="gna-test-bus")
    events.delete_event_bus(Name="gna-test-bus")
    sqs.delete_queue(QueueUrl=url)


def test_a_sign_up_reaches_the_bus_with_a_stable_id_and_no_address(bus, http, work, tick, ses):
    assert settings.current().event_bus
    http.post("/api/subscribe", json={"email": "ada@example.net"})
    work()
    tick("sweep_events")
    work()
    tick("sweep_events")
    work()
    (event,) = bus()
    assert (event["source"], event["detail-type"]) == ("gna", "SUBSCRIPTION_CREATED")
    assert event["detail"]["specversion"] == "1.0"
    assert "ada@" not in json.dumps(event)

"""The queue workers of the local runner do what Lambda's event source mapping does."""

import json

import pytest
from chalice.app import Chalice, Rate

from local.gateway import handlers
from local.polling import pollers
from tests.conftest import received
from tests.emulator.conftest import Work


@pytest.fixture
def app():
    app = Chalice("trial")
    app.seen = []

    @app.on_sqs_message(queue_arn="${AudienceQueue.Arn}", batch_size=10)
    def mail(event):
        bodies = [json.loads(record.body) for record in event]
        app.seen.append(bodies)
        if {"crash": True} in bodies:
            raise RuntimeError("crash")
        failed = [record.to_dict()["messageId"] for record in event if json.loads(record.body).get("fail")]
        return {"batchItemFailures": [{"itemIdentifier": name} for name in failed]}

    @app.schedule(Rate(5, unit=Rate.MINUTES))
    def often(event):
        app.seen.append(event.detail_type)

    return app


@pytest.fixture
def work(emulator, app, sqs):
    return Work(pollers(app, sqs, "gna-test"))


def send(sqs, *messages):
    url = sqs.get_queue_url(QueueName="gna-test-audience")["QueueUrl"]
    for message in messages:
        sqs.send_message(QueueUrl=url, MessageBody=json.dumps(message))


def test_handled_messages_are_gone(app, work, sqs):
    send(sqs, {"n": 1}, {"n": 2})
    assert work() == 2
    assert sorted(body["n"] for batch in app.seen for body in batch) == [1, 2]
    assert received("audience") == []


def test_only_what_the_handler_hands_back_comes_again_and_at_last_goes_to_the_dead_letters(app, work, sqs):
    send(sqs, {"n": 1}, {"fail": True})
    work()
    bodies = [body for batch in app.seen for body in batch]
    assert bodies.count({"n": 1}) == 1
    assert bodies.count({"fail": True}) == 5
    assert received("audience-dead") == [{"fail": True}]


def test_a_crash_gives_the_whole_batch_back(app, work, sqs):
    send(sqs, {"crash": True})
    assert work(rounds=1) == 1
    assert work(rounds=1) == 1


def test_schedules_are_found_with_their_cadence_and_given_a_real_event(app):
    [schedule] = handlers.schedules(app)
    schedule.handle()
    assert (schedule.expression, app.seen) == ("rate(5 minutes)", ["Scheduled Event"])

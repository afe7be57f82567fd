"""No password, hash, session or mailed token is anywhere but where it has to be: in no log line, answer, event, queue
message or error, and in the tables as hashes only. No address is in a log line or message either."""

import json
import re

import boto3
import pytest

from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.errors import Unavailable
from chalicelib.members import jobs
from tests.conftest import received
from tests.rooms.members.person import OTHER, PASSWORD


@pytest.fixture
def messages(monkeypatch):
    """Every message that was put on a queue."""
    sent = []
    real = queues.send

    def send(queue, message, delay_seconds=0):
        sent.append({"queue": queue, **message})
        real(queue, message, delay_seconds)

    monkeypatch.setattr(queues, "send", send)
    return sent


def _tables():
    client = boto3.client("dynamodb")
    names = client.list_tables()["TableNames"]
    return {name: client.scan(TableName=name)["Items"] for name in names}


def _life_of(person, invite, answers):
    """All that can be done with an account, right and wrong; every secret that was used."""
    secrets = [PASSWORD, OTHER, "Wrong-9 password"]
    invite("eve@example.net")
    secrets.append(person("eve@example.net").token("/join", "invitation"))
    ada = person("ada@example.net")
    answers += [ada.sign_up(), ada.sign_up("weak-secret"), ada.sign_up(confirm="Wrong-9 password")]
    ada.deliver()
    secrets += [ada.cookie.partition("=")[2], ada.token("/verify")]
    answers += [ada.verify("0193a5c4-11f0-7a6b-8c01-2d3e4f506172." + "z" * 32), ada.verify(), ada.me()]
    answers += [ada.sign_in("Wrong-9 password"), ada.sign_in()]
    secrets.append(ada.cookie.partition("=")[2])
    answers += [ada.change("Wrong-9 password"), ada.change(), ada.send("GET", "/api/auth/me/data")]
    secrets.append(ada.cookie.partition("=")[2])
    answers.append(ada.request_reset())
    secrets.append(ada.token("/reset"))
    stored = _tables()
    answers += [ada.reset(password="weak"), ada.reset(password=PASSWORD, confirm=PASSWORD), ada.sign_in()]
    secrets.append(ada.cookie.partition("=")[2])
    answers += [ada.delete("Wrong-9 password")]
    return ada, [part for secret in secrets for part in (secret, secret.rpartition(".")[2])], stored


def test_no_secret_is_anywhere(person, invite, messages, capsys, still):
    answers = []
    ada, secrets, while_waiting = _life_of(person, invite, answers)
    stored = _tables()
    hashes = [row["password_hash"]["S"] for row in stored[tables.name("members")] if "password_hash" in row]
    assert hashes
    answers += [ada.send("GET", "/api/auth/me/data"), ada.delete()]
    ada.deliver()
    logged = capsys.readouterr().out
    assert "audit" in logged
    answered = "".join(answer.text for answer in answers)
    assert '"error"' in answered
    for secret in secrets:
        for place in (logged, answered, json.dumps(messages), json.dumps([while_waiting, stored, _tables()])):
            assert secret not in place
    for secret in hashes:
        assert secret not in logged + answered + json.dumps(messages)
    for email in ("ada@example.net", "eve@example.net"):
        assert email not in logged + json.dumps(messages)
    assert not [row for row in stored[tables.name("events")] if "member" in str(row)]


def test_a_failure_on_the_way_reveals_nothing(person, monkeypatch, capsys, still):
    """Neither when a service is down, nor when something is broken."""
    ada = person().join()
    ada.request_reset()
    token, cookie = ada.token("/reset"), ada.cookie.partition("=")[2]
    capsys.readouterr()
    answers = []
    for failure in (Unavailable(), ValueError(f"{PASSWORD} {OTHER} {ada.email} {token} {cookie}")):

        def fail(*_, failure=failure):
            raise failure

        with monkeypatch.context() as broken:
            broken.setattr(tables, "transact", fail)
            answers += [ada.sign_in(), ada.reset(token), ada.change(), person("b@example.net").sign_up()]
    assert {answer.status for answer in answers} == {500, 503}
    seen = capsys.readouterr().out + "".join(answer.text for answer in answers)
    assert "request.crashed" in seen
    for secret in (PASSWORD, OTHER, ada.email, token, cookie, cookie.rpartition(".")[2], token.rpartition(".")[2]):
        assert secret not in seen


def test_a_message_that_fails_reveals_nothing(person, monkeypatch, capsys):
    from chalicelib.mail import sender

    ada = person()
    ada.sign_up()
    (message,) = received("members")

    def fail(mail):
        raise ValueError(f"{mail.to} {mail.text}")

    monkeypatch.setattr(sender, "send", fail)
    event = {"Records": [{"messageId": "m1", "body": json.dumps(message)}]}
    assert queues.consume(event, jobs.handle) == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    logged = capsys.readouterr().out
    assert "message.failed" in logged
    assert ada.email not in logged
    assert not re.search(r"token=", logged)

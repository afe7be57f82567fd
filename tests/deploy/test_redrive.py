import boto3
import pytest

from deploy import redrive
from deploy.stage import Refused
from tests.conftest import received


def test_messages_move_from_the_dead_letter_queue_back_to_their_queue(aws):
    sqs = boto3.client("sqs")
    dead = sqs.get_queue_url(QueueName="gna-test-audience-dead")["QueueUrl"]
    for number in range(12):
        sqs.send_message(QueueUrl=dead, MessageBody=f'{{"number": {number}}}')
    assert redrive.redrive(sqs, "gna-test", "audience") == 12
    assert {message["number"] for message in received("audience")} == set(range(12))
    assert received("audience-dead") == []
    assert redrive.redrive(sqs, "gna-test", "audience") == 0


def test_an_unknown_queue_is_refused_with_one_line(aws):
    with pytest.raises(Refused, match="no queue gna-test-nonsense"):
        redrive.redrive(boto3.client("sqs"), "gna-test", "nonsense")

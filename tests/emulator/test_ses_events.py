"""What the local SES tells of the mailbox simulator's addresses arrives at a topic as SES's own events do."""

import json
from typing import Any

import boto3

from local.emulator import Emulator
from local.ses import main as local_ses


def test_a_bounce_reaches_the_queue_behind_the_topic(emulator: Emulator) -> None:
    sns, sqs = boto3.client("sns"), boto3.client("sqs")
    topic = sns.create_topic(Name="ses-said")["TopicArn"]
    queue = sqs.create_queue(QueueName="ses-said")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    with local_ses.start(sns_endpoint=emulator.environment["AWS_ENDPOINT_URL"], topic=topic) as ses:
        message_id = _mail(ses, "bounce+one@simulator.amazonses.com")
        [message] = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=10)["Messages"]
    event = json.loads(json.loads(message["Body"])["Message"])
    assert event["eventType"] == "Bounce"
    assert event["bounce"]["bounceType"] == "Permanent"
    assert event["mail"]["messageId"] == message_id


def _mail(ses: local_ses.Client, to: str) -> Any:
    body = {"Subject": {"Data": "Hello"}, "Body": {"Text": {"Data": "Hi"}}}
    return boto3.client("sesv2", endpoint_url=ses.url).send_email(
        FromEmailAddress="news@example.org", Destination={"ToAddresses": [to]}, Content={"Simple": body}
    )["MessageId"]

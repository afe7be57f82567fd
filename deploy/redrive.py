"""`make redrive QUEUE=sending`: moves the messages of a dead-letter queue back once the cause is fixed."""

import argparse
from typing import Any

import boto3

from chalicelib.kernel.plurals import count_of
from deploy import stage as stages

_BATCH = 10


def redrive(sqs: Any, prefix: str, queue: str) -> int:
    """Return how many were moved. Each is sent before it is deleted, so that none is lost; all consumers tolerate a
    message that comes twice."""
    source, target = (_url(sqs, f"{prefix}-{name}") for name in (f"{queue}-dead", queue))
    moved = 0
    while messages := sqs.receive_message(QueueUrl=source, MaxNumberOfMessages=_BATCH).get("Messages"):
        for message in messages:
            sqs.send_message(QueueUrl=target, MessageBody=message["Body"])
            sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])
            moved += 1
    return moved


def _url(sqs: Any, name: str) -> str:
    try:
        return str(sqs.get_queue_url(QueueName=name)["QueueUrl"])
    except sqs.exceptions.QueueDoesNotExist:
        raise stages.Refused(f"there is no queue {name}: QUEUE is audience, sending, deliveries, feed …") from None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", default="dev")
    parser.add_argument("--queue", required=True)
    arguments = parser.parse_args()
    moved = redrive(boto3.client("sqs"), stages.Stage(arguments.stage, {}).prefix, arguments.queue)
    print(f"{count_of(moved, 'message')} put back on {arguments.queue}")


if __name__ == "__main__":
    main()

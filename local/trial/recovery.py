"""After the last fault: only what an operator would do, until nothing is left to do."""

import time
from collections.abc import Iterator

from local.options import PREFIX
from local.trial import truth
from local.trial.breaking import CALM, QUEUES, hurry
from local.trial.editor import Editor
from local.trial.followers import Followers
from local.trial.receiver import Receiver
from local.trial.stack import Stack

_NUMBERS = [
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
]


def recover(stack: Stack, receiver: Receiver, editor: Editor, followers: Followers, patience: float) -> list[str]:
    """Messages of the dead-letter queues are put back, failed deliveries are retried, and what is followed is polled
    again. Prints how long it took."""
    begun = time.monotonic()
    stack.wait_until_well()
    hurry(stack, CALM)
    put_back = retried = 0
    while time.monotonic() - begun < patience:
        stack.tend()
        put_back += _put_back(stack)
        followers.settle()
        followers.hasten()
        unfinished = [*_waiting(stack), *_unfinished(stack, receiver), *followers.missing()]
        if not unfinished and not (again := editor.retry_all()):
            print(
                f"recovered within {time.monotonic() - begun:.0f} s; "
                f"{put_back} messages were put back from dead-letter queues, {retried} deliveries retried"
            )
            return []
        retried += 0 if unfinished else again
        time.sleep(2)
    return [f"not recovered after {patience:.0f} s: {', '.join(unfinished[:6])}"]


def on_queues(stack: Stack) -> str:
    """The messages on all queues now; they become visible again."""
    sqs, found = stack.aws("sqs"), list[str]()
    for url in sqs.list_queues(QueueNamePrefix=f"{PREFIX}-")["QueueUrls"]:
        for _ in range(20):
            messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=2).get("Messages")
            if not messages:
                break
            found += [message["Body"] for message in messages]
    return "\n".join(found)


def _waiting(stack: Stack) -> Iterator[str]:
    """Only the audience queue counts: the others only speed things up, and the tables say what is left to do."""
    sqs = stack.aws("sqs")
    url = sqs.get_queue_url(QueueName=f"{PREFIX}-audience")["QueueUrl"]
    counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=_NUMBERS)["Attributes"]
    if any(map(int, counts.values())):
        yield "audience has messages"


def _unfinished(stack: Stack, receiver: Receiver) -> Iterator[str]:
    dynamodb = stack.aws("dynamodb")
    for row in truth.rows(dynamodb, "campaigns"):
        if row.get("state") in ("scheduled", "publishing"):
            yield f"campaign {row['id']} is {row['state']}"
    events = (row["id"] for row in truth.rows(dynamodb, "events"))
    yield from [f"event {id}" for id in events if id not in receiver.seen][:3]


def _put_back(stack: Stack) -> int:
    sqs, count = stack.aws("sqs"), 0
    for queue in QUEUES:
        urls = [sqs.get_queue_url(QueueName=f"{PREFIX}-{queue}{end}")["QueueUrl"] for end in ("-dead", "")]
        while messages := sqs.receive_message(QueueUrl=urls[0], MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                sqs.send_message(QueueUrl=urls[1], MessageBody=message["Body"])
                sqs.delete_message(QueueUrl=urls[0], ReceiptHandle=message["ReceiptHandle"])
                count += 1
    return count

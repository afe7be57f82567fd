"""Processes that `sending` and `cost` measure from outside, each alone with its CPU time and memory.

python -m bench._sender engine    the worker of app.py, until the one delivery under way has ended
python -m bench._sender loop N    the loop everybody writes: boto3, one call a mail, for N recipients
"""

import html
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

_PATIENCE = 300.0
_SWEEP_SECONDS = 10.0


def main() -> None:
    work = {"engine": _engine, "loop": _loop}[sys.argv[1]]
    run = work()
    cpu, wall = _cpu(), time.perf_counter()
    answer = run()
    answer |= {"cpu": _cpu() - cpu, "wall": time.perf_counter() - wall}
    answer["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    os.write(3, json.dumps(answer).encode())


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _engine() -> Callable[[], dict[str, Any]]:
    """Loaded and warm, as a function is after its first message."""
    import app
    from chalicelib.campaigns.sending import deliveries, jobs, mailer, supervisor
    from chalicelib.kernel import settings
    from chalicelib.kernel.aws import session
    from local.polling import pollers

    (delivery,) = deliveries.list_sending()
    jobs.wake({"campaign_id": delivery.campaign_id, "delivery_id": delivery.id})
    mailer.load_mailer(delivery.campaign_id, delivery.id, delivery.attempt)
    mailer.account_watch().account()
    found = pollers(app.app, session.client("sqs"), settings.current().prefix)
    (sending,) = [poller for poller in found if poller.name == "sending"]
    units = Units()

    def run() -> dict[str, Any]:
        swept = time.monotonic()
        until, after = swept + _PATIENCE, delivery
        while after.state == "sending" and time.monotonic() < until:
            while sending.poll(retry_at_once=True):
                units.queue_requests += 3  # receive, delete, and the message's own sending
            # For each page the emulator reads the whole table, about a second for 100,000 rows, and all workers ask
            # at once. On a busy machine a call then takes longer than the five seconds it may. Parts rest, or an
            # order is gone while its part is still leased: as everywhere, the sweep comes for them.
            time.sleep(0.05)
            after = deliveries.get(delivery.campaign_id, delivery.id)
            if time.monotonic() >= swept + _SWEEP_SECONDS:
                supervisor.tend(after)
                swept = time.monotonic()
        assert after.state == "sent", after
        return {"sent": after.counts.sent, **units.counted()}

    return run


class Units:
    """Listens to the wire and counts what DynamoDB would ask for: it counts by size, emulators mostly do not."""

    def __init__(self) -> None:
        from chalicelib.kernel.aws import raw

        self.queue_requests = 0
        self._calls: Counter[str] = Counter()
        self._read = self._written = 0.0
        self._exchange = raw._exchange
        raw._exchange = self._listened  # type: ignore[assignment]

    def counted(self) -> dict[str, Any]:
        return {
            "calls": dict(self._calls),
            "read_units": self._read,
            "write_units": self._written,
            "queue_requests": self.queue_requests,
        }

    def _listened(self, service: Any, operation: str, path: str, headers: Any, body: bytes) -> Any:
        status, answer = self._exchange(service, operation, path, headers, body)
        self._calls[operation] += 1
        asked = json.loads(body) if service.name == "dynamodb" else {}
        match operation:
            case "Scan":
                # Charged by what was looked at, whatever the projection.
                self._read += -(-answer["ScannedCount"] * _SUBSCRIBER_BYTES // 4096)
            case "Query":
                self._read += max(1, -(-sum(map(size, answer["Items"])) // 4096))
            case "GetItem":
                self._read += 1
            case "BatchGetItem":
                self._read += len(next(iter(asked["RequestItems"].values()))["Keys"])
            case "PutItem":
                self._written += -(-size(asked["Item"]) // 1024)
            case "UpdateItem":
                self._written += 1
            case "TransactWriteItems":
                self._written += sum(2 * -(-size(write["Put"]["Item"]) // 1024) for write in asked["TransactItems"])
            case "BatchWriteItem":
                self._written += sum(len(writes) for writes in asked["RequestItems"].values())
        return status, answer


# What `bench.sending.crowd` writes, by DynamoDB's rules: names and values, and 100 bytes for the index's sake.
_SUBSCRIBER_BYTES = 330


def size(item: Mapping[str, Mapping[str, Any]]) -> int:
    """An item's size as DynamoDB counts it."""
    return sum(len(name) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return len(content) // 2 + 2
        case "B":
            return len(content) * 3 // 4
        case _:
            return 1


def _loop() -> Callable[[], dict[str, Any]]:
    import boto3

    from chalicelib.kernel import settings

    dynamodb, ses = boto3.client("dynamodb"), boto3.client("sesv2")
    people, table = int(sys.argv[2]), f"{settings.current().prefix}-subscribers"
    body = _BODY

    def run() -> dict[str, Any]:
        sent = 0
        for page in dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
            for person in page["Items"]:
                if sent == people:
                    return {"sent": sent}
                _send_one(ses, person, body)
                sent += 1
        return {"sent": sent}

    return run


def _send_one(ses: Any, person: Mapping[str, Any], body: str) -> None:
    name = person.get("nickname", {}).get("S", "friend")
    link = f"https://news.example.org/api/unsubscribe?token={person['id']['S']}.{person['unsubscribe_secret']['S']}"
    filled = body.replace("{{name}}", html.escape(name)).replace("{{link}}", link)
    ses.send_email(
        FromEmailAddress="news@example.org",
        Destination={"ToAddresses": [person["email"]["S"]]},
        Content={
            "Simple": {
                "Subject": {"Data": "Hello"},
                "Body": {"Html": {"Data": filled}, "Text": {"Data": filled}},
                "Headers": [{"Name": "List-Unsubscribe", "Value": f"<{link}>"}],
            }
        },
    )


_BODY = "<p>Hi {{name}}</p>" + "<p>Seven words stand here, over and over.</p>" * 60 + '<a href="{{link}}">Leave</a>'


if __name__ == "__main__":
    main()

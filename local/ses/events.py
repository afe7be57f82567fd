"""The events SES publishes about a mail after sending it, for the addresses of its mailbox simulator.

Locally `bounce+anything@…` works as `bounce@…` does, so that one campaign can have several of each.
"""

import json
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

SIMULATOR = "simulator.amazonses.com"
Event = dict[str, Any]


def event_for(address: str, mail: Event, at: str) -> Event | None:
    """The event a recipient causes, in the form of SES's event publishing."""
    local, _, domain = address.lower().partition("@")
    maker = _MAKERS.get(local.partition("+")[0]) if domain == SIMULATOR else None
    return maker(address, at) | {"mail": mail} if maker else None


def mail(message_id: str, sender: str, to: list[str], subject: str, at: str, tags: Mapping[str, str]) -> Event:
    """What each event says about the mail; the tags it was sent with tell which delivery it belongs to."""
    return {
        "timestamp": at,
        "source": sender,
        "sourceArn": "arn:aws:ses:eu-west-1:000000000000:identity/local",
        "sendingAccountId": "000000000000",
        "messageId": message_id,
        "destination": to,
        "headersTruncated": False,
        "headers": [{"name": "From", "value": sender}, {"name": "To", "value": ", ".join(to)}],
        "commonHeaders": {"from": [sender], "to": to, "messageId": message_id, "subject": subject},
        "tags": {"ses:source-ip": ["127.0.0.1"]} | {name: [value] for name, value in tags.items()},
    }


def rendering_failure(missing: str, about: Event) -> Event:
    message = f"Attribute '{missing}' is not present in the rendering data."
    return {"eventType": "Rendering Failure", "mail": about, "failure": {"errorMessage": message, "templateName": ""}}


def _bounce(address: str, at: str, subtype: str = "General") -> Event:
    recipient = {
        "emailAddress": address,
        "action": "failed",
        "status": "5.1.1",
        "diagnosticCode": "smtp; 550 5.1.1 user unknown",
    }
    bounce = {
        "bounceType": "Permanent",
        "bounceSubType": subtype,
        "bouncedRecipients": [recipient],
        "timestamp": at,
        "feedbackId": f"local-{time.time_ns():x}-000000",
        "reportingMTA": "dns; local",
    }
    return {"eventType": "Bounce", "bounce": bounce}


def _suppressed(address: str, at: str) -> Event:
    return _bounce(address, at, "OnAccountSuppressionList")


def _full(address: str, at: str) -> Event:
    event = _bounce(address, at, "MailboxFull")
    event["bounce"]["bounceType"] = "Transient"
    return event


def _complaint(address: str, at: str) -> Event:
    complaint = {
        "complainedRecipients": [{"emailAddress": address}],
        "timestamp": at,
        "feedbackId": f"local-{time.time_ns():x}-000000",
        "complaintSubType": None,
        "userAgent": "Local mailbox simulator",
        "complaintFeedbackType": "abuse",
        "arrivalDate": at,
    }
    return {"eventType": "Complaint", "complaint": complaint}


def _delivery(address: str, at: str) -> Event:
    delivery = {
        "timestamp": at,
        "processingTimeMillis": 1,
        "recipients": [address],
        "smtpResponse": "250 2.6.0 Message received",
        "reportingMTA": "local",
    }
    return {"eventType": "Delivery", "delivery": delivery}


_MAKERS: dict[str, Callable[[str, str], Event]] = {
    "bounce": _bounce,
    "complaint": _complaint,
    "suppressionlist": _suppressed,
    "softbounce": _full,
    "success": _delivery,
    "ooto": _delivery,
}


class Publisher:
    """Publishes from a thread of its own, so that no sender waits for a topic; remembers the newest events."""

    def __init__(self, endpoint: str = "", topic: str = "") -> None:
        self.recent: deque[Event] = deque(maxlen=1_000)
        self._endpoint, self._topic = endpoint, topic
        self._waiting: queue.SimpleQueue[Event] = queue.SimpleQueue()
        if endpoint and topic:
            threading.Thread(target=self._run, name="ses-events", daemon=True).start()

    def publish(self, event: Event) -> None:
        self.recent.append(event)
        if self._topic:
            self._waiting.put(event)

    def _run(self) -> None:
        import botocore.session

        client = botocore.session.Session().create_client(
            "sns",
            region_name=self._topic.split(":")[3] or "eu-west-1",
            endpoint_url=self._endpoint,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        while True:
            self._send(client, self._waiting.get())

    def _send(self, client: Any, event: Event) -> None:
        for wait in (0.5, 2, 5, None):
            try:
                client.publish(TopicArn=self._topic, Message=json.dumps(event))
                return
            except Exception as failure:
                if wait is None:
                    print(f"ses: an event could not be published: {type(failure).__name__}", file=sys.stderr)
                    return
                time.sleep(wait)

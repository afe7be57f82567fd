"""Sends one mail through SES. For many copies of one mail, see `bulk`."""

from typing import Any

from chalicelib.kernel import addresses, log, settings
from chalicelib.kernel.aws import session
from chalicelib.mail import failures, mailboxes
from chalicelib.mail.message import Message


def send(message: Message) -> str:
    """Send one message and return its id in SES; raises one of `failures`.

    Tried once: the caller decides about a second attempt, because a lost answer may be about a mail that was sent.
    """
    request = _request(message)
    with failures.translated(mailboxes.sender_address()):
        answer = session.client("sesv2", attempts=1).send_email(**request)
    log.metric("MailSent")
    return str(answer["MessageId"])


def _request(message: Message) -> dict[str, Any]:
    request: dict[str, Any] = {
        "FromEmailAddress": mailboxes.sender(),
        "Destination": {"ToAddresses": [addresses.wire(message.to)]},
        "Content": {"Simple": _content(message)},
        "ReplyToAddresses": mailboxes.reply_to(),
    }
    if configuration_set := settings.current().configuration_set:
        request["ConfigurationSetName"] = configuration_set
    return request


def _content(message: Message) -> dict[str, Any]:
    return {
        "Subject": _utf8(message.subject),
        "Body": {"Html": _utf8(message.html), "Text": _utf8(message.text)},
        "Headers": [{"Name": name, "Value": value} for name, value in message.headers.items()],
    }


def _utf8(data: str) -> dict[str, str]:
    return {"Data": data, "Charset": "UTF-8"}

"""One mail to fifty people in one SES call. What is the same for all is encoded as JSON once per campaign.

The content is an SES template with `{{name}}` variables. SES only fills them in: it does not escape, and it silently
drops a mail with a variable that has no value, so that is checked here.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from msgspec import Struct, field

from chalicelib.kernel import addresses, settings
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import GnaError, Invalid
from chalicelib.mail import failures, mailboxes
from chalicelib.mail.failures import Failure, Rejected, Unanswered
from chalicelib.mail.message import check_headers

MOST_RECIPIENTS = 50
# SES takes 1 MB a call; the rest is for fifty entries, the largest of which stay under 8 KB.
LARGEST_TEMPLATE = 500_000

_VARIABLE = re.compile(r"\{\{\s*([\w.\-]+)\s*\}\}")
_PATH = "/v2/email/outbound-bulk-emails"

Call = Callable[[str, str, bytes], Any]


class BulkContent(Struct, frozen=True):
    """What everybody gets. `headers` are the same in every copy; `tags` come back in SES's events. The usual
    `configuration_set` is that of the settings."""

    subject: str
    html: str
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    configuration_set: str = ""


class Entry(Struct, frozen=True):
    """One person's copy: a value for every variable, and the headers that differ."""

    to: str
    values: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)


class BulkTemplate:
    """Content that is ready to send; call `post` for each batch."""

    def __init__(self, content: BulkContent) -> None:
        check_headers(content.headers)
        self._variables = frozenset(_VARIABLE.findall(f"{content.subject}\0{content.html}\0{content.text}"))
        self._sender = mailboxes.sender_address()
        self._begin = _constant_part(content)
        if len(self._begin) > LARGEST_TEMPLATE:
            raise Invalid(f"The email is larger than {LARGEST_TEMPLATE // 1000} KB, which is more than SES accepts")

    def post(self, entries: Sequence[Entry], call: Call = raw.ses) -> list[Failure | None]:
        """Send to these people. Returns, in their order, why a mail was not sent, or None if it was.

        Raises one of `failures` when the call as a whole failed; after `Unanswered` it is unknown who got the mail.
        """
        assert len(entries) <= MOST_RECIPIENTS
        encoded = [self._encode_entry(entry) for entry in entries]
        valid = [text for text in encoded if isinstance(text, str)]
        results = iter(self._post(valid, call) if valid else ())
        return [next(results) if isinstance(text, str) else text for text in encoded]

    def _post(self, encoded: list[str], call: Call) -> list[Failure | None]:
        body = self._begin + ",".join(encoded).encode("ascii") + b"]}"
        with failures.translated(self._sender):
            answer = call("SendBulkEmail", _PATH, body)
        results = answer.get("BulkEmailEntryResults", ())
        if len(results) != len(encoded):
            raise Unanswered
        return [self._failure(result) for result in results]

    def _failure(self, result: Mapping[str, str]) -> Failure | None:
        status = result.get("Status", "")
        if status == "SUCCESS":
            return None
        return failures.from_code(status, result.get("Error") or "", sender=self._sender)

    def _encode_entry(self, entry: Entry) -> str | Rejected:
        """An entry's JSON, joined from strings: three times as fast as building and dumping dicts."""
        if not self._variables <= entry.values.keys():
            raise ValueError(f"no value for {sorted(self._variables - entry.values.keys())}")
        try:
            to = addresses.wire(entry.to)
            check_headers(entry.headers)
        except UnicodeError:
            return Rejected(failures.UNSENDABLE, "INVALID_PARAMETER")
        except GnaError:
            return Rejected("A header cannot be sent", "INVALID_PARAMETER")
        data = "{" + ",".join([f"{quoted(name)}:{quoted(value)}" for name, value in entry.values.items()]) + "}"
        headers = [f'{{"Name":{quoted(name)},"Value":{quoted(value)}}}' for name, value in entry.headers.items()]
        return (
            f'{{"Destination":{{"ToAddresses":[{quoted(to)}]}},'
            f'"ReplacementEmailContent":{{"ReplacementTemplate":{{"ReplacementTemplateData":{quoted(data)}}}}},'
            f'"ReplacementHeaders":[{",".join(headers)}]}}'
        )


def json_size(*parts: str) -> int:
    """How much of `LARGEST_TEMPLATE` these take, in bytes."""
    return sum(len(json.dumps(part, ensure_ascii=False).encode()) for part in parts)


def _constant_part(content: BulkContent) -> bytes:
    """The request up to its entries, which therefore come last in it."""
    request: dict[str, Any] = {
        "FromEmailAddress": mailboxes.sender(),
        "ReplyToAddresses": mailboxes.reply_to(),
        "DefaultContent": {
            "Template": {
                "TemplateContent": {"Subject": content.subject, "Html": content.html, "Text": content.text},
                "TemplateData": "{}",
                "Headers": _named(content.headers),
            }
        },
        "DefaultEmailTags": _named(content.tags),
    }
    if configuration_set := content.configuration_set or settings.current().configuration_set:
        request["ConfigurationSetName"] = configuration_set
    return json.dumps(request, ensure_ascii=False).encode()[:-1] + b',"BulkEmailEntries":['


def _named(pairs: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in pairs.items()]

"""One letter to fifty people in one SES call: what is the same for all is turned into JSON once a campaign.

The letter's parts are in SES's form already, with `{{name}}` holes. SES fills those in and does nothing else: it does
not escape, and a hole without a value means that the mail silently never leaves, so that is checked here.
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

_HOLE = re.compile(r"\{\{\s*([\w.\-]+)\s*\}\}")
_PATH = "/v2/email/outbound-bulk-emails"

Call = Callable[[str, str, bytes], Any]


class BulkContent(Struct, frozen=True):
    """What everybody gets; `headers` are those that are the same in every copy, `tags` come back in SES's events."""

    subject: str
    html: str
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


class Entry(Struct, frozen=True):
    """One person's copy: a value for every hole, and the headers that are theirs alone."""

    to: str
    values: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)


class BulkTemplate:
    """A letter made ready; `post` may be called for as many batches as there are."""

    def __init__(self, letter: BulkContent) -> None:
        check_headers(letter.headers)
        self._holes = frozenset(_HOLE.findall(f"{letter.subject}\0{letter.html}\0{letter.text}"))
        self._sender = mailboxes.sender_address()
        self._begin = _constant_part(letter)
        if len(self._begin) > LARGEST_TEMPLATE:
            raise Invalid(f"The email is larger than {LARGEST_TEMPLATE // 1000} KB, which is more than SES accepts")

    def post(self, entries: Sequence[Entry], call: Call = raw.ses) -> list[Failure | None]:
        """Send, and tell of each entry in turn why it did not leave, None if it did.

        Raises one of `failures` when the call as a whole failed; after `Unanswered` nobody knows who got it.
        """
        assert len(entries) <= MOST_RECIPIENTS
        written = [self._entry(entry) for entry in entries]
        good = [text for text in written if isinstance(text, str)]
        results = iter(self._posted(good, call) if good else ())
        return [next(results) if isinstance(text, str) else text for text in written]

    def _posted(self, written: list[str], call: Call) -> list[Failure | None]:
        body = self._begin + ",".join(written).encode("ascii") + b"]}"
        with failures.translated(self._sender):
            answer = call("SendBulkEmail", _PATH, body)
        results = answer.get("BulkEmailEntryResults", ())
        if len(results) != len(written):
            raise Unanswered
        return [self._outcome(result) for result in results]

    def _outcome(self, result: Mapping[str, str]) -> Failure | None:
        status = result.get("Status", "")
        if status == "SUCCESS":
            return None
        return failures.from_code(status, result.get("Error") or "", sender=self._sender)

    def _entry(self, entry: Entry) -> str | Rejected:
        """An entry's JSON, put together from pieces: a third of the time of building and dumping the same dicts."""
        if not self._holes <= entry.values.keys():
            raise ValueError(f"no value for {sorted(self._holes - entry.values.keys())}")
        try:
            to = addresses.wire(entry.to)
            check_headers(entry.headers)
        except (GnaError, UnicodeError):
            return Rejected("The address or a header cannot be sent", "INVALID_PARAMETER")
        data = "{" + ",".join([f"{quoted(name)}:{quoted(value)}" for name, value in entry.values.items()]) + "}"
        headers = [f'{{"Name":{quoted(name)},"Value":{quoted(value)}}}' for name, value in entry.headers.items()]
        return (
            f'{{"Destination":{{"ToAddresses":[{quoted(to)}]}},'
            f'"ReplacementEmailContent":{{"ReplacementTemplate":{{"ReplacementTemplateData":{quoted(data)}}}}},'
            f'"ReplacementHeaders":[{",".join(headers)}]}}'
        )


def json_size(*parts: str) -> int:
    """How much of `LARGEST_LETTER` these take, in bytes."""
    return sum(len(json.dumps(part, ensure_ascii=False).encode()) for part in parts)


def _constant_part(letter: BulkContent) -> bytes:
    """The call up to its entries, which are its last member for that reason."""
    request: dict[str, Any] = {
        "FromEmailAddress": mailboxes.sender(),
        "ReplyToAddresses": mailboxes.reply_to(),
        "DefaultContent": {
            "Template": {
                "TemplateContent": {"Subject": letter.subject, "Html": letter.html, "Text": letter.text},
                "TemplateData": "{}",
                "Headers": _named(letter.headers),
            }
        },
        "DefaultEmailTags": _named(letter.tags),
    }
    if configuration_set := settings.current().configuration_set:
        request["ConfigurationSetName"] = configuration_set
    return json.dumps(request, ensure_ascii=False).encode()[:-1] + b',"BulkEmailEntries":['


def _named(pairs: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in pairs.items()]

"""SES v2 as far as Gna uses it, with the limits of the real one."""

import re
import time
from datetime import UTC, datetime
from typing import Any

from local.ses import checks, events
from local.ses.checks import Refusal
from local.ses.faults import Faults
from local.ses.mailbox import Kept, Mailbox, template_data
from local.ses.tally import Tally
from local.ses.wire import Reply, json_reply

_RECIPIENT = re.compile(rb'"ToAddresses":\s*\[\s*"([^"]+)"')
_ERRORS = {
    "MESSAGE_REJECTED": "MessageRejected",
    "MAIL_FROM_DOMAIN_NOT_VERIFIED": "MailFromDomainNotVerifiedException",
    "CONFIGURATION_SET_NOT_FOUND": "NotFoundException",
    "ACCOUNT_SUSPENDED": "AccountSuspendedException",
    "ACCOUNT_THROTTLED": "TooManyRequestsException",
    "ACCOUNT_DAILY_QUOTA_EXCEEDED": "LimitExceededException",
    "ACCOUNT_SENDING_PAUSED": "SendingPausedException",
    "TRANSIENT_FAILURE": "InternalServiceErrorException",
}


class Api:
    """`mailbox` None only counts: a sink for benchmarks."""

    def __init__(self, mailbox: Mailbox | None, faults: Faults, publisher: events.Publisher) -> None:
        self._mailbox, self._faults, self._publisher = mailbox, faults, publisher
        self._serial = time.time_ns()
        self.tally = Tally()

    # Reading

    def account(self) -> Reply:
        return json_reply(
            {
                "DedicatedIpAutoWarmupEnabled": False,
                "EnforcementStatus": "HEALTHY",
                "ProductionAccessEnabled": self._faults.production,
                "SendQuota": self._faults.limits(self.tally.recipients),
                "SendingEnabled": self._faults.sending_enabled,
                "SuppressionAttributes": {"SuppressedReasons": ["BOUNCE", "COMPLAINT"]},
            }
        )

    def identity(self, name: str) -> Reply:
        known = self._faults.identities
        if known is not None and name not in known:
            raise Refusal("NotFoundException", "This identity does not exist.")
        status = "SUCCESS" if self._faults.verified else "PENDING"
        return json_reply(
            {
                "IdentityType": "EMAIL_ADDRESS" if "@" in name else "DOMAIN",
                "FeedbackForwardingStatus": True,
                "VerifiedForSendingStatus": self._faults.verified,
                "VerificationStatus": status,
                "DkimAttributes": {
                    "SigningEnabled": self._faults.dkim == "SUCCESS",
                    "Status": self._faults.dkim,
                    "Tokens": ["local1", "local2", "local3"],
                    "SigningAttributesOrigin": "AWS_SES",
                },
                "MailFromAttributes": {
                    "MailFromDomain": f"mail.{name.rpartition('@')[2]}",
                    "MailFromDomainStatus": "SUCCESS",
                    "BehaviorOnMxFailure": "USE_DEFAULT_VALUE",
                },
                "Policies": {},
                "Tags": [],
            }
        )

    # Sending

    def check_pace(self) -> None:
        rate = self._faults.limits(0)["MaxSendRate"]
        if self._faults.enforce_rate and self.tally.too_fast(rate):
            raise Refusal("TooManyRequestsException", "Maximum sending rate exceeded.")

    def send_email(self, body: bytes) -> Reply:
        if self._mailbox is None:
            return json_reply({"MessageId": self._counted(body)[0]})
        call = checks.parsed(body)
        self._check_call(call)
        content = call.get("Content") or {}
        if not content.keys() & {"Simple", "Raw", "Template"}:
            raise Refusal("BadRequestException", "Content must be Simple, Raw or Template.")
        destination = call.get("Destination") or {}
        to = checks.recipients(destination)
        checks.check_recipients(to)
        checks.check_headers((content.get("Simple") or content.get("Template") or {}).get("Headers"))
        if "Template" in content:
            checks.template_names(content["Template"].get("TemplateContent"))
        self._check_recipient(to)
        at, message_id = _now(), self._ids(1)[0]
        self._mailbox.keep(body, [Kept(message_id, -1, " ".join(to).lower())], at)
        subject = ((content.get("Simple") or {}).get("Subject") or {}).get("Data", "")
        self.tally.count(to, len(to))
        self._publish(call, message_id, to, subject, at, _tags(call, {}))
        return json_reply({"MessageId": message_id})

    def send_bulk_email(self, body: bytes) -> Reply:
        if self._mailbox is None:
            results = [{"Status": "SUCCESS", "MessageId": each} for each in self._counted(body)]
            return json_reply({"BulkEmailEntryResults": results})
        if len(body) > checks.LARGEST_CALL:
            raise Refusal("BadRequestException", "The request is larger than 1 MB.")
        call = checks.parsed(body)
        self._check_call(call)
        template = (call.get("DefaultContent") or {}).get("Template") or {}
        entries = call.get("BulkEmailEntries") or []
        if not 0 < len(entries) <= checks.MOST_RECIPIENTS:
            raise Refusal("BadRequestException", f"A call takes 1 to {checks.MOST_RECIPIENTS} entries.")
        if "TemplateName" in template or "TemplateArn" in template:
            raise Refusal("NotFoundException", "There are no stored templates here.")
        checks.check_headers(template.get("Headers"))
        names = checks.template_names(template.get("TemplateContent"))
        return self._bulk(body, call, template, entries, names)

    def _bulk(
        self, body: bytes, call: dict[str, Any], template: dict[str, Any], entries: list[Any], names: frozenset[str]
    ) -> Reply:
        at, kept, results = _now(), list[Kept](), list[dict[str, str]]()
        subject = template["TemplateContent"].get("Subject", "")
        remaining = self._remaining_quota()
        for position, (message_id, entry) in enumerate(zip(self._ids(len(entries)), entries, strict=True)):
            to = checks.recipients(entry.get("Destination") or {})
            status, error, missing = self._entry_result(template, entry, to, names, remaining - len(kept))
            if status != "SUCCESS":
                results.append({"Status": status, "Error": error})
                continue
            results.append({"Status": status, "MessageId": message_id})
            if missing:
                about = events.mail(message_id, call["FromEmailAddress"], to, subject, at, _tags(call, entry))
                self._publisher.publish(events.rendering_failure(missing, about))
                continue
            kept.append(Kept(message_id, position, " ".join(to).lower()))
            self.tally.count(to, len(to))
            self._publish(call, message_id, to, subject, at, _tags(call, entry))
        if kept:
            self._mailbox.keep(body, kept, at)  # type: ignore[union-attr]
        return json_reply({"BulkEmailEntryResults": results})

    def _entry_result(
        self, template: dict[str, Any], entry: dict[str, Any], to: list[str], names: frozenset[str], remaining: float
    ) -> tuple[str, str, str]:
        """Status, error, and the first missing template value: then the status is SUCCESS, yet nothing is sent."""
        try:
            checks.check_recipients(to)
            checks.check_headers(entry.get("ReplacementHeaders"))
            data = template_data(template, entry)
        except (Refusal, ValueError) as failure:
            return "INVALID_PARAMETER", str(failure), ""
        if remaining <= 0:
            return "ACCOUNT_DAILY_QUOTA_EXCEEDED", "Daily message quota exceeded.", ""
        status = self._faults.entry_status(to[0])
        if status != "SUCCESS":
            return status, "As requested.", ""
        if not self._faults.production:
            return "MESSAGE_REJECTED", _unverified(to), ""
        return "SUCCESS", "", min(names - data.keys(), default="")

    def _check_call(self, call: dict[str, Any]) -> None:
        sender = call.get("FromEmailAddress") or ""
        if "@" not in sender or not sender.isascii():
            raise Refusal("BadRequestException", "Missing or invalid FromEmailAddress.")
        if not self._faults.verified:
            raise Refusal("MessageRejected", _unverified([sender.rpartition("<")[2].rstrip(">")]))
        wanted, known = call.get("ConfigurationSetName"), self._faults.configuration_sets
        if wanted and known is not None and wanted not in known:
            raise Refusal("NotFoundException", f"Configuration set <{wanted}> does not exist.")

    def _check_recipient(self, to: list[str]) -> None:
        if self._remaining_quota() <= 0:
            raise Refusal("TooManyRequestsException", "Daily message quota exceeded.")
        if not self._faults.production:
            raise Refusal("MessageRejected", _unverified(to))
        if (status := self._faults.entry_status(to[0])) != "SUCCESS":
            raise Refusal(_ERRORS.get(status, "BadRequestException"), "As requested.")

    def _remaining_quota(self) -> float:
        limits = self._faults.limits(self.tally.recipients)
        return limits["Max24HourSend"] - limits["SentLast24Hours"]

    def _ids(self, count: int) -> list[str]:
        self._serial += 1
        return [f"{self._serial:016x}-{position:08x}-local-000000" for position in range(count)]

    def _counted(self, body: bytes) -> list[str]:
        """For the sink: the recipients of a call, without parsing it."""
        to = _RECIPIENT.findall(body)
        self.tally.count((address.decode() for address in to), len(to))
        return self._ids(len(to))

    def _publish(
        self, call: dict[str, Any], message_id: str, to: list[str], subject: str, at: str, tags: dict[str, str]
    ) -> None:
        for address in to:
            if not address.lower().endswith(events.SIMULATOR):
                continue
            about = events.mail(message_id, call["FromEmailAddress"], to, subject, at, tags)
            if event := events.event_for(address, about, at):
                self._publisher.publish(event)


def _tags(call: dict[str, Any], entry: dict[str, Any]) -> dict[str, str]:
    """The tags of one mail: those of the call, then those of its entry in a bulk."""
    named = [call.get("EmailTags"), call.get("DefaultEmailTags"), entry.get("ReplacementTags")]
    tags = {tag["Name"]: tag["Value"] for group in named for tag in group or ()}
    chosen = call.get("ConfigurationSetName")
    return {"ses:configuration-set": chosen, **tags} if chosen else tags


def _unverified(identities: list[str]) -> str:
    named = ", ".join(identities)
    return f"Email address is not verified. The following identities failed the check in region LOCAL: {named}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

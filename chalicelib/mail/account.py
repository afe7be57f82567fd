"""The SES account: its quota, its sandbox, and the identity that mails are sent from."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from chalicelib.kernel import addresses, patience
from chalicelib.kernel.aws import session
from chalicelib.mail import failures, mailboxes
from chalicelib.mail.failures import Stopped


class Account(Struct, frozen=True):
    """`per_day` is -1 if there is no limit. In the sandbox SES sends to verified addresses only. `suppresses` says
    after what SES puts an address on the account's suppression list (BOUNCE, COMPLAINT); None if it does not say."""

    per_day: float
    per_second: float
    sent_today: float
    in_sandbox: bool
    sending_enabled: bool
    standing: str
    suppresses: frozenset[str] | None = None

    @property
    def left_today(self) -> float:
        return float("inf") if self.per_day < 0 else max(0.0, self.per_day - self.sent_today)


class Identity(Struct, frozen=True):
    """What SES knows about the sender: the address itself, or its domain. `dkim_names` are of the records in the zone
    `dkim_zone` that the domain's own have to lead to; empty if the owner has keys of their own."""

    name: str
    verified: bool
    dkim: bool
    dkim_status: str
    mail_from: str | None
    mail_from_status: str = ""
    dkim_names: tuple[str, ...] = ()
    dkim_zone: str = "dkim.amazonses.com"


def account() -> Account:
    with failures.translated(), patience.counted():
        return parse_account(session.client("sesv2").get_account())


def parse_account(answer: Mapping[str, Any]) -> Account:
    """An Account from SES's own answer, whoever asked for it."""
    quota = answer.get("SendQuota", {})
    return Account(
        per_day=float(quota.get("Max24HourSend", 0)),
        per_second=float(quota.get("MaxSendRate", 0)),
        sent_today=float(quota.get("SentLast24Hours", 0)),
        in_sandbox=not answer.get("ProductionAccessEnabled", False),
        sending_enabled=bool(answer.get("SendingEnabled", False)),
        standing=str(answer.get("EnforcementStatus", "")),
        suppresses=_suppressed_reasons(answer),
    )


def _suppressed_reasons(answer: Mapping[str, Any]) -> frozenset[str] | None:
    attributes = answer.get("SuppressionAttributes")
    return None if attributes is None else frozenset(attributes.get("SuppressedReasons") or ())


def identity() -> Identity | None:
    """The identity of FROM_EMAIL, None if SES has none. An address takes precedence over its domain."""
    return _first_known(_candidates(addresses.wire(mailboxes.sender_address())))


def domain_identity() -> Identity | None:
    """The domain of FROM_EMAIL, or the parent of it that SES knows, for its DNS records; None if it knows none."""
    candidates = _candidates(addresses.wire(mailboxes.sender_address()))
    return _first_known(name for name in candidates if "@" not in name)


def region() -> str:
    """Where SES sends from, as it is part of the name of the server that takes bounces."""
    return str(session.client("sesv2").meta.region_name)


def _first_known(names: Iterable[str]) -> Identity | None:
    return next((parse_identity(name, answer) for name in names if (answer := _find(name))), None)


def _candidates(address: str) -> Iterator[str]:
    """The address, its domain, and the parent domains: a verified domain may send for its subdomains."""
    if "@" not in address:
        return
    yield address
    labels = address.rpartition("@")[2].split(".")
    yield from (".".join(labels[start:]) for start in range(len(labels) - 1))


def _find(name: str) -> dict[str, Any] | None:
    try:
        with failures.translated(), patience.counted():
            return dict(session.client("sesv2").get_email_identity(EmailIdentity=name))
    except Stopped as failure:
        if failure.code == "NotFoundException":
            return None
        raise


def parse_identity(name: str, answer: Mapping[str, Any]) -> Identity:
    """An Identity from SES's own answer, whoever asked for it."""
    dkim, mail_from = answer.get("DkimAttributes", {}), answer.get("MailFromAttributes", {})
    has_own_keys = dkim.get("SigningAttributesOrigin") == "EXTERNAL"
    return Identity(
        name=name,
        verified=bool(answer.get("VerifiedForSendingStatus", False)),
        dkim=bool(dkim.get("SigningEnabled", False)) and dkim.get("Status") == "SUCCESS",
        dkim_status=str(dkim.get("Status", "NOT_STARTED")),
        mail_from=mail_from.get("MailFromDomain"),
        mail_from_status=str(mail_from.get("MailFromDomainStatus", "")),
        dkim_names=() if has_own_keys else tuple(dkim.get("Tokens") or ()),
        dkim_zone=str(dkim.get("SigningHostedZone") or "dkim.amazonses.com"),
    )

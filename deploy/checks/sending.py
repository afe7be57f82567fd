"""Checks that SES accepts mail from the sender, and that the DNS lets receivers verify it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from chalicelib.admin.diagnostics import domain
from chalicelib.kernel.findings import Finding, error, note
from chalicelib.mail import account as mail_account
from chalicelib.mail import account_findings
from deploy.checks import REDEPLOY
from deploy.stack import Clients

_REPORTED = {"BOUNCE", "COMPLAINT"}

# The records of a name and a type, as text; empty when there are none.
Lookup = Callable[[str, str], list[str]]


def check_account(clients: Clients) -> Iterator[Finding]:
    account = mail_account.parse_account(clients("sesv2").get_account())
    yield from account_findings.check_account(account)
    yield from account_findings.check_status(account)
    yield from account_findings.check_suppression(account)
    yield from account_findings.check_daily_quota(account)


def check_identity(clients: Clients, from_email: str) -> Iterator[Finding]:
    """The address itself may be verified, or its domain; only a domain can sign."""
    name = domain(from_email)
    found = _identity(clients("sesv2"), name)
    if found is None and _identity(clients("sesv2"), from_email.rpartition("<")[2].rstrip("> ")) is not None:
        why = "email not signed by your domain ends up as spam"
        yield note("only the address is verified", why, f"Verify the domain {name} with Easy DKIM")
        return
    identity = None if found is None else mail_account.parse_identity(name, found)
    yield from account_findings.check_identity(identity)
    if identity and not identity.mail_from:
        why = "SPF then covers amazonses.com, not your domain"
        yield note(f"{name} has no MAIL FROM domain", why, f"Set one in SES, such as bounce.{name}")


def check_reports(clients: Clients, sets: Iterable[str]) -> Iterator[Finding]:
    """Each configuration set reports bounces and complaints: those of imports have one of their own."""
    sesv2 = clients("sesv2")
    for name in filter(None, sets):
        try:
            found = sesv2.get_configuration_set_event_destinations(ConfigurationSetName=name)
        except sesv2.exceptions.NotFoundException:
            why = "SES refuses every email that names it"
            yield error(f"the configuration set {name} is missing", why, REDEPLOY)
            continue
        destinations = [one for one in found["EventDestinations"] if one.get("Enabled")]
        reported = {kind for destination in destinations for kind in destination.get("MatchingEventTypes", [])}
        if not reported >= _REPORTED:
            why = "people whose address fails, or who complain, would get more email"
            yield error(f"the configuration set {name} does not report bounces and complaints", why, REDEPLOY)


def check_dns(clients: Clients, from_email: str, lookup: Lookup) -> Iterator[Finding]:
    name = domain(from_email)
    found = _identity(clients("sesv2"), name) or {}
    yield from _check_dkim(name, found, lookup)
    yield from _check_spf(found.get("MailFromAttributes", {}).get("MailFromDomain") or name, lookup)
    yield from _check_dmarc(name, lookup)


def _check_dkim(name: str, found: dict[str, Any], lookup: Lookup) -> Iterator[Finding]:
    for token in found.get("DkimAttributes", {}).get("Tokens", []):
        if not lookup(f"{token}._domainkey.{name}", "CNAME"):
            why = "the signature cannot be verified"
            yield error(
                f"the CNAME {token}._domainkey.{name} is missing", why, f"Point it to {token}.dkim.amazonses.com"
            )


def _check_spf(sender: str, lookup: Lookup) -> Iterator[Finding]:
    policies = [text for text in lookup(sender, "TXT") if text.startswith("v=spf1")]
    if not any("amazonses.com" in policy for policy in policies):
        why = "receivers cannot see that SES may send for you"
        yield note(
            f"the SPF record of {sender} does not include SES", why, 'Add a TXT "v=spf1 include:amazonses.com ~all"'
        )
    if len(policies) > 1:
        yield error(f"{sender} has several SPF records", "receivers then ignore them all", "Merge them into one")


def _check_dmarc(name: str, lookup: Lookup) -> Iterator[Finding]:
    parent = ".".join(name.split(".")[-2:])
    records = [text for each in dict.fromkeys((name, parent)) for text in lookup(f"_dmarc.{each}", "TXT")]
    if not any("v=DMARC1" in text for text in records):
        why = "Gmail and Yahoo require it of bulk senders"
        yield error(f"{name} has no DMARC record", why, f'Add a TXT _dmarc.{name} "v=DMARC1; p=none"')


def _identity(sesv2: Any, name: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = sesv2.get_email_identity(EmailIdentity=name)
    except sesv2.exceptions.NotFoundException:
        return None
    return found


def resolve(name: str, kind: str) -> list[str]:
    """Look up records in the DNS."""
    import dns.exception
    import dns.resolver

    try:
        answers = dns.resolver.resolve(name, kind, lifetime=5)
    except dns.exception.DNSException:
        return []
    if kind == "TXT":
        return [b"".join(answer.strings).decode(errors="replace") for answer in answers]
    return [str(answer.target) for answer in answers]

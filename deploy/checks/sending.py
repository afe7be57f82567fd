"""Will SES take the mails, and will receivers believe them?"""

from collections.abc import Callable, Iterator
from typing import Any

from chalicelib.admin import diagnostics
from chalicelib.admin.diagnostics import Finding, domain, error, note
from deploy.stack import Clients

# Texts of the records of this kind at that name; empty when there are none.
Lookup = Callable[[str, str], list[str]]

_FEW_MAILS_A_DAY = 1000


def account(clients: Clients) -> Iterator[Finding]:
    found = clients("sesv2").get_account()
    yield from diagnostics.check_sending(
        in_sandbox=not found.get("ProductionAccessEnabled"),
        enabled=found.get("SendingEnabled", True),
        standing=found.get("EnforcementStatus", ""),
    )
    quota = found.get("SendQuota", {})
    if 0 <= quota.get("Max24HourSend", -1) <= _FEW_MAILS_A_DAY:
        most = int(quota["Max24HourSend"])
        why = "a campaign to more people takes several days"
        yield note(f"SES sends at most {most} emails a day", why, "Request a higher quota")


def identity(clients: Clients, from_email: str) -> Iterator[Finding]:
    """The address itself may be verified, or its domain; only a domain can sign."""
    at = domain(from_email)
    found = _identity(clients("sesv2"), at)
    if found is None:
        address = from_email.rpartition("<")[2].rstrip("> ")
        if _identity(clients("sesv2"), address) is None:
            yield error(f"{at} was not found in SES", "no email can be sent", "Create and verify the identity in SES")
        else:
            why = "email not signed by your domain ends up as spam"
            yield note("only the address is verified", why, f"Verify the domain {at} with Easy DKIM")
        return
    if not found.get("VerifiedForSendingStatus"):
        yield error(f"{at} is not verified", "no email can be sent", "Add the records from SES to your DNS")
    if found.get("DkimAttributes", {}).get("Status") != "SUCCESS":
        yield error(f"DKIM is not set up for {at}", "large providers reject it", "Add the CNAMEs from SES to DNS")
    if not found.get("MailFromAttributes", {}).get("MailFromDomain"):
        why = "SPF then covers amazonses.com, not your domain"
        yield note(f"{at} has no MAIL FROM domain", why, f"Set one in SES, such as bounce.{at}")


def names(clients: Clients, from_email: str, lookup: Lookup) -> Iterator[Finding]:
    """What the DNS says to receivers."""
    at = domain(from_email)
    found = _identity(clients("sesv2"), at) or {}
    for token in found.get("DkimAttributes", {}).get("Tokens", []):
        if not lookup(f"{token}._domainkey.{at}", "CNAME"):
            why = "the signature cannot be verified"
            yield error(
                f"the CNAME {token}._domainkey.{at} is missing", why, f"Point it to {token}.dkim.amazonses.com"
            )
    sender = found.get("MailFromAttributes", {}).get("MailFromDomain") or at
    policies = [text for text in lookup(sender, "TXT") if text.startswith("v=spf1")]
    if not any("amazonses.com" in policy for policy in policies):
        why = "receivers cannot see that SES may send for you"
        yield note(
            f"the SPF record of {sender} does not include SES", why, 'Add a TXT "v=spf1 include:amazonses.com ~all"'
        )
    if len(policies) > 1:
        yield error(f"{sender} has several SPF records", "receivers then ignore them all", "Merge them into one")
    yield from _dmarc(at, lookup)


def _dmarc(at: str, lookup: Lookup) -> Iterator[Finding]:
    parent = ".".join(at.split(".")[-2:])
    policies = [t for name in dict.fromkeys((at, parent)) for t in lookup(f"_dmarc.{name}", "TXT") if "v=DMARC1" in t]
    if not policies:
        why = "Gmail and Yahoo require it of bulk senders"
        yield error(f"{at} has no DMARC record", why, f'Add a TXT _dmarc.{at} "v=DMARC1; p=none"')


def _identity(sesv2: Any, name: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = sesv2.get_email_identity(EmailIdentity=name)
    except sesv2.exceptions.NotFoundException:
        return None
    return found


def resolve(name: str, kind: str) -> list[str]:
    """Ask the DNS."""
    import dns.exception
    import dns.resolver

    try:
        answers = dns.resolver.resolve(name, kind, lifetime=5)
    except dns.exception.DNSException:
        return []
    return [b"".join(a.strings).decode(errors="replace") if kind == "TXT" else str(a.target) for a in answers]

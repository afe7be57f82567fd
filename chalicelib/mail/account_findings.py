"""What in the SES account or the sender keeps mail from arriving. Each sentence about it is written here, once."""

from collections.abc import Iterator

from chalicelib.kernel.findings import Finding, Level
from chalicelib.kernel.plurals import count_of
from chalicelib.mail.account import Account, Identity

_FEW_MAILS_A_DAY = 1000
_ALMOST = 0.9


def check_account(account: Account) -> Iterator[Finding]:
    """Whether SES sends at all, and to everybody."""
    if not account.sending_enabled:
        fix = "Read the account's notices in the SES console"
        yield Finding(Level.ERROR, "paused", "SES sending is paused", "no email is sent", fix)
    if account.in_sandbox:
        why = "email reaches verified addresses only, 200 a day"
        fix = "Request production access in the SES console"
        yield Finding(Level.WARNING, "sandbox", "SES is in the sandbox", why, fix)


def check_status(account: Account) -> Iterator[Finding]:
    """Whether AWS is reviewing the account."""
    if account.standing not in ("", "HEALTHY"):
        message = f"The SES account status is {account.standing.lower()}"
        fix = "Reply to the case in the SES console"
        yield Finding(Level.ERROR, "account_status", message, "sending may be paused", fix)


def check_suppression(account: Account) -> Iterator[Finding]:
    """Whether SES itself stops sending to addresses that bounced or complained."""
    if account.suppresses is not None and "BOUNCE" not in account.suppresses:
        why = "SES tries an address again that has bounced, and counts it against you each time"
        fix = "Turn it on for bounces and complaints in the SES console, under Suppression list"
        yield Finding(Level.WARNING, "no_suppression", "SES's suppression list is off for bounces", why, fix)


def check_quota(account: Account, people: int) -> Iterator[Finding]:
    """Whether a campaign to so many people can go out today."""
    if people > account.left_today:
        message = f"SES allows {count_of(account.left_today, 'more email')} today"
        why = "the rest follow as the quota renews; nothing is lost"
        yield Finding(Level.WARNING, "over_quota", message, why)


def check_daily_quota(account: Account) -> Iterator[Finding]:
    if 0 <= account.per_day <= _FEW_MAILS_A_DAY:
        message = f"SES sends at most {count_of(account.per_day, 'email')} a day"
        why = "a campaign to more people takes several days"
        yield Finding(Level.NOTE, "small_quota", message, why, "Request a higher quota")


def check_used_quota(account: Account) -> Iterator[Finding]:
    if account.per_day > 0 and account.sent_today >= _ALMOST * account.per_day:
        yield Finding(Level.WARNING, "quota_almost_used", "The sending quota of 24 hours is almost used up.")


def check_identity(identity: Identity | None) -> Iterator[Finding]:
    """Whether SES sends for FROM_EMAIL, and signs so that receivers believe it."""
    if not identity or not identity.verified:
        message = f"{identity.name} is not verified" if identity else "The sender identity was not found in SES"
        fix = "Create the identity in SES and add its records to DNS"
        yield Finding(Level.ERROR, "unverified", message, "no email can be sent", fix)
    elif not identity.dkim:
        why = "large providers reject unsigned email or mark it as spam"
        fix = "Add the three CNAMEs from SES to DNS"
        yield Finding(Level.WARNING, "no_dkim", f"DKIM is not set up for {identity.name}", why, fix)


def check_postal_address(postal_address: str) -> Iterator[Finding]:
    if not postal_address:
        why = "many countries require a postal address in every newsletter"
        fix = "Set it, unless you know that you need none"
        yield Finding(Level.NOTE, "no_postal_address", "POSTAL_ADDRESS is not set", why, fix)


def no_response(reason: str = "the sending status is unknown") -> Finding:
    return Finding(Level.WARNING, "ses_silent", "The SES account could not be checked", reason)

"""Before the button: what would hurt, how many people, what it costs and when it is done. Links are not visited."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from html.parser import HTMLParser
from math import ceil
from urllib.parse import urlsplit

from chalicelib.audience import recipients
from chalicelib.campaigns import prices, renderer
from chalicelib.campaigns.model import Aim, Whole
from chalicelib.campaigns.renderer import Mailing
from chalicelib.census import service as census
from chalicelib.kernel import clock, settings
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.value import value
from chalicelib.mail import account as mail_account
from chalicelib.mail.account import Account, Identity

CLIPPED_AT = 102 * 1024  # Gmail cuts a longer mail off, and the unsubscribe link with it
LARGEST = 450_000
_LONG_SUBJECT = 70


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@value
class Finding:
    level: Level
    code: str
    message: str


@value
class Report:
    recipients: int
    cost: float
    finishes_at: datetime | None
    size: int
    findings: tuple[Finding, ...]

    @property
    def ready(self) -> bool:
        return not any(finding.level is Level.ERROR for finding in self.findings)


def count(aim: Aim) -> int:
    """How many would get it now. Everybody is known; for some of them everybody has to be looked at."""
    return census.total() if aim.everybody else recipients.count(aim, clock.now())


def check(whole: Whole) -> Report:
    mailing = renderer.rendered(whole)
    people = count(whole.campaign.aim)
    findings = [*of_mail(mailing, whole), *of_people(people)]
    finishes_at = None
    try:
        account = mail_account.account()
        findings += [*of_account(account, people), *of_identity(mail_account.identity())]
        finishes_at = _finish(account, people, clock.now())
    except Unavailable as failure:
        findings.append(Finding(Level.WARNING, "ses_silent", f"SES could not be asked: {failure.reason}"))
    size = len(mailing.html.encode())
    return Report(people, round(prices.of_sending(people), 4), finishes_at, size, tuple(findings))


def of_mail(mailing: Mailing, whole: Whole) -> Iterator[Finding]:
    yield from _of_size(len(mailing.html.encode()))
    if len(whole.campaign.subject) > _LONG_SUBJECT:
        yield Finding(Level.NOTE, "long_subject", f"Phones show about {_LONG_SUBJECT} characters of a subject.")
    if not whole.content.text:
        yield Finding(Level.NOTE, "text_made", "The plain text is made from the HTML. Have a look at it.")
    if mailing.removed:
        yield Finding(Level.WARNING, "removed", f"Left out of the mail: {', '.join(mailing.removed)}.")
    if any(wish.kind == "nickname" and not wish.fallback for wish in mailing.wishes):
        message = "People without a nickname see a gap. Write {{nickname|friend}}, or {{greeting}}."
        yield Finding(Level.WARNING, "no_fallback", message)
    yield from _of_links(mailing)
    if not settings.current().postal_address:
        yield Finding(Level.NOTE, "no_postal_address", "Many countries ask for a postal address: set POSTAL_ADDRESS.")


def of_people(people: int) -> Iterator[Finding]:
    if not people:
        yield Finding(Level.WARNING, "nobody", "Nobody would get this.")


def of_account(account: Account, people: int) -> Iterator[Finding]:
    if not account.sending_enabled:
        yield Finding(Level.ERROR, "paused", "Sending is switched off in SES.")
    if account.in_sandbox:
        message = "The SES account is in the sandbox: only verified addresses get mail. AWS opens it on request."
        yield Finding(Level.WARNING, "sandbox", message)
    if people > account.left_today:
        left = int(account.left_today)
        message = f"SES allows {left} more mails today. The others follow as the quota renews; nothing is lost."
        yield Finding(Level.WARNING, "over_quota", message)


def of_identity(identity: Identity | None) -> Iterator[Finding]:
    if not identity or not identity.verified:
        yield Finding(Level.ERROR, "unverified", "FROM_EMAIL is not verified in SES, so nothing can be sent.")
    elif not identity.dkim:
        message = f"DKIM is not set up for {identity.name}: large providers will refuse or hide the mail."
        yield Finding(Level.WARNING, "no_dkim", message)


def _of_size(size: int) -> Iterator[Finding]:
    if size > LARGEST:
        yield Finding(Level.ERROR, "too_large", f"The mail has {size // 1024} KB, more than can be sent.")
    elif size > CLIPPED_AT:
        message = f"The mail has {size // 1024} KB. Gmail shows 102 KB and hides the rest, with the unsubscribe link."
        yield Finding(Level.WARNING, "clipped", message)


def _of_links(mailing: Mailing) -> Iterator[Finding]:
    seen = _Seen(mailing.archived())
    site = settings.current().site_url
    insecure = {url for url in seen.links if url.startswith("http://") and not url.startswith(site)}
    if insecure:
        yield Finding(Level.WARNING, "http_links", f"{len(insecure)} links or images use http instead of https.")
    broken = sum(1 for url in seen.links if _is_broken(url))
    if broken or seen.without_target:
        message = f"{broken + seen.without_target} links lead nowhere."
        yield Finding(Level.WARNING, "broken_links", message)
    if seen.without_alt:
        message = f"{seen.without_alt} images have no alternative text (alt)."
        yield Finding(Level.WARNING, "images_without_alt", message)


class _Seen(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.without_target = 0
        self.without_alt = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        address = given.get("href" if tag == "a" else "src")
        if tag in ("a", "img") and address:
            self.links.append(address)
        if tag in ("a", "img") and not address:
            self.without_target += 1
        if tag == "img" and "alt" not in given:
            self.without_alt += 1


def _is_broken(url: str) -> bool:
    if url.startswith(("mailto:", "tel:")):
        return not url.partition(":")[2]
    try:
        host = urlsplit(url).hostname or ""
        return "." not in host and host != "localhost" and host != urlsplit(settings.current().site_url).hostname
    except ValueError:
        return True


def _finish(account: Account, people: int, now: datetime) -> datetime | None:
    """With all of the rate for this campaign. What is over today's quota goes out at a day's quota a day."""
    if account.per_second <= 0 or not account.per_day:
        return None
    if people <= account.left_today:
        return now + timedelta(seconds=people / account.per_second)
    days = ceil((people - account.left_today) / account.per_day)
    rest = (people - account.left_today) - (days - 1) * account.per_day
    return now + timedelta(days=days, seconds=rest / account.per_second)

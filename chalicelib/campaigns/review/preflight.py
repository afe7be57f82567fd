"""Checks before sending: what is wrong, how many people it reaches, what it costs and when it will be finished."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import ceil

from msgspec import Struct

from chalicelib.audience import recipients
from chalicelib.bounces import failing
from chalicelib.campaigns import pictures, uses
from chalicelib.campaigns.content import links, renderer
from chalicelib.campaigns.content.blocks import Item
from chalicelib.campaigns.content.links import Links, Verdict, Visit
from chalicelib.campaigns.content.renderer import Mailing
from chalicelib.campaigns.model import CampaignDetail, Origin, Resolved, Targeting
from chalicelib.campaigns.review import care, caution, prices
from chalicelib.campaigns.review.care import Minutes
from chalicelib.kernel import clock, publication
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.findings import Finding, Level
from chalicelib.kernel.plurals import count_of
from chalicelib.mail import account as mail_account
from chalicelib.mail import account_findings, bulk
from chalicelib.mail.account import Account

CLIPPED_AT = 102 * 1024  # Gmail cuts a longer mail off, and the unsubscribe link with it
LARGEST = bulk.LARGEST_TEMPLATE - 10_000  # room for the subject and the headers
_LONG_SUBJECT = 70
_LONGEST_URL = 100
_MOST_NAMED = 5


class Report(Struct, frozen=True):
    """`imported` of the recipients have never been sent a campaign."""

    recipients: int
    cost: float
    finishes_at: datetime | None
    size: int
    findings: tuple[Finding, ...]
    minutes: Minutes
    imported: int = 0

    @property
    def ready(self) -> bool:
        return not any(finding.level is Level.ERROR for finding in self.findings)


def count_recipients(targeting: Targeting) -> int:
    """How many would get it now. The total is kept as a count; to count only some, everybody has to be read."""
    return (
        recipients.count_everybody() if targeting.everybody else recipients.count(_resolved(targeting), clock.now())
    )


def _resolved(targeting: Targeting) -> Resolved:
    return targeting.resolve(publication.current().time_zone)


def check(detail: CampaignDetail, visit: bool = False) -> Report:
    """`visit` also requests every link to see whether it works, which takes up to three seconds."""
    mailing = renderer.render(detail)
    people = count_recipients(detail.campaign.targeting)
    imported = recipients.count_unmailed(_resolved(detail.campaign.targeting), clock.now())
    found = Links(mailing.archived())
    items = uses.list_items(detail)
    minutes = care.estimate_minutes(mailing, items)
    findings = [
        *check_mail(mailing, detail),
        *check_items(detail, items, minutes),
        *check_links(found),
        *care.check_missing_pictures(pictures.find_missing(detail.content)),
        *check_visits(found.visitable, visit),
        *check_recipients(people),
        *caution.check_imported(imported, detail.deliveries),
        *failing.check(people if detail.campaign.targeting.everybody else None),
    ]
    of_account, finishes_at = _check_account(people)
    if finishes_at:
        finishes_at += caution.waits(imported, detail.deliveries)
    cost, size = round(prices.sending_cost(people), 4), len(mailing.html.encode())
    return Report(people, cost, finishes_at, size, (*findings, *of_account), minutes, imported)


def check_mail(mailing: Mailing, detail: CampaignDetail) -> Iterator[Finding]:
    yield from _check_size(mailing)
    if len(detail.campaign.subject) > _LONG_SUBJECT:
        yield Finding(Level.NOTE, "long_subject", f"Phones show only about {_LONG_SUBJECT} characters of a subject.")
    if not detail.content.text:
        yield Finding(Level.NOTE, "text_made", "The plain text is generated from the body. Check it before sending.")
    if mailing.removed:
        yield Finding(Level.WARNING, "removed", f"Removed from the email: {', '.join(mailing.removed)}.")
    if any(placeholder.kind == "nickname" and not placeholder.fallback for placeholder in mailing.placeholders):
        message = "People without a nickname will see a gap. Use {{nickname|friend}} or {{greeting}}."
        yield Finding(Level.WARNING, "no_fallback", message)
    yield from check_merge_tags(mailing)
    yield from care.check_leftovers(mailing, detail)
    yield from account_findings.check_postal_address(publication.current().postal_address)


def check_items(detail: CampaignDetail, items: Sequence[Item], minutes: Minutes) -> Iterator[Finding]:
    """What other rooms know about the items comes after what they look like."""
    if items:
        yield from care.check_items(items, wants_notes=detail.campaign.origin is not Origin.FEED)
        yield from uses.findings(detail)
        yield from care.check_minutes(minutes)


def check_merge_tags(mailing: Mailing) -> Iterator[Finding]:
    """What readers would see as it was typed."""
    for tag in mailing.unknown[:_MOST_NAMED]:
        message = f"Unknown placeholder {tag.typed} in the {tag.part}"
        fix = f"{tag.advice}. If the braces are meant, write \\{tag.typed}"
        yield Finding(Level.ERROR, "unknown_placeholder", message, "readers would see it as typed", fix)
    if len(mailing.unknown) > _MOST_NAMED:
        message = f"There are {len(mailing.unknown) - _MOST_NAMED} more unknown placeholders."
        yield Finding(Level.ERROR, "unknown_placeholder", message)
    for tag in mailing.foreign[:_MOST_NAMED]:
        message, why = f"{tag.typed} in the {tag.part}", "this looks like a tag of another newsletter tool"
        yield Finding(Level.WARNING, "merge_tag", message, why, tag.advice)
    if mailing.unfilled:
        message = "Placeholders are not filled in inside addresses and styles, which are the same for every reader."
        yield Finding(Level.WARNING, "unfilled_placeholder", message)


def check_links(found: Links) -> Iterator[Finding]:
    if found.insecure:
        what = count_of(len(found.insecure), "link or image uses", "links or images use")
        yield Finding(Level.WARNING, "http_links", f"{what} http instead of https: {_name_some(found.insecure)}.")
    if found.broken:
        what = count_of(len(found.broken), "link has", "links have")
        yield Finding(
            Level.WARNING, "broken_links", f"{what} a missing or invalid address: {_name_some(found.broken)}."
        )
    if found.without_alt:
        what = count_of(len(found.without_alt), "image has", "images have")
        message = f"{what} no alternative text (alt): {_name_some(found.without_alt)}."
        yield Finding(Level.WARNING, "images_without_alt", message)
    yield from care.check_pictures(found)


def check_visits(urls: Sequence[str], visit: bool) -> Iterator[Finding]:
    """Without `visit`, what the last visit found."""
    visits = links.visit(urls) if visit else links.recall(urls)
    for link in visits:
        if link.verdict is Verdict.DEAD:
            yield Finding(Level.WARNING, "dead_link", f"Broken link {_shorten(link.url)}: {link.why}.")
    if unsure := [link for link in visits if link.verdict is Verdict.UNSURE]:
        yield Finding(Level.NOTE, "unchecked_links", f"Could not be checked: {_list_links(unsure)}.")
    if visit and len(urls) > links.MOST_VISITED:
        message = f"Only the first {links.MOST_VISITED} of {len(urls)} links were checked."
        yield Finding(Level.NOTE, "many_links", message)


def _check_account(people: int) -> tuple[list[Finding], datetime | None]:
    """What is wrong with it, and when it will be done with so many."""
    try:
        account = mail_account.account()
        findings = [
            *account_findings.check_account(account),
            *account_findings.check_quota(account, people),
            *account_findings.check_identity(mail_account.identity()),
        ]
        return findings, estimate_finish(account, people, clock.now())
    except Unavailable as failure:
        return [account_findings.no_response(failure.reason)], None


def check_recipients(people: int) -> Iterator[Finding]:
    if not people:
        yield Finding(Level.WARNING, "nobody", "This campaign has no recipients.")


def _check_size(mailing: Mailing) -> Iterator[Finding]:
    size = len(mailing.html.encode())
    if bulk.json_size(mailing.html, mailing.text) > LARGEST:
        message = f"The email is {size // 1024} KB plus its plain text: too large to send."
        yield Finding(Level.ERROR, "too_large", message)
    elif size > CLIPPED_AT:
        message = f"The email is {size // 1024} KB. Gmail hides the part after 102 KB, with the unsubscribe link."
        yield Finding(Level.WARNING, "clipped", message)


def _list_links(visits: Sequence[Visit]) -> str:
    return "; ".join(f"{_shorten(link.url)} ({link.why})" for link in visits)


def _name_some(found: Sequence[str]) -> str:
    """Which ones, as far as a list stays readable."""
    more = len(found) - _MOST_NAMED
    named = ", ".join(_shorten(name) for name in found[:_MOST_NAMED])
    return f"{named} and {more} more" if more > 0 else named


def _shorten(url: str) -> str:
    return url if len(url) <= _LONGEST_URL else url[:_LONGEST_URL] + "…"


def estimate_finish(account: Account, people: int, now: datetime) -> datetime | None:
    """If this campaign gets the whole sending rate. What exceeds today's quota goes out on the days after."""
    if account.per_second <= 0 or not account.per_day:
        return None
    if people <= account.left_today:
        return now + timedelta(seconds=people / account.per_second)
    days = ceil((people - account.left_today) / account.per_day)
    rest = (people - account.left_today) - (days - 1) * account.per_day
    return now + timedelta(days=days, seconds=rest / account.per_second)

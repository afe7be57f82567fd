"""What is left to do before the first campaign, from naming the publication to its DNS records. Every step is ticked
by what has happened, and by nothing that anybody presses.

What has been seen once stays done, and when all is done that is kept, too: from then on it costs one read.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from chalicelib.admin import diagnostics, fallbacks
from chalicelib.audience import counts, milestones
from chalicelib.audience.imports import service as imports
from chalicelib.kernel import publication, settings
from chalicelib.kernel.findings import Finding, Level
from chalicelib.mail import account as mail_account
from chalicelib.mail import account_findings, dns_records
from chalicelib.mail.account import Identity
from chalicelib.mail.dns_records import Record

BRAND, FORM, LIST, SELF, CAMPAIGN, SENDING = "brand", "form", "list", "self", "campaign", "sending"
_ALL, _BEGUN = "all", "begun"
# Whoever has so many readers without an import has no list that still has to come.
_A_LIST = 10
_LATEST = 20
_SHIPPED_COLOUR = "#0f766e"


class Step(Struct, frozen=True):
    key: str
    title: str
    text: str
    path: str
    link: str
    done: bool = False


class Sending(Struct, frozen=True):
    """Whether mail will arrive: what `make doctor` reports of it, and the records to copy."""

    findings: tuple[Finding, ...]
    records: tuple[Record, ...]
    identity: Identity | None

    @property
    def is_ready(self) -> bool:
        return all(finding.level is Level.NOTE for finding in self.findings)


class FirstRun(Struct, frozen=True):
    steps: tuple[Step, ...]

    @property
    def done(self) -> int:
        return sum(step.done for step in self.steps)

    @property
    def next(self) -> Step | None:
        return next((step for step in self.steps if not step.done), None)


def gather(editor: str, has_sent: bool, *, again: bool = False) -> FirstRun | None:
    """None when all has been done; with `again` it is shown nevertheless. `editor` is who is signed in, `has_sent`
    whether a campaign has been sent or is being sent."""
    reached = milestones.list_reached() or _begin(has_sent)
    if _ALL in reached and not again:
        return None
    steps = tuple(_steps(_find_done(editor, has_sent, reached)))
    if all(step.done for step in steps):
        milestones.reach(_ALL)
    return FirstRun(steps) if again or not all(step.done for step in steps) else None


def _begin(has_sent: bool) -> frozenset[str]:
    """Nobody has looked before. A publication that has sent campaigns already needs no beginner's list."""
    first = _ALL if has_sent else _BEGUN
    milestones.reach(first)
    return frozenset({first})


def _find_done(editor: str, has_sent: bool, reached: frozenset[str]) -> set[str]:
    facts: dict[str, Callable[[], bool]] = {
        BRAND: _is_branded,
        FORM: milestones.has_sign_up,
        LIST: lambda: has_sent or counts.total() >= _A_LIST or _has_imported(),
        SELF: lambda: _is_subscribed(editor),
        CAMPAIGN: lambda: has_sent,
    }
    done = {key for key, holds in facts.items() if key in reached or holds()}
    for key in sorted(done - reached):
        milestones.reach(key)
    if not settings.current().local and (_ALL in reached or gather_sending().is_ready):
        done.add(SENDING)
    return done


def gather_sending() -> Sending:
    """Asks SES a few times; what does not answer is a finding."""
    account = fallbacks.or_none(mail_account.account)
    identity = fallbacks.or_none(lambda: (mail_account.identity(),))
    domain = fallbacks.or_none(mail_account.domain_identity)
    findings = [finding for finding in diagnostics.check(settings.current()) if finding.level is not Level.NOTE]
    if account:
        findings += [*account_findings.check_account(account), *account_findings.check_status(account)]
        findings += account_findings.check_suppression(account)
    if identity:
        findings += account_findings.check_identity(*identity)
    if not (account and identity):
        findings.append(account_findings.no_response())
    records = dns_records.list_records(domain, mail_account.region()) if domain else []
    return Sending(tuple(findings), tuple(records), domain)


def _is_branded() -> bool:
    """Its name, colour or picture is no longer what it was deployed with, or not the colour everybody begins with."""
    now, deployed = publication.current(), publication.from_settings(settings.current())
    changed = (now.name, now.tagline, now.logo, now.colours) != (
        deployed.name,
        deployed.tagline,
        deployed.logo,
        deployed.colours,
    )
    return changed or now.colours.accent.lower() != _SHIPPED_COLOUR


def _has_imported() -> bool:
    """Somebody, or people who were here already; not a list of bounces."""
    brought = [found.counts for found in imports.list_imports(_LATEST) if found.started_at]
    return any(results.get(name) for results in brought for name in ("imported", "asked", "already"))


def _is_subscribed(editor: str) -> bool:
    """Whoever is signed in, or ADMIN_EMAIL. At home nobody signs in, and any reader will do."""
    if settings.current().local and counts.total():
        return True
    return any(milestones.has_subscribed(email) for email in (editor, settings.current().admin_email) if email)


def _steps(done: set[str]) -> Iterator[Step]:
    """At home there is nothing to set up for sending."""
    for key, title, text, path, link in _STEPS:
        if key != SENDING or not settings.current().local:
            yield Step(key, title, text, path, link, key in done)


_STEPS = (
    (
        BRAND,
        "Make it yours",
        "A name, a colour, a logo: they are on every page and in every email.",
        "/admin/settings",
        "Open settings",
    ),
    (
        FORM,
        "Put the form into your site",
        "Copy a snippet, choose its words, try it. Done when somebody has signed up.",
        "/admin/form",
        "Get the form",
    ),
    (
        LIST,
        "Bring your list",
        "From Mailchimp, Substack, Ghost and others, or any CSV file. Starting from zero? Go on: this is ticked with "
        "your first campaign.",
        "/admin/imports",
        "Import a list",
    ),
    (
        SELF,
        "Subscribe yourself",
        "See what your readers see: the confirmation, the welcome, the unsubscribe link.",
        "/subscribe",
        "Open your sign-up page",
    ),
    (
        CAMPAIGN,
        "Write your first campaign",
        "Preview it, send yourself a test, then send it or schedule it.",
        "/admin/campaigns/new",
        "Write a campaign",
    ),
    (
        SENDING,
        "Make sure email arrives",
        "What make doctor finds, and the DNS records to copy for DKIM, SPF, DMARC and MAIL FROM.",
        "/admin/start#sending",
        "See what is missing",
    ),
)

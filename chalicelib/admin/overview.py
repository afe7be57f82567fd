"""What the overview shows of every room. A part that cannot be loaded is left empty."""

from collections.abc import Iterator
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.admin import chart, diagnostics, fallbacks, labels, truncate
from chalicelib.admin.chart import Chart
from chalicelib.audience import counts, held, pausing, recipients
from chalicelib.bounces import failing
from chalicelib.bounces import service as bounces
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import HELD_BACK, Campaign, DeliveryState, State
from chalicelib.events.webhooks import model as webhooks_model
from chalicelib.events.webhooks import service as webhooks
from chalicelib.feeds import service as feeds
from chalicelib.kernel import clock, publication, settings
from chalicelib.kernel.findings import Finding, Level
from chalicelib.kernel.plurals import count_of
from chalicelib.mail import account as mail_account
from chalicelib.mail import account_findings
from chalicelib.mail.account import Account

_DAYS = 400
_RECENT, _SCHEDULED = 20, 100


class Overview(Struct, frozen=True):
    people: int
    joined: int
    left: int
    chart: Chart | None
    drafts: tuple[Campaign, ...]
    last: Campaign | None
    next: Campaign | None
    sending: tuple[Campaign, ...]
    feed: feeds.View | None
    bounces: int | None
    paused: int | None
    account: Account | None
    findings: tuple[Finding, ...]

    @property
    def has_sent(self) -> bool:
        return bool(self.last or self.sending)


def has_sent() -> bool:
    """Whether a campaign has been sent or is being sent, for who needs no more than that."""
    return any(campaigns.list_page(state, 1, 1).items for state in (State.PUBLISHED, State.PUBLISHING))


def gather() -> Overview:
    # Without people and campaigns there is no overview: zero subscribers or no drafts would be a lie.
    days = counts.days(_DAYS)
    drafts, scheduled, sending, sent = (_latest(state) for state in State)
    feed = fallbacks.or_none(feeds.view)
    account = fallbacks.or_none(mail_account.account)
    today = clock.now().date()
    week = [day for day in days if day.day > (today - timedelta(days=7)).isoformat()]
    return Overview(
        people=days[-1].total if days else 0,
        joined=sum(day.joined for day in week),
        left=sum(day.left for day in week),
        chart=chart.build_chart(days, today),
        drafts=tuple(drafts[:3]),
        last=max(sent, key=lambda campaign: campaign.published_at or campaign.created_at, default=None),
        next=min(scheduled, key=lambda campaign: campaign.scheduled_at or campaign.created_at, default=None),
        sending=tuple(sending),
        feed=feed,
        bounces=fallbacks.or_none(lambda: bounces.list_page(1, 1).total),
        paused=fallbacks.or_none(pausing.count),
        account=account,
        findings=tuple(_check([*drafts, *sent], feed, account)),
    )


def _latest(state: State) -> list[Campaign]:
    """By state, because the newest may all be drafts; more of the scheduled, because the next one may be old."""
    most = _SCHEDULED if state is State.SCHEDULED else _RECENT
    return campaigns.list_page(state, 1, most).items


def _check(recent: list[Campaign], feed: feeds.View | None, account: Account | None) -> Iterator[Finding]:
    yield from _check_account(account)
    yield from _check_held()
    yield from fallbacks.or_none(lambda: list(failing.check(recipients.count_everybody()))) or []
    yield from _check_campaigns(recent)
    if feed and feed.url and (feed.state.is_failing or feed.state.stopped):
        yield _finding(Level.ERROR, f"The feed cannot be read: {feed.state.summary}.", "/admin/feed", "View feed")
    if feed and feed.waiting.entries and not feed.waiting.policy.collects:
        waits = count_of(len(feed.waiting.entries), "post") + (
            " waits" if len(feed.waiting.entries) == 1 else " wait"
        )
        yield _finding(Level.NOTE, f"{waits} to be emailed.", "/admin/feed#waiting", "Send or cancel")
    yield from _check_webhooks()
    if errors := sum(
        finding.level is Level.ERROR for finding in diagnostics.check(settings.current(), publication.at_hand())
    ):
        message = "A setting needs attention." if errors == 1 else f"{errors} settings need attention."
        yield _finding(Level.ERROR, message, "/admin/settings", "View settings")


def _check_account(account: Account | None) -> Iterator[Finding]:
    if account is None:
        found = [replace(account_findings.no_response(), level=Level.ERROR)]
    else:
        found = [*account_findings.check_account(account), *account_findings.check_used_quota(account)]
    for finding in found:
        yield replace(finding, path="/admin/settings", link="Sending settings")


def _check_held() -> Iterator[Finding]:
    count = fallbacks.or_none(held.count) or 0
    if count:
        many = f"At least {labels.number(count)}" if count == held.MOST_COUNTED else labels.number(count)
        subject = "1 confirmation email is held" if count == 1 else f"{many} confirmation emails are held"
        reason = "more people signed up than MAILS_PER_HOUR allows, or many from one network"
        message = f"{subject}: {reason}. Held emails are sent in order, as each hour allows."
        yield _finding(Level.WARNING, message, "/admin/subscribers?status=pending", "View pending subscribers")


def _check_campaigns(recent: list[Campaign]) -> Iterator[Finding]:
    for campaign in recent:
        path, subject = f"/admin/campaigns/{campaign.id}", truncate.truncate(campaign.subject, 300)
        if campaign.notice and campaign.notice.startswith(HELD_BACK):
            yield _finding(Level.ERROR, f"“{subject}” was held back.", path, "Review")
        elif campaign.notice:
            yield _finding(Level.WARNING, f"“{subject}”: {campaign.notice}", path, "Review")
        elif campaign.delivery_state is DeliveryState.FAILED:
            yield _finding(Level.ERROR, f"“{subject}” was not sent to everyone.", path, "View report")


def _check_webhooks() -> Iterator[Finding]:
    for webhook in fallbacks.or_none(webhooks.list_webhooks) or []:
        path = f"/admin/webhooks/{webhook.id}"
        if webhook.state == webhooks_model.DISABLED:
            yield _finding(Level.ERROR, "A webhook was disabled.", path, "View webhook")
        elif webhook.failing_since:
            yield _finding(Level.WARNING, "A webhook is failing.", path, "View webhook")


def _finding(level: Level, message: str, path: str, link: str) -> Finding:
    return Finding(level, "", message, path=path, link=link)

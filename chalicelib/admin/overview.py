"""What the first page shows: one look at every room. A room that does not answer leaves its place empty."""

from collections.abc import Iterator
from datetime import timedelta

from msgspec import Struct

from chalicelib.admin import chart, diagnostics, fallbacks, truncate
from chalicelib.admin.chart import Chart
from chalicelib.audience import counts
from chalicelib.bounces import service as bounces
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Campaign, DeliveryState, State
from chalicelib.events.webhooks import model as webhooks_model
from chalicelib.events.webhooks import service as webhooks
from chalicelib.feeds import service as feeds
from chalicelib.kernel import clock, settings
from chalicelib.mail import account as mail_account
from chalicelib.mail.account import Account

_DAYS = 400
_RECENT, _SCHEDULED = 20, 100
_ALMOST = 0.9


class Concern(Struct, frozen=True):
    """Something to look at. `serious`: until somebody does, something does not work."""

    serious: bool
    text: str
    path: str
    link: str


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
    account: Account | None
    concerns: tuple[Concern, ...]


def gather() -> Overview:
    days = fallbacks.or_none(lambda: counts.days(_DAYS)) or []
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
        last=max(sent, key=lambda one: one.published_at or one.created_at, default=None),
        next=min(scheduled, key=lambda one: one.scheduled_at or one.created_at, default=None),
        sending=tuple(sending),
        feed=feed,
        bounces=fallbacks.or_none(lambda: bounces.list_page(1, 1).total),
        account=account,
        concerns=tuple(_concerns([*drafts, *sent], feed, account)),
    )


def _latest(state: State) -> list[Campaign]:
    """By state, because the newest of all may be drafts only. Of the scheduled ones all, for the next may be old."""
    most = _SCHEDULED if state is State.SCHEDULED else _RECENT
    return fallbacks.or_none(lambda: campaigns.list_page(state, 1, most).items) or []


def _concerns(recent: list[Campaign], feed: feeds.View | None, account: Account | None) -> Iterator[Concern]:
    yield from _of_account(account)
    for campaign in recent:
        path, subject = f"/admin/campaigns/{campaign.id}", truncate.truncate(campaign.subject, 300)
        if campaign.notice:
            yield Concern(True, f"“{subject}” was held back.", path, "Review")
        elif campaign.delivery_state is DeliveryState.FAILED:
            yield Concern(True, f"“{subject}” was not sent to everyone.", path, "View report")
    if feed and feed.url and (feed.state.is_failing or feed.state.stopped):
        yield Concern(True, f"The feed cannot be read: {feed.state.summary}.", "/admin/feed", "View feed")
    for webhook in fallbacks.or_none(webhooks.list_webhooks) or []:
        if webhook.state == webhooks_model.DISABLED:
            yield Concern(True, "A webhook was disabled.", f"/admin/webhooks/{webhook.id}", "View webhook")
        elif webhook.failing_since:
            yield Concern(False, "A webhook is failing.", f"/admin/webhooks/{webhook.id}", "View webhook")
    serious = sum(finding.serious for finding in diagnostics.check(settings.current()))
    if serious:
        text = "A setting needs" if serious == 1 else f"{serious} settings need"
        yield Concern(True, f"{text} attention.", "/admin/settings", "View settings")


def _of_account(account: Account | None) -> Iterator[Concern]:
    place = ("/admin/settings", "Sending settings")
    if account is None:
        yield Concern(True, "SES did not respond: the sending status is unknown.", *place)
        return
    if not account.sending_enabled:
        yield Concern(True, "Sending is paused in SES.", *place)
    if account.in_sandbox:
        yield Concern(False, "The SES account is in the sandbox: only verified addresses receive email.", *place)
    if account.per_day > 0 and account.sent_today >= _ALMOST * account.per_day:
        yield Concern(False, "Today’s sending quota is almost used up.", *place)

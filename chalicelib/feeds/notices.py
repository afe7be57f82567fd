"""The notices mailed to the admin about the feed."""

from collections.abc import Sequence
from datetime import datetime

from chalicelib.campaigns.model import Campaign
from chalicelib.feeds.state import Notice, State
from chalicelib.kernel import settings, zones

_MOST_LISTED = 10


def feed_failing(state: State, reason: str) -> Notice:
    text = (
        f"{state.url}\n\n{reason}.\n\nThis was the third failure in a row. Gna keeps trying at every check and "
        "will email you when the feed can be read again; until then nothing new is sent."
    )
    return Notice("The feed cannot be read", text)


def feed_gone(state: State) -> Notice:
    text = (
        f"{state.url}\n\nIts server reports that the feed is permanently gone (410), so Gna no longer checks it.\n\n"
        "If that is a mistake, check it from the dashboard; if it has moved, update FEED_URL."
    )
    return Notice("The feed is gone", text)


def feed_recovered(state: State) -> Notice:
    return Notice("The feed can be read again", f"{state.url}\n\nGna checks it as usual again.")


def draft_ready(campaign: Campaign, count: int) -> Notice:
    entries = "a new entry" if count == 1 else f"{count} new entries"
    text = f"It was made from {entries} in the feed.\n\n{_link(campaign)}"
    return Notice(f"A draft is ready: {campaign.subject}", text)


def flood(campaign: Campaign, count: int) -> Notice:
    text = (
        f"The feed has {count} new entries at once, which may mean that it was rewritten. Nothing was sent.\n\n"
        f"They are in a draft: send it or delete it.\n\n{_link(campaign)}"
    )
    return Notice(f"{count} new entries at once: please review", text)


def not_sent(campaign: Campaign, reason: str) -> Notice:
    """Posts that waited, and could not leave when they should have."""
    text = f"{reason}. Nothing was sent.\n\nIt is a draft: send it or delete it.\n\n{_link(campaign)}"
    return Notice(f"Not sent, but a draft: {campaign.subject}", text)


def posts_waiting(titles: Sequence[str], due_at: datetime, zone: str) -> Notice:
    """The link leads to the dashboard, behind its sign-in: whoever forwards the mail gives nothing away, and a
    scanner that opens every link changes nothing."""
    subject = titles[0] + (f" and {len(titles) - 1} more" if len(titles) > 1 else "")
    listed = "\n\n".join(f"“{title}”" for title in titles[:_MOST_LISTED])
    link = settings.current().url("/admin/feed#waiting")
    text = f"{listed}\n\nUntil then you can send or cancel here:\n\n{link}"
    return Notice(f"Goes out {_local(due_at, zone)}: {subject}", text)


def _link(campaign: Campaign) -> str:
    return settings.current().url(f"/admin/campaigns/{campaign.id}")


def _local(moment: datetime, zone: str) -> str:
    return f"{moment.astimezone(zones.find(zone)):%a %H:%M} ({zone})"

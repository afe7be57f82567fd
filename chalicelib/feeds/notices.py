"""The notices mailed to the admin about the feed."""

from chalicelib.campaigns.model import Campaign
from chalicelib.feeds.state import Notice, State
from chalicelib.kernel import settings


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


def draft_ready(campaign: Campaign, count: int, flood: bool) -> Notice:
    link = settings.current().url(f"/admin/campaigns/{campaign.id}")
    if flood:
        text = (
            f"The feed has {count} new entries at once, which may mean that it was rewritten. Nothing was sent.\n\n"
            f"They are in a draft: send it or delete it.\n\n{link}"
        )
        return Notice(f"{count} new entries at once: please review", text)
    entries = "a new entry" if count == 1 else f"{count} new entries"
    return Notice(f"A draft is ready: {campaign.subject}", f"It was made from {entries} in the feed.\n\n{link}")

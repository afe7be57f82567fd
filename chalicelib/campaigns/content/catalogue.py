"""Every campaign that anybody may read, newest first. Lists, neighbours, feeds, sitemap and search all begin here, so
what is hidden or was sent to some is in none of them."""

from datetime import datetime, timedelta

from msgspec import Struct

from chalicelib.campaigns import store
from chalicelib.campaigns.content import corrections, renderer
from chalicelib.campaigns.model import Campaign
from chalicelib.kernel import clock, settings
from chalicelib.kernel.recent import Recent

# Kept in memory under the archive's stamp, which every request reads: a change shows at once, and between two changes
# nothing else is read. The hour is for a table that was restored from a backup.
_kept: Recent["tuple[Issue, ...]"] = Recent(timedelta(hours=1), 1)


class Issue(Struct, frozen=True):
    """A campaign in the archive. `stamp` changes with what its web version says."""

    campaign: Campaign
    subject: str
    preheader: str
    published_at: datetime
    updated_at: datetime
    stamp: str

    @property
    def id(self) -> str:
        return self.campaign.id

    @property
    def url(self) -> str:
        return settings.current().url(f"/archive/{self.id}")


def current() -> tuple[Issue, ...]:
    stamp = store.find_archive_stamp()
    if stamp is None:
        return _read()
    kept = _kept.get(stamp)
    return _kept.put(stamp, _read()) if kept is None else kept


def is_public(campaign: Campaign) -> bool:
    return campaign.targeting.everybody and not campaign.hidden


def describe(campaign: Campaign) -> Issue:
    """As its web version is listed. What is still being sent has the time of its last change."""
    corrected = corrections.as_corrected(campaign)
    published_at = campaign.published_at or campaign.updated_at
    updated_at = campaign.correction.corrected_at if campaign.correction else published_at
    return Issue(
        campaign,
        renderer.without_names(corrected.subject),
        renderer.without_names(corrected.preheader),
        published_at,
        updated_at,
        clock.text(campaign.correction.corrected_at) if campaign.correction else "as sent",
    )


def _read() -> tuple[Issue, ...]:
    issues = [describe(campaign) for campaign in store.list_sent() if is_public(campaign)]
    return tuple(sorted(issues, key=lambda issue: (issue.published_at, issue.id), reverse=True))

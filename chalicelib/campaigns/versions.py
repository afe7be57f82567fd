"""The versions of a campaign: listed, read, and brought back."""

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.campaigns import changes, removal, retagging, service, snapshots, uses
from chalicelib.campaigns.history import Past, Saved, Saver, Summary
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.kernel import clock
from chalicelib.kernel.errors import NotFound
from chalicelib.web import whole_numbers

_NO_VERSION = "There is no such version: the last 50 are kept, for 30 days after they were replaced"


class Version(Struct, frozen=True):
    """`last` is the campaign's last version that had this content."""

    saved: Saved
    summary: Summary
    last: int
    is_current: bool = False


class Versions(Struct, frozen=True):
    """Newest first. `withdrawn` counts those that were dropped because a member withdrew something in them."""

    detail: CampaignDetail
    items: tuple[Version, ...]
    withdrawn: int

    def find(self, number: int) -> Version:
        for version in self.items:
            if version.saved.number <= number <= version.last:
                return version
        raise NotFound(_NO_VERSION)


class VersionDetail(Struct, frozen=True):
    """The campaign and its content as of a version."""

    version: Version
    detail: CampaignDetail


def parse_number(text: str) -> int:
    number = whole_numbers.parse(text)
    if number is None:
        raise NotFound(_NO_VERSION)
    return number


def list_versions(campaign_id: str) -> Versions:
    """One request."""
    return _versions(changes.get_written(campaign_id))


def view(campaign_id: str, number: int) -> VersionDetail:
    found = list_versions(campaign_id)
    return read(found, found.find(number))


def read(found: Versions, version: Version) -> VersionDetail:
    """One request, none for the current one."""
    if version.is_current:
        return VersionDetail(version, found.detail)
    assert isinstance(version.saved, Past)
    detail = snapshots.find(found.detail.campaign.id, version.saved)
    if detail is None:  # it has left its place since the list was read
        raise NotFound(_NO_VERSION)
    return VersionDetail(version, detail)


def restore(campaign_id: str, number: int, by: str = "", version: int | None = None) -> CampaignDetail:
    """Bring back what was composed then, as a new version. Nothing is written if that is what it is. What members
    have withdrawn since does not come back, and tags have the names they have now."""
    try:
        return _restore(campaign_id, number, by, version, frozenset())
    except uses.Withdrawn as refusal:
        return _restore(campaign_id, number, by, version, refusal.entries)


def _restore(
    campaign_id: str, number: int, by: str, version: int | None, withdrawn: frozenset[str]
) -> CampaignDetail:
    def decide(detail: CampaignDetail) -> service.Edits:
        found = _versions(detail)
        wanted = found.find(number)
        if wanted.is_current:
            return {}, {}
        draft = snapshots.draft_of(read(found, wanted).detail)
        aim = retagging.bring_up_to_date(draft.targeting, wanted.saved.saved_at)
        draft = replace(draft, targeting=aim)
        notice = {}
        if withdrawn:
            draft = replace(draft, body=removal.without(draft.body, withdrawn))
            notice = {"notice": removal.add_notice(detail.campaign.notice or "")}
        edits, content = draft.split()
        return {**edits, **notice}, content

    return service.save(campaign_id, decide, Saver(by), version)


def _versions(detail: CampaignDetail) -> Versions:
    now = clock.now()
    current = Version(
        snapshots.current(detail), snapshots.summarize(detail), detail.campaign.version, is_current=True
    )
    past = [Version(one, one.summary, one.last) for one in detail.history.readable(now)]
    return Versions(detail, (current, *past), detail.history.withdrawn)

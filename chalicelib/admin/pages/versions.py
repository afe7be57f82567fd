"""The history of a campaign: its versions, what changed in each, and bringing one back."""

from itertools import pairwise

from msgspec import Struct

from chalicelib.access import audit
from chalicelib.admin import differences, labels, preview_frames, shell, truncate
from chalicelib.admin.campaign_conflicts import explain
from chalicelib.admin.differences import Difference
from chalicelib.campaigns import versions
from chalicelib.campaigns.model import NOT_ALLOWED, Action, CampaignDetail, permitted_actions
from chalicelib.campaigns.versions import Version, VersionDetail, Versions
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.web import whole_numbers
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/campaigns"
_CHANGED = (
    "Someone else has saved this campaign since you opened this page, so nothing was brought back. Their version is "
    "the newest one. Look at it, then decide again."
)
_LONGEST = 300


class Change(Struct, frozen=True):
    """A field other than the body."""

    name: str
    before: str
    after: str


class Comparison(Struct, frozen=True):
    """With the version before it, or with the current one."""

    fields: tuple[Change, ...]
    body: Difference
    is_text_changed: bool


def show_versions(request: Request) -> Response:
    """The list, or one version."""
    found = versions.list_versions(request.path["campaign_id"])
    wanted = request.query.get("version")
    if not wanted:
        return _list(request, found)
    return _show(request, found, found.find(versions.parse_number(wanted)))


@explain
def restore_version(request: Request) -> Response:
    campaign_id, number = request.path["campaign_id"], _number(request, "restore")
    try:
        versions.restore(campaign_id, number, request.identity, _number(request, "version"))
    except Conflict as failure:
        found = versions.list_versions(campaign_id)
        if failure.reason == NOT_ALLOWED or not _may_restore(found):
            raise
        return _list(request, found, 409, _CHANGED)
    audit.record(request, "campaign.restore", campaign_id=campaign_id, version=number)
    return shell.back(f"{_HERE}/{campaign_id}", "version-restored")


def _list(request: Request, found: Versions, status: int = 200, problem: str = "") -> Response:
    return shell.page(
        request,
        "admin/versions.html",
        status,
        here=_HERE,
        campaign=found.detail.campaign,
        found=found,
        grown=_grown(found.items),
        problem=problem or None,
    )


def _show(request: Request, found: Versions, version: Version) -> Response:
    at = found.items.index(version)
    older = found.items[at + 1] if at + 1 < len(found.items) else None
    with_current = not version.is_current and (older is None or request.query.get("compare") == "current")
    shown = versions.read(found, version)
    other = _read(found, found.items[0] if with_current else older)
    return shell.page(
        request,
        "admin/version.html",
        here=_HERE,
        campaign=found.detail.campaign,
        one=version,
        shown=shown.detail,
        newer=found.items[at - 1] if at else None,
        older=older,
        with_current=with_current,
        comparison=_compare(other.detail, shown.detail) if other else None,
        may_restore=_may_restore(found) and not version.is_current,
        look=preview_frames.parse_look(request.query.get("look")),
        looks=preview_frames.LOOKS,
    )


def _read(found: Versions, version: Version | None) -> VersionDetail | None:
    """None, too, if it has left its place at this moment."""
    try:
        return versions.read(found, version) if version else None
    except NotFound:
        return None


def _compare(before: CampaignDetail, after: CampaignDetail) -> Comparison:
    pairs = [
        ("Subject", before.campaign.subject, after.campaign.subject),
        ("Preheader", before.campaign.preheader, after.campaign.preheader),
        ("Format", before.campaign.format.value, after.campaign.format.value),
        ("Design", before.campaign.design or "", after.campaign.design or ""),
        ("Recipients", labels.targeting(before.campaign.targeting), labels.targeting(after.campaign.targeting)),
    ]
    fields = [
        Change(name, truncate.truncate(old, _LONGEST), truncate.truncate(new, _LONGEST))
        for name, old, new in pairs
        if old != new
    ]
    body = differences.compare(before.content.body, after.content.body)
    return Comparison(tuple(fields), body, before.content.text != after.content.text)


def _grown(items: tuple[Version, ...]) -> dict[int, int]:
    """How many words each has more than the one before it, by number."""
    pairs = pairwise(items)
    return {new.saved.number: new.summary.words - old.summary.words for new, old in pairs}


def _may_restore(found: Versions) -> bool:
    return Action.UPDATE in permitted_actions(found.detail.campaign.state)


def _number(request: Request, name: str) -> int:
    number = whole_numbers.parse(request.text(name))
    if number is None:
        raise Invalid(f"{name} must be a whole number")
    return number

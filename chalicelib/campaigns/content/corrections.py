"""The web version of a sent campaign, corrected afterwards. What was sent, or is sent by a retry, stays as it was."""

from msgspec import UNSET
from msgspec.structs import replace

from chalicelib.campaigns import changes, model, pictures, store
from chalicelib.campaigns.bodies import NewCorrection as NewCorrection
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Campaign, CampaignDetail, Content, Correction
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Conflict, Invalid, NotFound


def view_web_version(campaign_id: str) -> CampaignDetail:
    """The campaign as the archive shows it, corrected or not."""
    found = store.find_web_version(campaign_id) if ids.is_id(campaign_id) else None
    if not found:
        raise NotFound("Campaign not found")
    return found


def get(campaign_id: str) -> CampaignDetail:
    found = view_web_version(campaign_id)
    if not found.campaign.correction:
        raise NotFound("This campaign has no correction")
    return found


def correct(campaign_id: str, new: NewCorrection) -> CampaignDetail:
    """Show this instead, with the note and today's date; a correction can be corrected again."""

    def change(detail: CampaignDetail) -> changes.Changed:
        before = detail.campaign
        _check(before, new.version)
        now = as_corrected(before)
        subject = now.subject if new.subject is UNSET else new.subject
        preheader = now.preheader if new.preheader is UNSET else new.preheader
        after = _with(detail, Correction(subject, preheader, new.note, clock.now()))
        shown = _find_content(before)
        content = pictures.recognize(Content(new.body), shown)
        _check_content(CampaignDetail(as_corrected(after), content, ()), new.note)
        writes = [*store.correct_writes(before, after, content), *_use_writes(before, shown, content)]
        return replace(detail, campaign=after), writes

    return changes.apply(campaign_id, None, change)


def withdraw(campaign_id: str, version: int | None = None) -> CampaignDetail:
    """Show what was sent again, without a note. Nothing happens if it is shown already."""

    def change(detail: CampaignDetail) -> changes.Changed:
        before = detail.campaign
        _check(before, version)
        if not before.correction:
            return detail, []
        after = _with(detail, None)
        released = _use_writes(before, _find_content(before), None)
        return replace(detail, campaign=after), [*store.withdraw_writes(before, after), *released]

    return changes.apply(campaign_id, None, change)


def as_corrected(campaign: Campaign) -> Campaign:
    """With the subject and the preheader of its web version."""
    found = campaign.correction
    return replace(campaign, subject=found.subject, preheader=found.preheader) if found else campaign


def _find_content(campaign: Campaign) -> Content | None:
    """Of the correction there is. One that is made at this moment also changes the campaign, and both fail."""
    found = store.find_web_version(campaign.id) if campaign.correction else None
    return found.content if found else None


def _use_writes(campaign: Campaign, before: Content | None, after: Content | None) -> list[Write]:
    return pictures.use_writes(before, after, pictures.web_version(campaign.id))


def _check(campaign: Campaign, version: int | None) -> None:
    model.permit_correction(campaign)
    if version is not None and version != campaign.version:
        raise Conflict("The campaign has changed: reload it and try again")


def _check_content(web_version: CampaignDetail, note: str) -> None:
    """Raises here what would otherwise fail on the page, or be seen there."""
    if unknown := renderer.find_unknown(web_version, note):
        raise Invalid(unknown[0].refusal)


def _with(detail: CampaignDetail, correction: Correction | None) -> Campaign:
    return model.with_deliveries(replace(detail.campaign, correction=correction), detail.deliveries, clock.now())

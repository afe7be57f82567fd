"""Campaigns and deliveries as the JSON API shows them."""

from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from chalicelib.bounces.model import Tally
from chalicelib.campaigns import bodies, model, result_bodies, snapshots
from chalicelib.campaigns.model import Campaign, CampaignDetail, Delivery
from chalicelib.campaigns.results import Result
from chalicelib.campaigns.versions import Version, VersionDetail
from chalicelib.kernel import clock
from chalicelib.web import schemas

CampaignBody = bodies.Campaign


def campaign_line(campaign: Campaign) -> bodies.CampaignLine:
    return schemas.build(bodies.CampaignLine, campaign, delivery=_summary(campaign))


def campaign_detail(detail: CampaignDetail, removed: list[str] | UnsetType = UNSET) -> CampaignBody:
    deliveries = [delivery_body(delivery) for delivery in detail.deliveries]
    return schemas.build(CampaignBody, detail.campaign, **_written(detail), deliveries=deliveries, removed=removed)


def edited_campaign(detail: CampaignDetail, removed: list[str]) -> bodies.EditedCampaign:
    """Without the deliveries, if they were not read."""
    deliveries = [delivery_body(delivery) for delivery in detail.deliveries] or UNSET
    return schemas.build(
        bodies.EditedCampaign, detail.campaign, **_written(detail), deliveries=deliveries, removed=removed
    )


def delivery_body(delivery: Delivery) -> bodies.Delivery:
    wave = schemas.build(bodies.Wave, delivery.wave) if delivery.wave else None
    return schemas.build(bodies.Delivery, delivery, **asdict(delivery.counts), **asdict(delivery.tally), wave=wave)


def result(found: Result) -> result_bodies.CampaignResult:
    campaign, tally = found.campaign, found.tally or Tally()
    numbers = {**asdict(campaign.counts), **asdict(tally)}
    return schemas.build(
        result_bodies.CampaignResult, campaign, campaign_id=campaign.id, counted=found.tally is not None, **numbers
    )


def correction_body(web_version: CampaignDetail) -> bodies.Correction:
    return schemas.build(bodies.Correction, web_version.campaign.correction, body=web_version.content.body)


def version_line(version: Version) -> bodies.VersionLine:
    return bodies.VersionLine(**_version(version))


def version_content(found: VersionDetail) -> bodies.VersionContent:
    content = asdict(snapshots.draft_of(found.detail))
    return bodies.VersionContent(**{**_version(found.version), **content})


def _version(version: Version) -> dict[str, Any]:
    saved = version.saved
    return {
        "version": saved.number,
        "saved_at": clock.text(saved.saved_at),
        "by": saved.by or None,
        "autosave": saved.autosave,
        "subject": version.summary.subject,
        "words": version.summary.words,
        "bytes": version.summary.size,
        "current": version.is_current,
    }


def _written(detail: CampaignDetail) -> dict[str, Any]:
    return {
        "body": detail.content.body,
        "text": detail.content.text,
        "delivery": _summary(detail.campaign),
        "correction": _correction(detail.campaign),
        "permitted": model.permitted_actions(detail.campaign.state),
    }


def _correction(campaign: Campaign) -> bodies.CorrectionSummary | None:
    return schemas.build(bodies.CorrectionSummary, campaign.correction) if campaign.correction else None


def _summary(campaign: Campaign) -> bodies.DeliverySummary:
    return schemas.build(bodies.DeliverySummary, campaign.counts, state=campaign.delivery_state)

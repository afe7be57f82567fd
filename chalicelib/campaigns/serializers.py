"""Campaigns and deliveries as the JSON API shows them."""

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from chalicelib.campaigns import bodies, model
from chalicelib.campaigns.model import Campaign, CampaignDetail, Delivery
from chalicelib.web import schemas

CampaignBody = bodies.Campaign


def campaign_line(campaign: Campaign) -> bodies.CampaignLine:
    return schemas.build(bodies.CampaignLine, campaign, delivery=_summary(campaign))


def campaign_detail(detail: CampaignDetail, removed: list[str] | UnsetType = UNSET) -> CampaignBody:
    return schemas.build(
        CampaignBody,
        detail.campaign,
        body=detail.content.body,
        text=detail.content.text,
        delivery=_summary(detail.campaign),
        correction=_correction(detail.campaign),
        permitted=model.permitted_actions(detail.campaign.state),
        deliveries=[delivery_body(delivery) for delivery in detail.deliveries],
        removed=removed,
    )


def delivery_body(delivery: Delivery) -> bodies.Delivery:
    wave = schemas.build(bodies.Wave, delivery.wave) if delivery.wave else None
    return schemas.build(bodies.Delivery, delivery, **asdict(delivery.counts), wave=wave)


def correction_body(web_version: CampaignDetail) -> bodies.Correction:
    return schemas.build(bodies.Correction, web_version.campaign.correction, body=web_version.content.body)


def _correction(campaign: Campaign) -> bodies.CorrectionSummary | None:
    return schemas.build(bodies.CorrectionSummary, campaign.correction) if campaign.correction else None


def _summary(campaign: Campaign) -> bodies.DeliverySummary:
    return schemas.build(bodies.DeliverySummary, campaign.counts, state=campaign.delivery_state)

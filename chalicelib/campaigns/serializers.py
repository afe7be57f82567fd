"""Campaigns and deliveries as the JSON API shows them."""

from datetime import datetime
from typing import Any

from msgspec import to_builtins

from chalicelib.campaigns import model
from chalicelib.campaigns.model import Campaign, CampaignDetail, Counts, Delivery
from chalicelib.kernel import clock


def campaign_line(campaign: Campaign) -> dict[str, Any]:
    """One line of the list."""
    return {
        "id": campaign.id,
        "subject": campaign.subject,
        "state": campaign.state.value,
        "origin": campaign.origin.value,
        "scheduled_at": _time(campaign.scheduled_at),
        "time_zone": campaign.time_zone,
        "created_at": _time(campaign.created_at),
        "updated_at": _time(campaign.updated_at),
        "published_at": _time(campaign.published_at),
        "notice": campaign.notice,
        "delivery": {"state": campaign.delivery_state.value, **_counts(campaign.counts)},
    }


def campaign_detail(detail: CampaignDetail) -> dict[str, Any]:
    campaign = detail.campaign
    return {
        **campaign_line(campaign),
        "preheader": campaign.preheader,
        "format": campaign.format.value,
        "body": detail.content.body,
        "text": detail.content.text,
        "aim": to_builtins(campaign.targeting),
        "version": campaign.version,
        "permitted": model.permitted_actions(campaign.state),
        "deliveries": [delivery(one) for one in detail.deliveries],
    }


def delivery(one: Delivery) -> dict[str, Any]:
    return {
        "id": one.id,
        "campaign_id": one.campaign_id,
        "channel_type": one.channel_type,
        "content": one.content,
        "state": one.state.value,
        **_counts(one.counts),
        "error_detail": one.error_detail,
        "note": one.note,
        "attempt": one.attempt,
        "created_at": _time(one.created_at),
        "started_at": _time(one.started_at),
        "finished_at": _time(one.finished_at),
    }


def _counts(counts: Counts) -> dict[str, int]:
    return {
        "recipients": counts.recipients,
        "sent_count": counts.sent,
        "failure_count": counts.failed,
        "unknown_count": counts.unknown,
    }


def _time(moment: datetime | None) -> str | None:
    return clock.text(moment) if moment else None

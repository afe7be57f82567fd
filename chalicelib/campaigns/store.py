"""Campaigns in DynamoDB (their deliveries are in `delivery_store`).

The campaigns table holds what lists show, in one partition sorted by age, so that a page is one consistent query.
Contents have a table of their own (`content_store`), which no list reads. One more row counts the campaigns in each
state; it is updated in the transaction that changes a state, so a total costs one read. It also has a stamp that
changes with every campaign that was sent: as long as it is the same, so is the public archive.
"""

import json
from collections.abc import Iterable
from datetime import datetime

from msgspec import convert, to_builtins
from msgspec.structs import replace
from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex

from chalicelib.campaigns import delivery_store, targeting
from chalicelib.campaigns.content_store import ContentRow, build_row, parse_content, parse_history, web_id
from chalicelib.campaigns.delivery_store import format_moment, parse_moment
from chalicelib.campaigns.model import (
    Campaign,
    CampaignDetail,
    Content,
    Correction,
    Counts,
    DeliveryState,
    Format,
    Origin,
    State,
    Targeting,
)
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables

_CAMPAIGN = "campaign"
_COUNT = "count"
_ALL = "all"
_SENT = (State.PUBLISHING, State.PUBLISHED)


class _ByState(GlobalSecondaryIndex["CampaignRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_state"
        projection = AllProjection()

    state = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)


class CampaignRow(tables.Row):
    class Meta:
        table_name = tables.name("campaigns")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf", default=_CAMPAIGN)
    id = UnicodeAttribute(range_key=True)
    subject = UnicodeAttribute()
    state = UnicodeAttribute()
    preheader = UnicodeAttribute(null=True)
    format = UnicodeAttribute()
    targeting = UnicodeAttribute(null=True, attr_name="aim")
    origin = UnicodeAttribute()
    scheduled_at = UnicodeAttribute(null=True)
    time_zone = UnicodeAttribute()
    created_at = UnicodeAttribute()
    updated_at = UnicodeAttribute()
    published_at = UnicodeAttribute(null=True)
    notice = UnicodeAttribute(null=True)
    hidden = BooleanAttribute(null=True)
    design = UnicodeAttribute(null=True)
    correction = UnicodeAttribute(null=True)
    delivery_state = UnicodeAttribute()
    delivery_ids = UnicodeSetAttribute(null=True)
    recipients = NumberAttribute()
    sent_count = NumberAttribute()
    failure_count = NumberAttribute()
    unknown_count = NumberAttribute()
    version = NumberAttribute()
    by_state = _ByState()

    # Only in the row that counts:
    draft = NumberAttribute(null=True)
    scheduled = NumberAttribute(null=True)
    publishing = NumberAttribute(null=True)
    published = NumberAttribute(null=True)
    archive_stamp = UnicodeAttribute(null=True)


def find_campaign(campaign_id: str) -> Campaign | None:
    row = tables.get(CampaignRow, _CAMPAIGN, campaign_id)
    return _campaign(row) if row else None


def find_many(campaign_ids: Iterable[str]) -> dict[str, Campaign]:
    """By id, a hundred a request; those that exist."""
    rows = tables.get_many(CampaignRow, [(_CAMPAIGN, id) for id in campaign_ids])
    return {row.id: _campaign(row) for row in rows}


def find_detail(campaign_id: str) -> CampaignDetail | None:
    """Two requests: campaign and content as of the same moment, then the deliveries."""
    found = find_written(campaign_id)
    return replace(found, deliveries=delivery_store.list_deliveries(campaign_id)) if found else None


def find_written(campaign_id: str) -> CampaignDetail | None:
    """Campaign and content as of the same moment, without the deliveries: one request."""
    row, content = tables.get_together((CampaignRow, _CAMPAIGN, campaign_id), (ContentRow, campaign_id, None))
    if not row or not content:
        return None
    return CampaignDetail(_campaign(row), parse_content(content), (), parse_history(content))


def find_web_version(campaign_id: str) -> CampaignDetail | None:
    """The campaign as its web version shows it: with the corrected content, if there is one, and no deliveries."""
    row, content, corrected = tables.get_together(
        (CampaignRow, _CAMPAIGN, campaign_id),
        (ContentRow, campaign_id, None),
        (ContentRow, web_id(campaign_id), None),
    )
    return CampaignDetail(_campaign(row), parse_content(corrected or content), ()) if row and content else None


def list_web_contents(campaigns: Iterable[Campaign]) -> dict[str, Content]:
    """What the web versions of these campaigns say, by the campaign's id; a hundred a request."""
    wanted = {web_id(campaign.id) if campaign.correction else campaign.id: campaign.id for campaign in campaigns}
    return {wanted[row.id]: parse_content(row) for row in tables.get_many(ContentRow, wanted)}


def list_page(state: State | None, offset: int, size: int) -> list[Campaign]:
    """Newest first. Without a filter the read is consistent; the index behind `state` may be a moment late."""
    options = {"scan_index_forward": False, "limit": offset + size}
    if state:
        rows = tables.query(CampaignRow, state.value, index_name="by_state", **options)
    else:
        rows = tables.query(CampaignRow, _CAMPAIGN, consistent_read=True, **options)
    return [_campaign(row) for row in list(rows)[offset:]]


def count(state: State | None) -> int:
    row = tables.get(CampaignRow, _COUNT, _ALL)
    if not row:
        return 0
    return sum(int(getattr(row, each.value) or 0) for each in State if state in (None, each))


def find_archive_stamp() -> str | None:
    """Another one after every change to a campaign that was sent; None before the first."""
    row = tables.get(CampaignRow, _COUNT, _ALL)
    return row.archive_stamp if row else None


def list_sent(since: datetime | None = None) -> list[Campaign]:
    """All that were sent or are being sent, as they are now, or those published `since` then. Reads every campaign,
    about two thousand a request; the archive keeps them for as long as its stamp stays the same."""
    wanted = CampaignRow.state.is_in(*(state.value for state in _SENT))
    if since:
        wanted &= CampaignRow.published_at >= clock.text(since)
    rows = tables.query(CampaignRow, _CAMPAIGN, consistent_read=True, filter_condition=wanted)
    return [_campaign(row) for row in rows]


def list_targeted() -> list[Campaign]:
    """All that are not for everybody, in any state, as they are now."""
    is_targeted = CampaignRow.targeting.exists()
    rows = tables.query(CampaignRow, _CAMPAIGN, consistent_read=True, filter_condition=is_targeted)
    return [_campaign(row) for row in rows]


def list_in_state(state: State) -> list[Campaign]:
    """All of them: only for states that few campaigns are in at any time."""
    return [_campaign(row) for row in tables.query(CampaignRow, state.value, index_name="by_state")]


def create_writes(detail: CampaignDetail) -> list[tables.Write]:
    return [
        tables.Put(_campaign_row(detail.campaign), CampaignRow.id.does_not_exist()),
        tables.Put(build_row(detail.campaign.id, detail.content, detail.history)),
        *map(delivery_store.create_write, detail.deliveries),
        _count_write(None, detail.campaign.state),
    ]


def save_writes(before: CampaignDetail, after: CampaignDetail) -> list[tables.Write]:
    """Like `change_writes`, and the content with its versions if it is another."""
    writes = change_writes(before.campaign, after.campaign)
    if (before.content, before.history) != (after.content, after.history):
        writes.append(tables.Put(build_row(after.campaign.id, after.content, after.history)))
    return writes


def change_writes(before: Campaign, after: Campaign) -> list[tables.Write]:
    """Holds only if nobody changed the campaign since `before` was read."""
    writes: list[tables.Write] = [tables.Put(_campaign_row(after), CampaignRow.version == before.version)]
    if before.state is not after.state or after.state in _SENT:
        writes.append(_count_write(before.state, after.state))
    return writes


def correct_writes(before: Campaign, after: Campaign, content: Content) -> list[tables.Write]:
    """Holds like `change_writes`. What was sent stays as it is."""
    return [*change_writes(before, after), tables.Put(build_row(web_id(after.id), content))]


def withdraw_writes(before: Campaign, after: Campaign) -> list[tables.Write]:
    return [*change_writes(before, after), tables.Delete(ContentRow(web_id(after.id)))]


def delete_writes(detail: CampaignDetail) -> list[tables.Write]:
    campaign = detail.campaign
    return [
        tables.Delete(CampaignRow(_CAMPAIGN, campaign.id), CampaignRow.version == campaign.version),
        tables.Delete(ContentRow(campaign.id)),
        *map(delivery_store.delete_write, detail.deliveries),
        _count_write(campaign.state, None),
    ]


def _count_write(before: State | None, after: State | None) -> tables.Write:
    moved = ((before, -1), (after, 1)) if before is not after else ()
    actions = [getattr(CampaignRow, state.value).add(by) for state, by in moved if state]
    if after in _SENT:
        actions.append(CampaignRow.archive_stamp.set(ids.new()))
    return tables.Update(CampaignRow(_COUNT, _ALL), actions)


def _campaign_row(campaign: Campaign) -> CampaignRow:
    return CampaignRow(
        _CAMPAIGN,
        campaign.id,
        subject=campaign.subject,
        state=campaign.state.value,
        preheader=campaign.preheader or None,
        format=campaign.format.value,
        targeting=None if campaign.targeting.everybody else json.dumps(targeting.to_stored(campaign.targeting)),
        origin=campaign.origin.value,
        scheduled_at=format_moment(campaign.scheduled_at),
        time_zone=campaign.time_zone,
        created_at=clock.text(campaign.created_at),
        updated_at=clock.text(campaign.updated_at),
        published_at=format_moment(campaign.published_at),
        notice=campaign.notice,
        hidden=campaign.hidden or None,
        design=campaign.design,
        correction=json.dumps(to_builtins(campaign.correction)) if campaign.correction else None,
        delivery_state=campaign.delivery_state.value,
        delivery_ids=set(campaign.delivery_ids) or None,
        version=campaign.version,
        recipients=campaign.counts.recipients,
        sent_count=campaign.counts.sent,
        failure_count=campaign.counts.failed,
        unknown_count=campaign.counts.unknown,
    )


def _campaign(row: CampaignRow) -> Campaign:
    return Campaign(
        id=row.id,
        subject=row.subject,
        state=State(row.state),
        preheader=row.preheader or "",
        format=Format(row.format),
        targeting=_targeting(row.targeting),
        origin=Origin(row.origin),
        scheduled_at=parse_moment(row.scheduled_at),
        time_zone=row.time_zone,
        created_at=clock.parse(row.created_at),
        updated_at=clock.parse(row.updated_at),
        published_at=parse_moment(row.published_at),
        notice=row.notice,
        hidden=bool(row.hidden),
        design=row.design,
        correction=convert(json.loads(row.correction), Correction) if row.correction else None,
        delivery_state=DeliveryState(row.delivery_state),
        delivery_ids=tuple(sorted(row.delivery_ids or ())),
        counts=Counts(int(row.recipients), int(row.sent_count), int(row.failure_count), int(row.unknown_count)),
        version=int(row.version),
    )


def _targeting(stored: str | None) -> Targeting:
    return targeting.from_stored(json.loads(stored)) if stored else Targeting()

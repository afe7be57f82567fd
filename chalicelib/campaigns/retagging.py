"""What campaigns and segments have to do with a change of tags on everybody.

A campaign that reads who has a tag while tags change would miss people. So none starts meanwhile (`changes`), no
change begins while one is reading, and whatever is not sent yet follows when everybody is changed.
"""

from datetime import datetime

from msgspec.structs import replace

from chalicelib.audience.tags import service as tags
from chalicelib.audience.tags.model import Action, Change
from chalicelib.campaigns import changes, delivery_store, segments, store
from chalicelib.campaigns.model import Campaign, CampaignDetail, DeliveryState, State, Targeting, Terms
from chalicelib.campaigns.sending import progress
from chalicelib.kernel.errors import Conflict, NotFound

_SENDING = "A campaign for people with these tags is being sent: try again when it is done"
_NEEDED = "A scheduled campaign is for people with these tags: change it or cancel its schedule first"
_CONTRADICTS = (
    "A draft, a scheduled campaign or a segment is for one of these tags and not for another: change it first"
)
# A draft may be saved with an old tag while the others follow.
_ROUNDS = 3


def check(change: Change) -> None:
    """Nobody would be reached, or somebody missed, without anyone noticing."""
    found = store.list_targeted()
    if any(_reads(campaign, change) for campaign in found):
        raise Conflict(_SENDING)
    if change.action is Action.REMOVE:
        if any(campaign.state is State.SCHEDULED and _needs(campaign.targeting, change) for campaign in found):
            raise Conflict(_NEEDED)
        return
    unsent = [campaign.targeting for campaign in found if _follows(campaign)]
    aims = (*unsent, *(segment.targeting for segment in segments.list_by_name()))
    if any(_contradicts(after) and not _contradicts(aim) for aim in aims if (after := _retagged(aim, change)) != aim):
        raise Conflict(_CONTRADICTS)


def carry_over(change: Change) -> None:
    """Where tags are removed nothing follows: a campaign for nobody else would become one for everybody."""
    if change.action is Action.REMOVE:
        return
    for _ in range(_ROUNDS):
        campaigns = [each.id for each in store.list_targeted() if _follows(each) and _is_old(each.targeting, change)]
        found = [segment.id for segment in segments.list_by_name() if _is_old(segment.targeting, change)]
        for campaign_id in campaigns:
            _carry_over(campaign_id, change)
        for segment_id in found:
            _carry_over_segment(segment_id, change)
        if not campaigns and not found:
            return


def bring_up_to_date(aim: Targeting, since: datetime) -> Targeting:
    """What was written then, with the names that its tags have now: an old name in `none` would keep nobody out. One
    request, if it is for people with tags."""
    if not aim.tags.words:
        return aim
    for change in tags.list_done_since(since):
        aim = _retagged(aim, change)
    return aim


def _carry_over(campaign_id: str, change: Change) -> None:
    def follow(detail: CampaignDetail) -> changes.Changed:
        aim = _retagged(detail.campaign.targeting, change)
        if not _follows(detail.campaign) or aim == detail.campaign.targeting:
            return detail, []
        return changes.edit_writes(detail, {"targeting": aim}, {})

    try:
        changes.apply(campaign_id, None, follow)
    except NotFound:
        return  # deleted meanwhile


def _carry_over_segment(segment_id: str, change: Change) -> None:
    try:
        segments.retag(segment_id, lambda aim: _retagged(aim, change))
    except NotFound:
        return  # deleted meanwhile


def _follows(campaign: Campaign) -> bool:
    """It is not sent yet, or not to everybody: a retry continues reading."""
    failed = campaign.state is State.PUBLISHED and campaign.delivery_state is DeliveryState.FAILED
    return failed or campaign.state in (State.DRAFT, State.SCHEDULED)


def _reads(campaign: Campaign, change: Change) -> bool:
    if campaign.state is not State.PUBLISHING or not change.touches(set(campaign.targeting.tags.words)):
        return False
    return any(progress.reads_audience(delivery) for delivery in delivery_store.list_deliveries(campaign.id))


def _needs(aim: Targeting, change: Change) -> bool:
    """Nobody would be left."""
    some = bool(aim.tags.any) and change.old.issuperset(aim.tags.any)
    return some or not change.old.isdisjoint(aim.tags.all)


def _contradicts(aim: Targeting) -> bool:
    nobody = set(aim.tags.none)
    return not nobody.isdisjoint(aim.tags.all) or (bool(aim.tags.any) and nobody.issuperset(aim.tags.any))


def _is_old(aim: Targeting, change: Change) -> bool:
    return not change.old.isdisjoint(aim.tags.words)


def _retagged(aim: Targeting, change: Change) -> Targeting:
    def swap(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.to if change.to and word in change.old else word for word in words))

    tags = Terms(swap(aim.tags.any), swap(aim.tags.all), swap(aim.tags.none))
    return replace(aim, tags=tags)

"""Pictures that a campaign links to elsewhere become our own copies: otherwise whoever runs that host sees who opens
the email."""

import time

from msgspec import Struct

from chalicelib.campaigns import service
from chalicelib.campaigns.gallery import addresses
from chalicelib.campaigns.model import Action, CampaignDetail, permit
from chalicelib.kernel import log
from chalicelib.kernel.errors import GnaError
from chalicelib.kernel.http.client import FetchFailed
from chalicelib.media import model as media_model
from chalicelib.media import remote
from chalicelib.media import service as media
from chalicelib.media.model import PublicCopy

# API Gateway answers for a function that takes longer than 29 seconds.
_IN_ALL = 25.0
MOST = 30
SECONDS = 15.0
_LEAST_SECONDS = 3.0
_NOT_NOW = f"only {MOST} can be copied at once: do it again"
_NOT_FOUND = "its address could not be changed without changing something else"


class Left(Struct, frozen=True):
    url: str
    reason: str


class Copied(Struct, frozen=True):
    """The campaign as it is now, and which pictures are still elsewhere."""

    detail: CampaignDetail
    count: int
    left: tuple[Left, ...] = ()


def copy_in(campaign_id: str, by: str) -> Copied:
    """What cannot be copied stays as it is. Everything that can be is saved at once, over whatever somebody else has
    saved meanwhile."""
    began, before = time.monotonic(), service.view(campaign_id)
    permit(Action.UPDATE, before.campaign.state)
    wanted = addresses.find_remote(before)
    if not wanted:
        return Copied(before, 0)
    # A long body takes seconds to read. It is read three times to find the places, then to be saved, and to see what
    # is left.
    once = time.monotonic() - began
    seconds = min(SECONDS, max(_LEAST_SECONDS, _IN_ALL - 6 * once))
    outcomes = remote.copy_many(wanted[:MOST], seconds, media_model.MAIL_WIDTH, media_model.MAIL_HEIGHT)
    made = {url: outcome.name for url, outcome in outcomes.items() if isinstance(outcome, PublicCopy)}
    copies = {url: media.copy_url(name) for url, name in made.items()}
    deadline = began + _IN_ALL - 3 * once
    after = service.rewrite(
        campaign_id,
        lambda detail: addresses.rewrite(detail, copies, deadline),
        frozenset(made.values()),
        service.Saver(by),
    )
    still = frozenset(addresses.find_remote(after))
    left = tuple(Left(url, _explain(outcomes.get(url))) for url in wanted if url in still)
    return Copied(after, len(wanted) - len(left), left)


def _explain(outcome: remote.Outcome | None) -> str:
    match outcome:
        case None:
            return _NOT_NOW
        case PublicCopy():
            return _NOT_FOUND
        case FetchFailed() | GnaError():
            return outcome.reason
        case _:
            log.exception("campaign.picture_not_copied", outcome)
            return "it could not be stored"

"""What a page says when a campaign is no longer in the state the page was opened in: after *Back*, in a second tab,
or because its time has come. The API answers with one sentence; a person needs to know where they are now."""

from collections.abc import Callable
from functools import wraps

from msgspec import Struct

from chalicelib.admin import shell, truncate
from chalicelib.campaigns import service
from chalicelib.campaigns.model import NOT_ALLOWED, Campaign, DeliveryState, State
from chalicelib.kernel.errors import Conflict
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/campaigns"
_LONGEST_SUBJECT = 300
_NOT_AGAIN = "It can no longer be changed or sent again."


class Situation(Struct, frozen=True):
    """Where the campaign is now, and the page that shows it."""

    title: str
    text: str
    path: str
    link: str


def explain(handler: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """For pages about one campaign: a conflict becomes a page that says where the campaign is now."""

    @wraps(handler)
    def answer(request: Request) -> Response:
        try:
            return handler(request)
        except Conflict as conflict:
            campaign = service.view(request.path["campaign_id"]).campaign
            acted = request.method == "POST"
            return shell.page(
                request,
                "admin/campaign_conflict.html",
                409,
                here=_HERE,
                situation=_situation(campaign, conflict.reason),
                acted=acted,
                typed=acted and bool(request.text("body")),
            )

    return answer


def _situation(campaign: Campaign, reason: str) -> Situation:
    subject, path = truncate.truncate(campaign.subject, _LONGEST_SUBJECT), f"{_HERE}/{campaign.id}"
    if campaign.state is State.PUBLISHED and campaign.delivery_state is DeliveryState.FAILED:
        why = "It can no longer be changed. Its report says what happened, and can retry it."
        return Situation(f"“{subject}” was not sent to everyone", why, path, "View report")
    if campaign.state is State.PUBLISHED:
        return Situation(f"“{subject}” has already been sent", _NOT_AGAIN, path, "View report")
    if campaign.state is State.PUBLISHING:
        why = f"Sending was started in another tab, by another editor or by its schedule. {_NOT_AGAIN}"
        return Situation(f"“{subject}” is already being sent", why, path, "View progress")
    if reason != NOT_ALLOWED:
        why = "It was edited in another tab or by another editor. Review it again."
        return Situation(reason, why, f"{path}/review", "Review")
    if campaign.state is State.SCHEDULED:
        why = "A scheduled campaign cannot be deleted. Cancel its schedule first."
        return Situation(f"“{subject}” is scheduled", why, f"{path}/review", "View schedule")
    why = "It is not scheduled: the schedule may have been cancelled in another tab."
    return Situation(f"“{subject}” is a draft", why, path, "Open draft")

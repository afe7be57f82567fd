"""From the desk's inbox to a campaign: composing one from chosen entries, and the outline of every issue."""

from chalicelib.access import audit
from chalicelib.admin.frame import DESK_FRAME
from chalicelib.inbox.screens import arranging, outlining
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_compose(request: Request) -> Response:
    return arranging.show(DESK_FRAME, request)


def compose(request: Request) -> Response:
    answer, campaign_id = arranging.save(DESK_FRAME, request)
    if campaign_id:
        audit.record(request, "inbox.compose", campaign_id=campaign_id)
    return answer


def show_outline(request: Request) -> Response:
    return outlining.show(DESK_FRAME, request)


def save_outline(request: Request) -> Response:
    """Two buttons: one saves, the other opens the next issue."""
    if request.texts("open", 50):
        answer, campaign_id = outlining.open_next(DESK_FRAME, request)
        if campaign_id:
            audit.record(request, "inbox.issue", campaign_id=campaign_id)
        return answer
    answer = outlining.save(DESK_FRAME, request)
    if answer.status == 303:
        audit.record(request, "inbox.outline")
    return answer

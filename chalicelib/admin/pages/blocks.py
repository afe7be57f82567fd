"""A Markdown draft as its blocks, each of which can be edited, moved, removed and added. They are saved as one body,
over the version that was opened."""

from collections.abc import Sequence

from msgspec.structs import replace

from chalicelib.admin import block_form, shell
from chalicelib.admin.block_form import Row
from chalicelib.admin.campaign_conflicts import explain
from chalicelib.campaigns import fields, service
from chalicelib.campaigns.model import NOT_ALLOWED, Action, CampaignDetail, Format, permit, permitted_actions
from chalicelib.kernel.errors import Conflict, Invalid
from chalicelib.web import responses, whole_numbers
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/campaigns"
_CHANGED = (
    "Someone else changed this campaign while you were editing. Your version is below and not saved yet: "
    "saving now replaces theirs, which stays in the history."
)


@explain
def show_blocks(request: Request) -> Response:
    detail = service.view(request.path["campaign_id"])
    permit(Action.UPDATE, detail.campaign.state)
    rows = block_form.rows_of(detail.content.body)
    if detail.campaign.format is not Format.MARKDOWN or not block_form.fits(rows):
        return shell.page(request, "admin/blocks_none.html", here=_HERE, campaign=detail.campaign)
    return _page(request, detail, rows)


def save_blocks(request: Request) -> Response:
    detail = service.view(request.path["campaign_id"])
    if detail.campaign.format is not Format.MARKDOWN:
        raise Invalid("Only a draft in Markdown has blocks")
    rows, sent = block_form.parse_rows(request)
    version = _version(sent.get("version", ""))
    try:
        body = fields.body(block_form.write_rows(rows))
        service.update(detail.campaign.id, {}, {"body": body}, version, service.Saver(request.identity))
    except Invalid as failure:
        return _show_again(request, detail, rows, failure, failure.reason)
    except Conflict as failure:
        if Action.UPDATE not in permitted_actions(detail.campaign.state):
            return _refuse(replace(request, body=b""))
        reason = _CHANGED if version != detail.campaign.version else failure.reason
        return _show_again(request, detail, rows, failure, reason)
    path = f"{_HERE}/{detail.campaign.id}"
    return shell.back(f"{path}/review") if sent.get("next") == "review" else shell.back(f"{path}/blocks", "saved")


def _show_again(
    request: Request, detail: CampaignDetail, rows: Sequence[Row], failure: Invalid | Conflict, reason: str
) -> Response:
    """What was sent, with why it was refused. The page may have no room for it; then it is where it was typed."""
    if not block_form.fits(rows):
        raise type(failure)(f"{failure.reason}. Go back in your browser: what you typed is still there")
    return _page(request, detail, rows, responses.status_of(failure), reason)


@explain
def _refuse(request: Request) -> Response:
    """Says where the campaign is now. It reads the form, which may have more fields than others do."""
    raise Conflict(NOT_ALLOWED)


def _version(text: str) -> int:
    number = whole_numbers.parse(text)
    if number is None:
        raise Invalid("version must be a whole number")
    return number


def _page(
    request: Request, detail: CampaignDetail, rows: Sequence[Row], status: int = 200, problem: str = ""
) -> Response:
    return shell.page(
        request,
        "admin/blocks.html",
        status,
        here=_HERE,
        campaign=detail.campaign,
        rows=rows,
        kinds=block_form.KINDS,
        blanks=block_form.blank_rows(),
        problem=problem or None,
    )

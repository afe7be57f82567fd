"""The web version of a sent campaign: hidden from the archive, shown again, corrected with a note."""

from typing import Any

from msgspec import Struct

from chalicelib.access import audit
from chalicelib.admin import shell
from chalicelib.admin.pages.campaigns import HERE
from chalicelib.campaigns import fields, service
from chalicelib.campaigns.content import corrections
from chalicelib.campaigns.content.corrections import NewCorrection
from chalicelib.campaigns.model import CampaignDetail, permit_correction
from chalicelib.kernel.errors import Conflict, Invalid
from chalicelib.web import whole_numbers
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.text_size import html_size

_LARGEST_ON_PAGE = 40_000
_CHANGED_MEANWHILE = (
    "The campaign has changed since you opened this page: someone else changed it, or it finished sending. Your text "
    "is below and not saved yet: saving now overwrites any other correction."
)
_NO_WEB_VERSION = "Only what was sent to all subscribers has a web version"


class _Form(Struct, frozen=True):
    """As typed. A body that does not fit on the page is left empty, and saving keeps what is stored."""

    subject: str
    preheader: str
    body: str
    note: str = ""
    keeps_body: bool = False


def change_visibility(request: Request) -> Response:
    is_hidden = request.text("hidden") == "yes"
    detail = service.hide(request.path["campaign_id"], is_hidden)
    audit.record(request, "campaign.hide" if is_hidden else "campaign.show", campaign_id=detail.campaign.id)
    return shell.back(f"{HERE}/{detail.campaign.id}", "hidden" if is_hidden else "shown")


def edit_correction(request: Request) -> Response:
    web_version = _correctable(request)
    return _editor(request, web_version, _stored(web_version))


def save_correction(request: Request) -> Response:
    web_version = _correctable(request)
    form = _parse(request, web_version)
    try:
        new = NewCorrection(
            body=fields.body(form.body),
            note=fields.note(form.note),
            subject=fields.subject(form.subject),
            preheader=fields.preheader(form.preheader),
            version=_version(request),
        )
        corrections.correct(web_version.campaign.id, new)
    except Invalid as failure:
        return _editor(request, web_version, form, 400, failure.reason)
    except Conflict:
        return _editor(request, _correctable(request), form, 409, _CHANGED_MEANWHILE)
    audit.record(request, "campaign.correct", campaign_id=web_version.campaign.id)
    return shell.back(f"{HERE}/{web_version.campaign.id}", "corrected")


def withdraw_correction(request: Request) -> Response:
    detail = corrections.withdraw(_correctable(request).campaign.id)
    audit.record(request, "campaign.withdraw", campaign_id=detail.campaign.id)
    return shell.back(f"{HERE}/{detail.campaign.id}", "withdrawn")


def _correctable(request: Request) -> CampaignDetail:
    web_version = corrections.view_web_version(request.path["campaign_id"])
    try:
        permit_correction(web_version.campaign)
    except Conflict:
        raise Conflict(_NO_WEB_VERSION) from None
    return web_version


def _stored(web_version: CampaignDetail) -> _Form:
    campaign = corrections.as_corrected(web_version.campaign)
    note = campaign.correction.note if campaign.correction else ""
    return _Form(campaign.subject, campaign.preheader, web_version.content.body, note)


def _parse(request: Request, web_version: CampaignDetail) -> _Form:
    def line(name: str) -> str:
        return (request.text(name) or "").replace("\r\n", "\n")

    keeps_body = bool(line("kept_body")) and not line("body").strip()
    body = web_version.content.body if keeps_body else line("body")
    return _Form(line("subject"), line("preheader"), body, line("note"), keeps_body)


def _version(request: Request) -> int:
    """Which version the editor saw. 0, which no campaign has, if the form does not say it."""
    return whole_numbers.parse(request.text("version")) or 0


def _editor(
    request: Request, web_version: CampaignDetail, form: _Form, status: int = 200, problem: str = ""
) -> Response:
    values: dict[str, Any] = {
        "campaign": web_version.campaign,
        "form": form,
        "omits_body": html_size(form.body) > _LARGEST_ON_PAGE,
        "problem": problem or None,
    }
    return shell.page(request, "admin/correct.html", status, here=HERE, **values)

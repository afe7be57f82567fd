"""The page of members: who has an account, who is invited, and closing an account."""

from urllib.parse import urlencode

from chalicelib.access import audit
from chalicelib.admin import shell
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Conflict, GnaError, Invalid
from chalicelib.members import invitations, listing, model, service
from chalicelib.web import paging, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/members"
# Longer than any address: what is shown again in the form is not a megabyte of it.
_LONGEST = 300


def list_members(request: Request) -> Response:
    return _list(request)


def invite_member(request: Request) -> Response:
    typed = (request.text("email") or "")[:_LONGEST]
    try:
        invitation = invitations.invite(typed)
    except (Invalid, Conflict) as failure:
        return _list(request, failure, typed)
    audit.record(request, "member.invite", invitation_id=invitation.id)
    return shell.back(_HERE, "invited")


def withdraw_invitation(request: Request) -> Response:
    invitations.withdraw(request.path["invitation_id"])
    audit.record(request, "member.withdraw_invitation", invitation_id=request.path["invitation_id"])
    return shell.back(_HERE, "invitation-withdrawn")


def confirm_closing(request: Request) -> Response:
    member = service.get(model.parse_id(request.path["member_id"]))
    return shell.page(request, "admin/member_close.html", here=_HERE, member=member)


def close_account(request: Request) -> Response:
    member_id = model.parse_id(request.path["member_id"])
    service.close(member_id)
    audit.record(request, "member.close", member_id=member_id)
    return shell.back(_HERE, "account-closed")


def _list(request: Request, failure: GnaError | None = None, typed: str = "") -> Response:
    number, size = paging.requested(request)
    found = listing.list_page(number, size)
    return shell.page(
        request,
        "admin/members.html",
        responses.status_of(failure) if failure else 200,
        here=_HERE,
        found=found,
        invited=invitations.list_open(),
        mode=settings.current().members,
        typed=typed,
        problem=failure.reason if failure else None,
        number=number,
        pages=max(1, -(-found.total // size)),
        page_url=lambda page: f"{_HERE}?{urlencode({'page': page, 'per_page': size})}",
    )

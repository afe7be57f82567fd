"""Members for editors: list, invite, close."""

from chalicelib.access import audit
from chalicelib.members import bodies, invitations, listing, model, service
from chalicelib.web import paging, responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.paging import PageQuery
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "members"


@operation(
    "List members, newest first",
    tag=_TAG,
    query=PageQuery,
    answers={200: Answer("A page", bodies.MemberPage)},
    refuses=(400,),
)
def list_members(request: Request) -> Response:
    number, per_page = paging.requested(request)
    page = listing.list_page(number, per_page)
    items = [bodies.describe_entry(member) for member in page.items]
    return responses.json(bodies.MemberPage(number, per_page, page.total, items))


@operation(
    "Invite somebody to join, by email; replaces the invitation this address had",
    tag=_TAG,
    body=bodies.InvitationRequest,
    answers={201: Answer("The link works for seven days, for this address only", bodies.OpenInvitation)},
    refuses=(400,),
    because={409: f"`{model.TAKEN}`, `MEMBERS` is off, or the address is on the do-not-contact list"},
)
def invite_member(request: Request) -> Response:
    invitation = invitations.invite(schemas.read(bodies.InvitationRequest, request.fields).email)
    audit.record(request, "member.invite", invitation_id=invitation.id)
    return responses.json(bodies.describe_invitation(invitation), 201)


@operation(
    "List invitations that can still be accepted, newest first",
    tag=_TAG,
    answers={200: Answer("All of them", bodies.OpenInvitations)},
)
def list_invitations(request: Request) -> Response:
    found = [bodies.describe_invitation(invitation) for invitation in invitations.list_open()]
    return responses.json(bodies.OpenInvitations(found))


@operation(
    "Withdraw an invitation: its link stops working",
    tag=_TAG,
    answers={204: Answer("Withdrawn")},
    because={404: model.NO_INVITATION},
)
def withdraw_invitation(request: Request) -> Response:
    invitation_id = model.parse_id(request.path["invitation_id"], model.NO_INVITATION)
    invitations.withdraw(invitation_id)
    audit.record(request, "member.withdraw_invitation", invitation_id=invitation_id)
    return responses.no_content()


@operation(
    "Close an account, as if the member had deleted it",
    tag=_TAG,
    answers={204: Answer("Closed")},
    because={404: model.NO_MEMBER},
)
def close_account(request: Request) -> Response:
    member_id = model.parse_id(request.path["member_id"])
    audit.record(request, "member.close", member_id=member_id)
    service.close(member_id)
    return responses.no_content()

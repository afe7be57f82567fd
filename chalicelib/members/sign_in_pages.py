"""Pages on which people join, sign in and sign out."""

from chalicelib.kernel import settings
from chalicelib.kernel.errors import GnaError, Refused, Unauthenticated
from chalicelib.members import guards, invitations, returning, service, sessions, shell
from chalicelib.members.returning import Draft
from chalicelib.web import cookies, responses
from chalicelib.web.client_ip import client_ip, client_network
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_FIELDS = {
    "Invalid email or": "password",
    "Invalid email": "email",
    "Email": "email",
    "Passwords": "password_confirm",
    "Password": "password",
}


def show_join(request: Request) -> Response:
    if _is_signed_in(request):
        return responses.redirect(shell.HOME)
    token = request.query.get("invitation", "")
    invitation = invitations.find(token) if token else None
    if not invitation and settings.current().members == "invite":
        return _by_invitation(request, broken=bool(token))
    return shell.page(
        request,
        "member/join.html",
        mailed=True,
        closed=False,
        invitation=token if invitation else "",
        email=invitation.email if invitation else "",
    )


def join(request: Request) -> Response:
    email, invitation = request.text("email"), request.text("invitation")
    passwords = request.text("password"), request.text("password_confirm")
    try:
        member, session = service.sign_up(
            email,
            *passwords,
            invitation,
            client_ip(request),
            network=client_network(request),
            presented=cookies.read_session(request),
        )
    except Refused:
        return _by_invitation(request, broken=bool(invitation), status=403)
    except GnaError as failure:
        return shell.refuse(
            request,
            "member/join.html",
            failure,
            _FIELDS,
            mailed=True,
            closed=False,
            invitation=invitation or "",
            email=email or "",
        )
    notice = "welcome" if member.verified else "joined"
    return cookies.with_session(shell.back(shell.HOME, notice), session, sessions.MAX_AGE)


def show_sign_in(request: Request) -> Response:
    next_page = returning.own_page(request.query.get("next", ""))
    if _is_signed_in(request):
        return responses.redirect(next_page or shell.HOME)
    return shell.page(request, "member/sign_in.html", next=next_page, draft=None, email="")


def sign_in(request: Request) -> Response:
    next_page, draft = returning.own_page(request.text("next") or ""), returning.read_draft(request)
    email = request.text("email")
    try:
        presented = cookies.read_session(request)
        _, session = service.sign_in(email, request.text("password"), client_ip(request), presented=presented)
    except GnaError as failure:
        return shell.refuse(
            request, "member/sign_in.html", failure, _FIELDS, next=next_page, draft=draft, email=email or ""
        )
    return cookies.with_session(_lead_on(request, session, next_page, draft), session, sessions.MAX_AGE)


def sign_out(request: Request) -> Response:
    service.sign_out(cookies.read_session(request))
    return cookies.without_session(shell.back("/sign-in", "signed-out"))


def _lead_on(request: Request, session: str, next_page: str, draft: Draft | None) -> Response:
    """Where the member wanted to go; with a draft, the page it was written on."""
    signed_in = sessions.find(session) if draft and draft.fields else None
    if draft and signed_in:
        return returning.resume(request, draft, signed_in)
    return responses.redirect((draft.path if draft else next_page) or shell.HOME)


def _by_invitation(request: Request, broken: bool, status: int = 200) -> Response:
    return shell.page(request, "member/join.html", status, mailed=True, closed=True, broken=broken)


def _is_signed_in(request: Request) -> bool:
    try:
        guards.require_member(request)
    except Unauthenticated:
        return False
    return True

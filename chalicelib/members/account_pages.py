"""A member's own account: its address, password and data, and the way out."""

from typing import Any

from chalicelib.kernel.errors import GnaError, Unauthenticated
from chalicelib.members import model, service, sessions, shell
from chalicelib.members.model import SignedIn
from chalicelib.web import cookies
from chalicelib.web.client_ip import client_ip, client_network
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/account"
_FIELDS = {"Passwords": "password_confirm", "Password": "password", "Wrong": "current_password"}
_DELETE_FIELDS = {"Wrong": "password"}


def show_account(request: Request) -> Response:
    return shell.page(request, "member/account.html", **_account(request.member))


def request_verification(request: Request) -> Response:
    signed_in: SignedIn = request.member
    try:
        sent = service.request_verification(signed_in.member, client_network(request))
    except GnaError as failure:
        return shell.refuse(request, "member/account.html", failure, {}, **_account(signed_in))
    return shell.back(_HERE, "verify-sent" if sent else "verified")


def show_password(request: Request) -> Response:
    return shell.page(request, "member/password.html", here=_HERE, member=request.member.member)


def change_password(request: Request) -> Response:
    current, new = request.text("current_password"), request.text("password")
    try:
        _, session = service.change_password(
            request.member, current, new, request.text("password_confirm"), client_ip(request)
        )
    except GnaError as failure:
        _require_session(failure)
        return shell.refuse(
            request, "member/password.html", failure, _FIELDS, here=_HERE, member=request.member.member
        )
    return cookies.with_session(shell.back(_HERE, "password-changed"), session, sessions.MAX_AGE)


def confirm_deletion(request: Request) -> Response:
    return shell.page(request, "member/delete_account.html", here=_HERE)


def delete_account(request: Request) -> Response:
    try:
        service.delete(request.member, request.text("password"), client_ip(request))
    except GnaError as failure:
        _require_session(failure)
        return shell.refuse(request, "member/delete_account.html", failure, _DELETE_FIELDS, here=_HERE)
    return cookies.without_session(shell.back("/sign-in", "account-deleted"))


def _account(signed_in: SignedIn) -> dict[str, Any]:
    return {"here": _HERE, "member": signed_in.member, "deleted_on": signed_in.member.closes_at}


def _require_session(failure: GnaError) -> None:
    """A wrong password is a matter of the form; that the session has ended meanwhile is not."""
    if isinstance(failure, Unauthenticated) and failure.reason == model.NOT_SIGNED_IN:
        raise failure

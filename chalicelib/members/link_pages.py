"""Pages that mailed links open: to verify an address, and to set a new password. Opening one changes nothing, because
programs that check links open them too: a button acts."""

from chalicelib.kernel.errors import GnaError, Unauthenticated
from chalicelib.members import guards, model, service, shell
from chalicelib.web.client_ip import client_ip, client_network
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_FIELDS = {"Invalid email": "email", "Passwords": "password_confirm", "Password": "password"}


def show_verify(request: Request) -> Response:
    token = request.query.get("token", "")
    return _verify_page(request, token, service.check_link(model.VERIFY, token))


def verify(request: Request) -> Response:
    token = request.text("token") or ""
    try:
        member = service.verify(token)
    except Unauthenticated:
        return _verify_page(request, token, False)
    try:
        signed_in = guards.require_member(request)
    except Unauthenticated:
        return shell.back("/sign-in", "verified")
    return shell.back("/account", "verified" if signed_in.id == member.id else "other-verified")


def show_forgotten(request: Request) -> Response:
    return shell.page(request, "member/forgot_password.html", email="")


def request_reset(request: Request) -> Response:
    email = request.text("email")
    try:
        service.request_reset(email, client_ip(request), client_network(request))
    except GnaError as failure:
        return shell.refuse(request, "member/forgot_password.html", failure, _FIELDS, email=email or "")
    return shell.back("/forgot-password", "reset-sent")


def show_reset(request: Request) -> Response:
    token = request.query.get("token", "")
    return _reset_page(request, token, service.check_link(model.RESET, token))


def reset_password(request: Request) -> Response:
    token = request.text("token") or ""
    try:
        service.reset(token, request.text("password"), request.text("password_confirm"))
    except Unauthenticated:
        return _reset_page(request, token, False)
    except GnaError as failure:
        return shell.refuse(request, "member/reset.html", failure, _FIELDS, mailed=True, token=token, works=True)
    return shell.back("/sign-in", "reset")


def _verify_page(request: Request, token: str, works: bool) -> Response:
    return shell.page(request, "member/verify.html", 200 if works else 401, mailed=True, token=token, works=works)


def _reset_page(request: Request, token: str, works: bool) -> Response:
    return shell.page(request, "member/reset.html", 200 if works else 401, mailed=True, token=token, works=works)

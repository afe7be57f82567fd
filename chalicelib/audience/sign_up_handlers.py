"""Signing up, confirming and leaving, over HTTP."""

import re

from chalicelib.audience import model, service
from chalicelib.audience.model import SignUp
from chalicelib.kernel import addresses, settings
from chalicelib.kernel.errors import GnaError, Invalid
from chalicelib.web import pages, responses
from chalicelib.web.client_ip import client_ip
from chalicelib.web.request import FORM, MULTIPART, Request
from chalicelib.web.responses import Response

_ANY_FORM = (FORM, MULTIPART)
# What a person needs at the very least to read a form and type an address; the form's script waits it out.
_FASTEST_HUMAN_MS = 700
_WHOLE_NUMBER = re.compile(r"[0-9]{1,12}\Z")


def subscribe(request: Request) -> Response:
    if not request.wants_page:
        _subscribe(request)
        return responses.json({"status": "confirmation_sent"}, 201)
    try:
        _subscribe(request)
    except GnaError as failure:
        return _framed(pages.error(failure))
    return responses.redirect(settings.current().url("/subscribed"))


def subscribed(request: Request) -> Response:
    return _framed(pages.page("public/subscribed.html"))


def confirm(request: Request) -> Response:
    token = request.query.get("token", "")
    if request.only_looks or settings.current().safe_links:
        return pages.page("public/confirm.html", token=token)
    return _confirm(token)


def confirm_by_button(request: Request) -> Response:
    return _confirm(request.text("token") or "")


def confirmed(request: Request) -> Response:
    return pages.page("public/confirmed.html")


def unsubscribe(request: Request) -> Response:
    token = request.query.get("token", "")
    if request.only_looks or settings.current().safe_links:
        return pages.page("public/unsubscribe.html", token=token)
    return _unsubscribe(token)


def unsubscribe_with_one_click(request: Request) -> Response:
    """RFC 8058: the mail program posts to the link itself; our own button posts the token as a field."""
    return _unsubscribe(request.query.get("token") or request.text("token") or "")


def _framed(page: Response) -> Response:
    """What the form leads to must be visible where the form is: in a frame on the sites that may use it."""
    return responses.framed_by(page, settings.current().allowed_origins)


def _subscribe(request: Request) -> None:
    sign_up = _sign_up(request)
    if not _looks_automatic(request):
        service.subscribe(sign_up, client_ip(request))


def _sign_up(request: Request) -> SignUp:
    ip_hash = model.ip_pseudonym(client_ip(request)) if settings.current().keep_ip_hash else None
    source = request.fields.get("source") or None
    return SignUp(
        address=addresses.parse(request.text("email")),
        nickname=_nickname(request),
        capture=model.parse_capture(source, request.fields.get("tags"), request.fields.get("metadata"), ip_hash),
        names_source=source is not None,
    )


def _nickname(request: Request) -> str | None:
    """A form always sends its fields: one left empty was not filled in."""
    nickname = request.text("nickname")
    if nickname is not None:
        nickname = nickname.strip()
    return model.check_nickname(nickname or None if request.is_form else nickname)


def _looks_automatic(request: Request) -> bool:
    """A field no person sees was filled in, or the form was sent faster than one can type. The sender is told
    nothing, so that a bot learns nothing."""
    elapsed = request.fields.get("elapsed")
    too_fast = _WHOLE_NUMBER.match(str(elapsed)) is not None and int(str(elapsed)) < _FASTEST_HUMAN_MS
    return bool(request.fields.get("website")) or too_fast


def _confirm(token: str) -> Response:
    try:
        kind = service.confirm(token)
    except Invalid:
        return pages.page("public/confirm_failed.html", 400)
    path = "/confirmed" if kind == model.CONFIRM else "/profile?email_changed=true"
    return responses.redirect(settings.current().url(path))


def _unsubscribe(token: str) -> Response:
    try:
        service.unsubscribe(token)
    except Invalid:
        return pages.page("public/unsubscribe_failed.html", 400)
    return pages.page("public/unsubscribed.html")

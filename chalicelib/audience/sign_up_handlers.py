"""Signing up, confirming, unsubscribing and opting out."""

import re
from typing import Any

from chalicelib.audience import bodies, model, service
from chalicelib.audience.model import SignUp
from chalicelib.kernel import addresses, languages, settings
from chalicelib.kernel.errors import Conflict, GnaError, Invalid
from chalicelib.web import pages, responses, schemas
from chalicelib.web.client_ip import client_ip, client_network
from chalicelib.web.operations import HTML, Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# The least time in which a person can read a form and type an address; the form's script waits for it.
_FASTEST_HUMAN_MS = 700
_AFTER_CONFIRMING = {
    model.CONFIRM: "/confirmed",
    model.ADD: "/confirmed?added=true",
    model.CHANGE_EMAIL: "/profile?email_changed=true",
}
_WHOLE_NUMBER = re.compile(r"[0-9]{1,12}\Z")


@operation(
    "Sign up; the response is the same whether or not the address is known",
    tag="public",
    body=bodies.SignUp,
    answers={
        201: Answer("A confirmation email is sent if the address has yet to confirm", bodies.ConfirmationSent),
        303: Answer("HTML form: redirect to a page"),
    },
    refuses=(400, 429),
)
def subscribe(request: Request) -> Response:
    if not request.wants_page:
        _subscribe(request)
        return responses.json(bodies.ConfirmationSent(), 201)
    try:
        _subscribe(request)
    except GnaError as failure:
        return _framed(pages.error(failure, request.lang))
    return responses.redirect(_spoken("/subscribed", request.lang))


def subscribed(request: Request) -> Response:
    return _framed(pages.page("public/subscribed.html", lang=request.lang))


def confirm(request: Request) -> Response:
    token = request.query.get("token", "")
    if request.only_looks or settings.current().safe_links:
        return pages.page("public/confirm.html", lang=request.lang, token=token)
    return _confirm(token, request.lang)


def confirm_by_button(request: Request) -> Response:
    return _confirm(request.text("token") or "", request.lang)


def confirmed(request: Request) -> Response:
    return pages.page("public/confirmed.html", lang=request.lang, added=request.query.get("added") == "true")


_UNSUBSCRIBED = {200: Answer("A page", content=HTML), 400: Answer("Invalid link", content=HTML)}


@operation("Unsubscribe by the link in an email", tag="public", query=bodies.TokenQuery, answers=_UNSUBSCRIBED)
def unsubscribe(request: Request) -> Response:
    token = request.query.get("token", "")
    if token != str(model.TEST_TOKEN) and (request.only_looks or settings.current().safe_links):
        return pages.page("public/unsubscribe.html", token=token)
    return _unsubscribe(token)


@operation(
    "One-click unsubscribe by the email program (RFC 8058)",
    tag="public",
    query=bodies.TokenQuery,
    answers=_UNSUBSCRIBED,
)
def unsubscribe_with_one_click(request: Request) -> Response:
    """RFC 8058: the mail program posts to the link itself. The button on our page sends the token as a field."""
    return _unsubscribe(request.query.get("token") or request.text("token") or "")


def never(request: Request) -> Response:
    """Always a button: programs that check links open them too, and this cannot be undone without another mail."""
    token = request.query.get("token", "")
    try:
        service.check_opt_out(token)
    except Invalid:
        return pages.page("public/leave_failed.html", 400, lang=request.lang)
    return pages.page("public/never.html", lang=request.lang, token=token)


def never_by_button(request: Request) -> Response:
    try:
        service.opt_out(request.text("token") or "")
    except Invalid:
        return pages.page("public/leave_failed.html", 400, lang=request.lang)
    return pages.page("public/never_again.html", lang=request.lang)


def _framed(page: Response) -> Response:
    """The form may be in a frame on another site, and what it leads to must be visible there as well."""
    return responses.framed_by(page, settings.current().allowed_origins)


def _subscribe(request: Request) -> None:
    sign_up = _sign_up(request)
    if not _looks_automatic(request):
        service.subscribe(sign_up, client_ip(request), client_network(request))


def _sign_up(request: Request) -> SignUp:
    body = schemas.read(bodies.SignUp, _filled_in(request))
    ip_hash = model.ip_pseudonym(client_ip(request)) if settings.current().keep_ip_hash else None
    return SignUp(
        address=addresses.from_valid(body.email),
        nickname=body.nickname,
        capture=model.parse_capture(body.source, body.tags, body.metadata, ip_hash),
        names_source=body.source is not None,
        lang=body.lang,
    )


def _filled_in(request: Request) -> dict[str, Any]:
    """A form always sends its fields: an empty nickname is one that was not filled in."""
    fields = request.fields
    if request.is_form and not fields.get("nickname", "").strip():
        return {name: value for name, value in fields.items() if name != "nickname"}
    return fields


def _looks_automatic(request: Request) -> bool:
    """A field that no person sees was filled in, or the form was sent faster than anybody can type. The answer is the
    same, so that a bot learns nothing."""
    elapsed = request.fields.get("elapsed")
    too_fast = _WHOLE_NUMBER.match(str(elapsed)) is not None and int(str(elapsed)) < _FASTEST_HUMAN_MS
    return bool(request.fields.get("website")) or too_fast


def _confirm(token: str, lang: str | None) -> Response:
    try:
        kind = service.confirm(token)
    except Invalid:
        return pages.page("public/confirm_failed.html", 400, lang=lang)
    except Conflict:
        return pages.page("public/address_taken.html", 409, lang=lang)
    return responses.redirect(_spoken(_AFTER_CONFIRMING[kind], lang))


def _spoken(path: str, asked: str | None) -> str:
    """The page that answers a form or a link goes on in its language."""
    lang = languages.find(asked)
    url = settings.current().url(path)
    return f"{url}{'&' if '?' in path else '?'}lang={lang}" if lang else url


def _unsubscribe(token: str) -> Response:
    if token == str(model.TEST_TOKEN):
        return pages.page("public/unsubscribe_test.html")
    try:
        service.unsubscribe(token)
    except Invalid:
        return pages.page("public/leave_failed.html", 400)
    return pages.page("public/unsubscribed.html")

"""A reader's own page, reached by magic link."""

import json

from chalicelib.audience import model, service
from chalicelib.kernel import settings
from chalicelib.kernel.errors import GnaError, Invalid, Unauthenticated
from chalicelib.web import pages, responses
from chalicelib.web.request import FORM, JSON, MULTIPART, Request
from chalicelib.web.responses import Response

_ANY = (JSON, FORM, MULTIPART)


def request_link(request: Request) -> Response:
    if not request.wants_page:
        service.request_link(request.text("email"))
        return responses.json({"status": "link_sent"})
    try:
        service.request_link(request.text("email"))
    except GnaError as failure:
        return pages.error(failure)
    return _profile("link_sent=true")


def profile(request: Request) -> Response:
    token = request.query.get("token")
    if not token:
        return pages.page("public/profile_link.html", notice=_notice(request))
    try:
        return _form(token)
    except Unauthenticated:
        return pages.page("public/profile_link.html", 401, notice="expired")


def update(request: Request) -> Response:
    if request.wants_page:
        return _update_by_form(request)
    token, nickname = request.text("token") or "", request.text("nickname")
    service.update_profile(token, model.check_nickname(nickname), request.text("email"))
    return responses.json({"status": "updated"})


def data(request: Request) -> Response:
    """All that is stored about the person, to take away."""
    stored = json.dumps(service.describe_person(request.query.get("token", "")), ensure_ascii=False, indent=2)
    return responses.attachment(stored, "application/json", "my-data.json")


def never_again(request: Request) -> Response:
    service.never_again(request.text("token") or "")
    return pages.page("public/never_again.html")


def request_resume(request: Request) -> Response:
    service.request_lift(request.text("email"))
    return _profile("link_sent=true")


def resume(request: Request) -> Response:
    token = request.query.get("token", "")
    try:
        service.check_lift(token)
    except Invalid:
        return pages.page("public/profile_link.html", 400, notice="expired")
    return pages.page("public/resume.html", token=token)


def resume_by_button(request: Request) -> Response:
    service.lift(request.text("token") or "")
    return pages.page("public/resumed.html")


def _update_by_form(request: Request) -> Response:
    """The page's own form: surrounding space is trimmed, an empty nickname removes it, and a mistake shows the form
    again with what was typed."""
    token = request.text("token") or ""
    nickname = (request.text("nickname") or "").strip()
    try:
        waits = service.update_profile(
            token, model.check_nickname(nickname) if nickname else "", request.text("email") or None
        )
    except Unauthenticated:
        return pages.page("public/profile_link.html", 401, notice="expired")
    except GnaError as failure:
        typed = {"nickname": nickname, "email": request.text("email") or ""}
        return responses.with_retry_after(failure, _form(token, failure, typed))
    return _profile("updated=true&confirm=true" if waits else "updated=true")


def _form(token: str, failure: GnaError | None = None, typed: dict[str, str] | None = None) -> Response:
    """As it is stored or, after a mistake, as it was typed."""
    profile = service.open_profile(token)
    stored = {"nickname": profile.subscriber.nickname or "", "email": profile.subscriber.email}
    return pages.page(
        "public/profile.html",
        responses.status_of(failure) if failure else 200,
        profile=profile,
        shown=typed or stored,
        token=token,
        problem=failure.reason if failure else None,
    )


def _profile(query: str) -> Response:
    return responses.redirect(settings.current().url(f"/profile?{query}"))


def _notice(request: Request) -> str | None:
    if request.query.get("confirm") == "true":
        return "confirm_new_email"
    return next(
        (name for name in ("updated", "email_changed", "link_sent") if request.query.get(name) == "true"), None
    )

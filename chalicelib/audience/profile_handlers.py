"""A reader's own page, opened by magic link."""

import json
from urllib.parse import urlencode

from chalicelib.audience import bodies, model, service
from chalicelib.kernel import addresses, settings
from chalicelib.kernel.errors import Conflict, GnaError, Invalid, TooMany, Unauthenticated
from chalicelib.kernel.wording import for_readers
from chalicelib.web import pages, responses, schemas
from chalicelib.web.client_ip import client_ip
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAKEN = for_readers(
    "This address already has a subscription of its own, so nothing was changed. Enter another address, or end that "
    "subscription first, with the unsubscribe link in any email sent to it."
)
_TOO_MANY = for_readers("%(reason)s, so nothing was changed. Please try again later.")


@operation(
    "Email a profile link; the response is the same for every address",
    tag="public",
    body=bodies.EmailOnly,
    answers={
        200: Answer("If the address is subscribed, a link is on its way", bodies.LinkSent),
        303: Answer("HTML form: redirect to a page"),
    },
    refuses=(400, 429),
)
def request_profile_link(request: Request) -> Response:
    if not request.wants_page:
        _request_link(request)
        return responses.json(bodies.LinkSent())
    try:
        _request_link(request)
    except GnaError as failure:
        return pages.error(failure)
    return _profile("link_sent=true")


def profile(request: Request) -> Response:
    token = request.query.get("token")
    if not token:
        return pages.page("public/profile_link.html", lang=request.lang, notice=_notice(request))
    try:
        return _form(token, saved=request.query.get("updated") == "true")
    except Unauthenticated:
        return pages.page("public/profile_link.html", 401, notice="expired")


@operation(
    "Change nickname or email address",
    tag="public",
    body=bodies.ProfileUpdate,
    answers={
        200: Answer("Updated; a new address must be confirmed first", bodies.ProfileUpdated),
        303: Answer("HTML form: redirect to a page"),
    },
    refuses=(400, 429),
    because={401: "Invalid or expired token", 409: "Email already registered"},
)
def update_profile(request: Request) -> Response:
    if request.wants_page:
        return _update_by_form(request)
    body = schemas.read(bodies.ProfileUpdate, request.fields)
    address = addresses.from_valid(body.email) if body.email is not None else None
    service.update_profile(body.token, body.nickname, address, client_ip(request))
    return responses.json(bodies.ProfileUpdated())


def data(request: Request) -> Response:
    """All that is stored about the person, as a download. Without indentation, which would multiply what others sent
    about them: a test holds the largest person there can be to 1 MB."""
    stored = service.describe_person(request.query.get("token", ""))
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"))
    return responses.attachment(text, "application/json", "my-data.json")


def resume_campaigns(request: Request) -> Response:
    """The link is not used up: resuming twice changes nothing."""
    token = request.text("token") or ""
    try:
        service.resume(token)
        return _form(token, resumed=True)
    except Unauthenticated:
        return pages.page("public/profile_link.html", 401, notice="expired")


def never_again(request: Request) -> Response:
    service.never_again(request.text("token") or "")
    return pages.page("public/never_again.html")


def request_resume(request: Request) -> Response:
    service.request_lift(addresses.parse(request.text("email")), client_ip(request))
    return _profile("resume_sent=true")


def resume(request: Request) -> Response:
    token = request.query.get("token", "")
    try:
        service.check_lift(token)
    except Invalid:
        return _resume_failed()
    return pages.page("public/resume.html", token=token)


def resume_by_button(request: Request) -> Response:
    try:
        service.lift(request.text("token") or "")
    except Invalid:
        return _resume_failed()
    return pages.page("public/resumed.html")


def _resume_failed() -> Response:
    return pages.page("public/profile_link.html", 400, notice="resume_expired")


def _request_link(request: Request) -> None:
    body = schemas.read(bodies.EmailOnly, request.fields)
    service.request_link(addresses.from_valid(body.email), client_ip(request))


def _update_by_form(request: Request) -> Response:
    """The page's own form: surrounding space is removed, an empty nickname deletes the stored one, and a mistake
    shows the form again with what was typed. Saving uses the link up; the page it leads to has a fresh one of the
    same expiry, so that one mail is enough for everything a reader came to do."""
    token, email = request.text("token") or "", request.text("email")
    nickname = (request.text("nickname") or "").strip()
    try:
        if nickname:
            nickname = model.check_nickname(nickname) or ""
        address = addresses.parse(email) if email else None
        fresh = service.update_profile(token, nickname, address, client_ip(request), renew=True)
    except Unauthenticated:
        return pages.page("public/profile_link.html", 401, notice="expired")
    except GnaError as failure:
        typed = {"nickname": nickname, "email": email or ""}
        return responses.with_retry_after(failure, _form(token, failure, typed))
    return _profile(urlencode({"token": str(fresh), "updated": "true"}))


def _form(
    token: str,
    failure: GnaError | None = None,
    typed: dict[str, str] | None = None,
    saved: bool = False,
    resumed: bool = False,
) -> Response:
    """With what is stored or, after a mistake, with what was typed."""
    profile = service.open_profile(token)
    stored = {"nickname": profile.subscriber.nickname or "", "email": profile.subscriber.email}
    return pages.page(
        "public/profile.html",
        responses.status_of(failure) if failure else 200,
        profile=profile,
        values=typed or stored,
        token=token,
        problem=_explain(failure) if failure else None,
        saved=saved,
        resumed=resumed,
    )


def _explain(failure: GnaError) -> str:
    if isinstance(failure, Conflict):
        return pages.translate(_TAKEN)
    if isinstance(failure, TooMany):
        return pages.translate(_TOO_MANY) % {"reason": pages.explain(failure)}
    return pages.explain(failure)


def _profile(query: str) -> Response:
    return responses.redirect(settings.current().url(f"/profile?{query}"))


def _notice(request: Request) -> str | None:
    names = ("email_changed", "link_sent", "resume_sent")
    return next((name for name in names if request.query.get(name) == "true"), None)

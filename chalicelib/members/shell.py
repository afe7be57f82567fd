"""The frame around every page for members: navigation, style sheet, script, a notice of what was just done, and a
problem beside the field it is about."""

from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from chalicelib.kernel import languages, settings
from chalicelib.kernel.errors import GnaError, TooMany
from chalicelib.kernel.wording import for_readers
from chalicelib.web import pages, responses, routing
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

HOME = "/sightings"
INBOX = "/inbox"
FOLLOWING = "/following"
NAVIGATION = (
    ("/sightings", for_readers("Sightings")),
    (INBOX, for_readers("Inbox")),
    (FOLLOWING, for_readers("Following")),
    ("/account", for_readers("Account")),
)
# Named and not imported, as routes name their functions: those rooms know this one, and not the other way round.
_COUNTS = {"unread": "following.unread:list_titles", "waiting": "inbox.waiting:describe"}

# The URL carries the key of a notice, never its text, so that a crafted link cannot put words on our page.
NOTICES = {
    "joined": for_readers("Welcome! To verify your address, open the link we have emailed you."),
    "welcome": for_readers("Welcome! Your account is ready."),
    "signed-out": for_readers("You are signed out."),
    "reset-sent": for_readers(
        "If there is an account with that address, a link is on its way. It works for 30 minutes."
    ),
    "reset": for_readers("Your new password is saved, and you are signed out everywhere. Sign in with it now."),
    "verified": for_readers("Your address is verified."),
    "other-verified": for_readers(
        "The address that link was for is verified. It belongs to another account than this one."
    ),
    "verify-sent": for_readers("A new link is on its way. It works for 24 hours."),
    "password-changed": for_readers("Your new password is saved. You are signed out everywhere else."),
    "account-deleted": for_readers("Your account is deleted. Your sightings and photos are being removed."),
    "saved": for_readers("Saved."),
    "created": for_readers("Your sighting is saved."),
    "deleted": for_readers("The sighting is deleted."),
    "shared": for_readers("Shared. The publication can see it now."),
    "withdrawn": for_readers("Withdrawn. The publication no longer sees it."),
}

# Among the fields of a form: a photo was chosen, which nobody but its owner can choose again.
PHOTO_CHOSEN = "photo_chosen"
_RESUMED = for_readers("You are signed in again, and what you have written is here. It is not saved yet.")
_CHOOSE_AGAIN = for_readers("Please choose the photo again.")
_WAIT = for_readers("%(reason)s. Please wait a while, then try again.")
# What these pages are made of is the dashboard's too, and in English.
_IN_ENGLISH = ("member/within.html",)

# With `no-referrer` a browser would not say where a form comes from, which the guard needs to know.
_FORMS = "same-origin"
# Nor does this one tell a path, not even to our own server: mailed links have their token in it.
_MAILED_LINKS = "strict-origin"

_HOUR, _YEAR = 3600, 31_536_000


class Problem(Struct, frozen=True):
    """Why a form was refused, and the name of the field it is about, if it is about one."""

    text: str
    field: str = ""


def page(
    request: Request,
    template: str,
    status: int = 200,
    *,
    mailed: bool = False,
    said: tuple[str, str] | None = None,
    **values: Any,
) -> Response:
    """`mailed` is a page that a mailed link opens; `said` is a notice, and its tone, of a page that has notices of
    its own."""
    notice, tone = _find_notice(request, said, _language(template))
    shown_at = request.own_path if request.kept else ""
    given = {"notice": notice, "tone": tone, "shown_at": shown_at, **_counts(request), **values}
    answer = _framed(template, status, signed_in=request.member is not None, **given)
    return answer.with_headers(Referrer_Policy=_MAILED_LINKS) if mailed else answer


def _counts(request: Request) -> dict[str, Any]:
    """What the navigation says of other pages."""
    if request.member is None:
        return {}
    return {name: routing.load(counted)(request.member.id) for name, counted in _COUNTS.items()}


def _find_notice(request: Request, said: tuple[str, str] | None, lang: str | None) -> tuple[str | None, str]:
    if request.kept:
        sentences = (_RESUMED, _CHOOSE_AGAIN) if PHOTO_CHOSEN in request.kept else (_RESUMED,)
        return " ".join(pages.translate(sentence, lang) for sentence in sentences), "good"
    if said:
        return said
    notice = NOTICES.get(request.query.get("notice", "")) if request.method == "GET" else None
    return pages.translate(notice, lang) if notice else None, "good"


def _language(template: str) -> str | None:
    """None is the publication's."""
    return languages.ENGLISH if template in _IN_ENGLISH else None


def refuse(request: Request, template: str, failure: GnaError, fields: dict[str, str], **values: Any) -> Response:
    """The page of a form again, with why it was refused. `fields` says which field a text that begins so is about."""
    answer = page(request, template, responses.status_of(failure), problem=blame(failure, fields), **values)
    return responses.with_retry_after(failure, answer)


def blame(failure: GnaError, fields: dict[str, str]) -> Problem:
    field = next((field for beginning, field in fields.items() if failure.reason.startswith(beginning)), "")
    text = pages.explain(failure)
    return Problem(pages.translate(_WAIT) % {"reason": text} if isinstance(failure, TooMany) else text, field)


def problem(failure: GnaError) -> Response:
    """A failure that no form can show, as a page."""
    if settings.current().members == "off":
        return pages.error(failure)
    status, reason = responses.status_of(failure), pages.explain(failure)
    answer = _framed("member/problem.html", status, signed_in=status != 401, reason=reason, code=status)
    return responses.with_retry_after(failure, answer)


def back(path: str, notice: str = "") -> Response:
    """Redirect after a change, so that reloading the page does not repeat it."""
    assert not notice or notice in NOTICES
    return responses.redirect(f"{path}?{urlencode({'notice': notice})}" if notice else path)


def asset(name: str) -> str:
    return _asset(name, languages.choose())


@lru_cache(maxsize=16)
def _asset(name: str, lang: str) -> str:
    return pages.text(f"member/{name}", lang=lang)


def answer_asset(request: Request, name: str, content_type: str) -> Response:
    """A URL with a version may be cached for a year, one without for an hour."""
    body = asset(name)
    tag = f'"{sha256(body.encode()).hexdigest()[:16]}"'
    answer = responses.asset(body, content_type, _YEAR if request.query.get("v") else _HOUR).with_headers(ETag=tag)
    if request.headers.get("if-none-match") == tag:
        return Response(304, "", answer.headers)
    return answer


def _asset_url(name: str) -> str:
    return f"/{name}?v={sha256(asset(name).encode()).hexdigest()[:12]}"


def _framed(template: str, status: int, **values: Any) -> Response:
    given = {
        "here": "",
        "shown_at": "",
        "problem": None,
        "notice": None,
        "tone": "good",
        "unread": (),
        "waiting": "",
        "inbox": INBOX,
        "following": FOLLOWING,
        "navigation": NAVIGATION,
        "member_style": _asset_url("member.css"),
        "member_script": _asset_url("member.js"),
        "asset_url": _asset_url,
        **values,
    }
    return pages.page(template, status, lang=_language(template), **given).with_headers(Referrer_Policy=_FORMS)

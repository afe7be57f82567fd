"""The frame every page of the dashboard stands in: who is here, where we are, and what was just done."""

from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from chalicelib.admin import labels, truncate
from chalicelib.kernel import settings
from chalicelib.kernel.colour import ink_on
from chalicelib.kernel.errors import GnaError, Misconfigured
from chalicelib.web import pages, responses
from chalicelib.web.request import FORM, MULTIPART, Request
from chalicelib.web.responses import Response

ANY_FORM = (FORM, MULTIPART)

ROOMS = (
    ("/admin", "Overview", "overview"),
    ("/admin/subscribers", "Subscribers", "people"),
    ("/admin/campaigns", "Campaigns", "letter"),
    ("/admin/bounces", "Bounces", "bounce"),
    ("/admin/feed", "Feed", "feed"),
    ("/admin/webhooks", "Webhooks", "hook"),
    ("/admin/settings", "Settings", "gear"),
)

# A notice travels in the address as a word of this list, so that nobody can make our page say what they like.
NOTICES = {
    "removed": "Removed. Nothing about this person is stored any more.",
    "removal-pending": "The removal has begun: it is done as soon as pending events about this person are out.",
    "do-not-contact": "Done. This address will not be written to again.",
    "lifted": "Done. This address may sign up again.",
    "saved": "Saved.",
    "duplicated": "A new draft with the same words.",
    "deleted": "The draft is gone.",
    "tested": "The test mail is on its way.",
    "scheduled": "Scheduled. Until then it can be changed or called off.",
    "cancelled": "Called off: it is a draft again.",
    "sending": "It is on its way.",
    "feed-first": "Read for the first time: everything in it is known now, and nothing was sent.",
    "feed-unchanged": "Nothing has changed since the last look.",
    "feed-nothing_new": "There is nothing new.",
    "feed-sent": "There is something new: a campaign is on its way.",
    "feed-drafted": "There is something new: a draft waits for you.",
    "feed-failed": "The feed could not be read. What went wrong is below.",
    "feed-busy": "Somebody is looking at the feed right now.",
    "feed-resting": "The feed’s server asked us to wait.",
    "feed-stopped": "The feed is gone.",
    "feed-off": "No feed is watched.",
    "paused": "Paused. What happens meanwhile waits.",
    "resumed": "Active again. What waited is being sent.",
    "hook-ok": "The test arrived.",
    "hook-failed": "The test did not arrive. What came of it is in the list of attempts.",
    "hook-removed": "The webhook is gone.",
    "replaying": "It is being sent again, in the background.",
    "retrying": "Trying again: only those who are still owed their mail get one.",
}


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    notice = NOTICES.get(request.query.get("notice", "")) if request.method == "GET" else None
    return _framed(template, status, who=request.identity, notice=notice, **values)


def problem(failure: GnaError) -> Response:
    """A failure as a page of the dashboard."""
    reason = failure.reason
    if isinstance(failure, Misconfigured):
        reason = "Something is not set up: the settings page says what"
    status = responses.status_of(failure)
    answer = _framed("admin/problem.html", status, who="", notice=None, reason=reason, code=status, here="")
    return responses.with_retry_after(failure, answer)


def back(path: str, notice: str = "") -> Response:
    """After a change: to a page that can be reloaded without doing it again."""
    assert not notice or notice in NOTICES
    return responses.redirect(f"{path}?{urlencode({'notice': notice})}" if notice else path)


def asset(name: str) -> str:
    if name == "style.css":
        colour = settings.current().site_color
        return _asset(name, accent=colour, ink=ink_on(colour))
    return _asset(name)


@lru_cache(maxsize=4)
def _asset(name: str, **values: str) -> str:
    return pages.text(f"admin/{name}", **values)


def _address(name: str) -> str:
    return f"/admin/{name}?v={sha256(asset(name).encode()).hexdigest()[:12]}"


def _framed(template: str, status: int, **values: Any) -> Response:
    given = {"here": "", "problem": None, "say": labels, "fit": truncate, "rooms": ROOMS, "now": None, **values}
    answer = pages.page(
        template,
        status,
        style=_address("style.css"),
        script=_address("app.js"),
        open_door=settings.current().disable_auth,
        **given,
    )
    # Forms of these pages say where they come from, which the guard asks of them.
    return answer.with_headers(Referrer_Policy="same-origin")

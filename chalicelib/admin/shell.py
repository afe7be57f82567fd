"""The frame around every page of the dashboard: navigation, who is signed in, and a notice of what was just done."""

from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from chalicelib.admin import labels, truncate
from chalicelib.following import unread
from chalicelib.inbox import waiting
from chalicelib.inbox.model import DESK
from chalicelib.kernel import languages, publication, settings
from chalicelib.kernel.colour import shades
from chalicelib.kernel.errors import GnaError, Misconfigured, Unavailable
from chalicelib.web import pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

FOLLOWING = "/admin/following"
INBOX = "/admin/inbox"
# Path, label and icon of each entry.
NAVIGATION = (
    ("/admin", "Overview", "overview"),
    ("/admin/subscribers", "Subscribers", "people"),
    ("/admin/campaigns", "Campaigns", "mail"),
    ("/admin/bounces", "Bounces", "bounce"),
    (INBOX, "Inbox", "inbox"),
    (FOLLOWING, "Following", "follow"),
    ("/admin/members", "Members", "badge"),
    ("/admin/sightings", "Sightings", "eye"),
    ("/admin/feed", "Feed", "feed"),
    ("/admin/webhooks", "Webhooks", "hook"),
    ("/admin/settings", "Settings", "gear"),
)

# The URL carries the key of a notice, never its text, so that a crafted link cannot put words on our page.
NOTICES = {
    "removed": "Removed. Everything stored about this person has been deleted.",
    "removed-selected": "Removed. Everything stored about them has been deleted.",
    "removal-selected-pending": "Removal has started. What could not be deleted at once follows in the background.",
    "resend-held": "Too many confirmation emails were asked for this hour, so this one is held and sent in turn.",
    "resent": "A new confirmation email is being sent. Its link replaces the previous one.",
    "removal-pending": "Removal has started. It finishes once pending events about this person have been sent.",
    "subscriber-paused": "Paused. This person gets no campaigns until you or they resume.",
    "subscriber-resumed": "Resumed. This person gets the next campaign.",
    "bounced-pause": "Pausing has started. For thousands of people it takes a few minutes.",
    "bounced-remove": "Removal has started. For thousands of people it takes a few minutes.",
    "do-not-contact": "Done. This address will not be emailed again.",
    "lifted": "Done. This address can sign up again.",
    "not-on-list": "Nothing to do: this address was not on the list. It can sign up.",
    "invited": "Invited. The email with the link is on its way.",
    "invitation-withdrawn": "Invitation withdrawn. Its link no longer works.",
    "account-closed": "Account closed. Its address and password are deleted; the rest follows in the background.",
    "added": "Added. If they have to confirm first, the email with the link is on its way.",
    "import-read": "Read again.",
    "import-started": "The import has started. You can leave this page.",
    "import-cancelled": "Cancelled. Whoever was imported before that stays, unless you undo it.",
    "import-undone": "Undone. Those it had added who did nothing since are removed.",
    "import-undoing": "Undoing has started. For thousands of people it takes a few minutes.",
    "segment-saved": "Segment saved.",
    "segment-deleted": "Segment deleted. Campaigns that used it stay as they are.",
    "tags-changing": "The change has started. You can leave this page.",
    "saved": "Saved.",
    "site-saved": "Saved. Readers see it within a minute.",
    "site-restored": "Brought back. Readers see it within a minute.",
    "version-restored": "Brought back. What was there before is in the history.",
    "duplicated": "Duplicated as a new draft.",
    "composed": "Composed. The items are in this draft, and their text is yours to change.",
    "composed-some": "Composed. What this draft had already was not added again.",
    "composed-nothing": "Nothing was added: this draft has all of these items already.",
    "opened": "The next issue is open: write a few words, then compose items into it from the inbox.",
    "deleted": "Draft deleted.",
    "pictures-copied": "Copied in. The campaign loads no picture from elsewhere.",
    "picture-added": "Added. Copy its address into a campaign.",
    "picture-processing": "Added. It is large, so it takes a few seconds to appear here.",
    "picture-deleted": "Picture deleted.",
    "picture-used": "Not deleted: the picture is in use.",
    "picture-gone": "Nothing to do: there is no such picture any more.",
    "tested": "Test email sent.",
    "tested-many": "Test emails sent.",
    "scheduled": "Scheduled. Until then you can change it or cancel the schedule.",
    "cancelled": "Schedule cancelled. The campaign is a draft again.",
    "sending": "Sending has started.",
    "feed-first": "First check done: existing entries were recorded, and nothing was sent.",
    "feed-unchanged": "Nothing has changed since the last check.",
    "feed-nothing_new": "No new entries.",
    "feed-sent": "New entries found: a campaign is being sent.",
    "feed-drafted": "New entries found: a draft is ready for review.",
    "feed-waiting": "New entries found: they wait, as you can see below.",
    "feed-hurried": "On its way: the feed is read once more, then the email leaves.",
    "feed-cancelled": "Cancelled. It will not be emailed.",
    "feed-not-waiting": "Nothing to do: it was sent, cancelled or taken down already.",
    "feed-failed": "The feed could not be read. See below for details.",
    "feed-busy": "The feed is already being checked.",
    "feed-resting": "Not checked: the feed’s server asked us to wait.",
    "feed-stopped": "The feed is gone, so it is no longer checked.",
    "feed-off": "No feed configured.",
    "paused": "Paused. New events wait until you resume.",
    "resumed": "Active again. Waiting events are being sent.",
    "enabled": "Active again. Replay the events it missed while it was disabled.",
    "hook-ok": "The test event was received.",
    "hook-failed": "The test event was not received. See the list of attempts.",
    "hook-removed": "Webhook removed.",
    "replaying": "Replaying in the background.",
    "stopped": "Stopped. Retry continues with everybody who has not been sent the campaign.",
    "stopping": "Stopping. The batches that are already on their way are being finished.",
    "too-late-to-stop": "Nothing to stop: this delivery was no longer being sent.",
    "hidden": "Hidden from the archive. Copies kept by browsers and caches are gone within a minute.",
    "shown": "Shown in the archive again. Browsers and caches notice within a minute.",
    "corrected": "Web version corrected. Browsers and caches show the new text within a minute.",
    "withdrawn": "Correction withdrawn: within a minute, the web version is what was sent again.",
    "continuing": "The next wave is being sent.",
    "nothing-to-continue": "Nothing to continue: this wave is being sent, or the delivery is over.",
    "retrying": "Retrying for everyone who is not known to have received it.",
}

# How a notice looks, unless it reports a success: `bad` when something failed, `info` when nothing was done.
_TONES = {
    "resend-held": "info",
    "not-on-list": "info",
    "feed-failed": "bad",
    "feed-busy": "info",
    "feed-not-waiting": "info",
    "feed-resting": "info",
    "feed-stopped": "bad",
    "feed-off": "info",
    "hook-failed": "bad",
    "picture-used": "bad",
    "picture-gone": "info",
    "too-late-to-stop": "info",
    "nothing-to-continue": "info",
}


def page(
    request: Request,
    template: str,
    status: int = 200,
    *,
    outdated: tuple[str, ...] = (),
    said: tuple[str, str] | None = None,
    **values: Any,
) -> Response:
    """`outdated` are notices that were true when the page was first opened and are no longer; `said` is a notice, and
    its tone, of a page that has notices of its own."""
    notice, tone = said or _find_notice(request, outdated)
    titles = unread.list_titles(DESK)
    given = {"unread": titles, "waiting": waiting.describe(DESK), **values}
    return _framed(template, status, who=request.identity, notice=notice, tone=tone, **given)


def _find_notice(request: Request, outdated: tuple[str, ...]) -> tuple[str | None, str]:
    key = request.query.get("notice", "") if request.method == "GET" else ""
    return NOTICES.get(key) if key not in outdated else None, _TONES.get(key, "good")


def problem(failure: GnaError) -> Response:
    """A failure, shown as a page of the dashboard."""
    reason = failure.reason
    if isinstance(failure, Misconfigured):
        reason = "Something is not configured: see the Settings page"
    status = responses.status_of(failure)
    # When the database does not answer, it is not asked once more.
    known = (
        {}
        if isinstance(failure, Unavailable)
        else {"unread": unread.list_titles(DESK), "waiting": waiting.describe(DESK)}
    )
    answer = _framed("admin/problem.html", status, reason=reason, code=status, **known)
    return responses.with_retry_after(failure, answer)


def forms_only(request: Request) -> Response:
    """For a path that has no page: most editors get there by signing in again while they were sending a form."""
    return page(request, "admin/forms_only.html", 404)


def back(path: str, notice: str = "") -> Response:
    """Redirect after a change, so that reloading the page does not repeat it."""
    assert not notice or notice in NOTICES
    return responses.redirect(f"{path}?{urlencode({'notice': notice})}" if notice else path)


def asset(name: str) -> str:
    if name == "style.css":
        return _asset(name, **shades(publication.at_hand().colours.accent))
    return _asset(name)


@lru_cache(maxsize=8)
def _asset(name: str, **values: str) -> str:
    text = pages.text(f"admin/{name}", lang=languages.ENGLISH, **values)
    return _without_comments(text) if name.endswith(".js") else text


def _without_comments(script: str) -> str:
    """A script as it is sent: a tenth of what is written is for readers of the source."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def asset_url(name: str) -> str:
    return f"/admin/{name}?v={sha256(asset(name).encode()).hexdigest()[:12]}"


def _framed(template: str, status: int, **values: Any) -> Response:
    given = {
        "here": "",
        "who": "",
        "notice": None,
        "tone": "good",
        "problem": None,
        "unread": (),
        "waiting": "",
        "labels": labels,
        "fit": truncate,
        "navigation": NAVIGATION,
        "following": FOLLOWING,
        "inbox": INBOX,
        "style": asset_url("style.css"),
        "script": asset_url("app.js"),
        "editor": asset_url("editor.js"),
        "triage": asset_url("triage.js"),
        "authentication_off": settings.current().disable_auth,
        **values,
    }
    # The guard checks the origin of every form, so browsers have to send it.
    return pages.page(template, status, lang=languages.ENGLISH, **given).with_headers(Referrer_Policy="same-origin")

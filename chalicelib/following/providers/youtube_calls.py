"""Calls of the YouTube Data API: what each costs, and what its refusals mean.

No 403 means that somebody withdrew their consent. It is a quota, a rate, a key or an API that is not switched on.
"""

from chalicelib.following.providers import api, hosts
from chalicelib.following.providers.api import Reply
from chalicelib.following.providers.contract import (
    SEARCHES,
    UNITS,
    Access,
    Down,
    Forbidden,
    ProviderFailed,
    QuotaExceeded,
    Throttled,
    Unauthorised,
    Unknown,
)
from chalicelib.following.providers.fields import Fields

_NAME = "YouTube"
_DAILY = {"quotaExceeded", "dailyLimitExceeded"}
_TOO_FAST = {"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"}
_BROKEN = {"backendError", "internalError", "serviceUnavailable", "SERVICE_UNAVAILABLE"}
_WITHOUT_KEY = {"keyInvalid", "keyExpired", "API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED"}
_BY_THE_DAY = "1/d/"
_SHORTEST_WAIT = 60


def read_list(resource: str, access: Access, parameters: dict[str, str]) -> Fields:
    """`GET /youtube/v3/{resource}`. The key is for those who have no token."""
    bucket = SEARCHES if resource == "search" else UNITS
    if not access.token and not access.key:
        raise Unauthorised("YouTube is not connected")
    access.spend(bucket, 1)
    allowed = {} if access.token else {"key": access.key}
    reply = api.get(_NAME, hosts.youtube(f"{hosts.YOUTUBE_API}/{resource}"), parameters | allowed, access.token)
    if reply.status != 200:
        raise _failure(reply, bucket)
    # An empty answer means that there is nothing, and videos are marked as deleted by it, so it has to be YouTube's.
    if not reply.fields.word("kind").startswith("youtube#"):
        raise Down("YouTube answered something unreadable", reply.retry_after)
    return reply.fields


def _failure(reply: Reply, bucket: str) -> ProviderFailed:
    reasons = _reasons(reply)
    if reasons & _DAILY or _is_by_the_day(reply):
        return QuotaExceeded("Today's YouTube quota is used up", bucket, reply.retry_after)
    if reply.status == 429 or reasons & _TOO_FAST:
        return Throttled("YouTube is limiting our requests", max(reply.retry_after, _SHORTEST_WAIT))
    if reply.status == 401:
        return Unauthorised("YouTube does not accept the connection any more")
    if reply.status == 404:
        return Unknown("Nothing on YouTube has this ID")
    # A gate in front of the API, or one that is down, answers with a page.
    if reasons & _BROKEN or not reply.is_json:
        return Down(f"YouTube answered {reply.status}", reply.retry_after)
    if reasons & _WITHOUT_KEY:
        return Forbidden("YouTube does not accept the key: check YOUTUBE_API_KEY")
    if reasons & {"accessNotConfigured", "SERVICE_DISABLED"}:
        return Forbidden("The YouTube Data API is not switched on for this Google project")
    return Forbidden("YouTube refused the request")


def _reasons(reply: Reply) -> set[str]:
    """The words for a refusal, of which Google has an old and a new form."""
    error = reply.fields.inside("error")
    found = [one.word("reason") for one in (*error.each("errors"), *error.each("details"))]
    return {reason for reason in found if reason}


def _is_by_the_day(reply: Reply) -> bool:
    """A quota that is counted by the day has been answered as 429 too, with the word for too many at once."""
    details = reply.fields.inside("error").each("details")
    return any(one.inside("metadata").word("quota_unit").startswith(_BY_THE_DAY) for one in details)

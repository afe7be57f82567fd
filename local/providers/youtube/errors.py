"""Refusals in the form of Google's APIs: `errors[].reason` tells them apart, for many have the same status."""

from typing import Any

from local.gateway.gateway import Answer
from local.providers.wire import json_answer

_QUOTA = (
    "The request cannot be completed because you have exceeded your "
    '<a href="/youtube/v3/getting-started#quota">quota</a>.'
)
_SEARCHES = (
    "Quota exceeded for quota metric 'Search Queries' and limit 'Search Queries per day' of service "
    "'youtube.googleapis.com' for consumer 'project_number:000000000000'."
)
_CREDENTIALS = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
    "authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."
)
_UNREGISTERED = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)


class Refusal(Exception):
    """`where` is the place it is about: a parameter, or a header with its name after a colon. `details` are told in
    the newer form of such refusals, beside the older one; their `reason` is another word there."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        domain: str = "global",
        where: str = "",
        status: str = "",
        short: str = "",
        details: dict[str, str] | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(reason)
        error: dict[str, Any] = {"message": short or message, "domain": domain, "reason": reason}
        if where:
            kind, _, name = where.rpartition(":")
            error |= {"location": name, "locationType": kind or "parameter"}
        body: dict[str, Any] = {"code": code, "message": message, "errors": [error]}
        body |= {"status": status} if status else {}
        if details:
            body["details"] = [_info(**details)]
        self.answer: Answer = json_answer({"error": body}, code, *headers)


def _info(reason: str, **metadata: str) -> dict[str, Any]:
    told = metadata | {"service": "youtube.googleapis.com"}
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": told,
    }


def unavailable() -> Refusal:
    return Refusal(503, "backendError", "The service is currently unavailable.", status="UNAVAILABLE")


def quota_exceeded() -> Refusal:
    return Refusal(403, "quotaExceeded", _QUOTA, domain="youtube.quota")


def searches_exceeded() -> Refusal:
    """The searches have a quota of their own. Its refusal looks like that of a rate; only the unit says "a day"."""
    details = {"reason": "RATE_LIMIT_EXCEEDED", "quota_unit": "1/d/{project}", "quota_limit_value": "100"}
    return Refusal(429, "rateLimitExceeded", _SEARCHES, status="RESOURCE_EXHAUSTED", details=details)


def rate_limited(seconds: int) -> Refusal:
    message = "The request cannot be completed because too many requests were sent within a given time span."
    headers = (("Retry-After", str(seconds)),)
    return Refusal(403, "rateLimitExceeded", message, domain="youtube.quota", headers=headers)


def bad_token() -> Refusal:
    where, status = "header:Authorization", "UNAUTHENTICATED"
    return Refusal(401, "authError", _CREDENTIALS, short="Invalid Credentials", where=where, status=status)


def bad_key() -> Refusal:
    message = "API key not valid. Please pass a valid API key."
    return Refusal(400, "badRequest", message, status="INVALID_ARGUMENT", details={"reason": "API_KEY_INVALID"})


def nobody() -> Refusal:
    return Refusal(403, "forbidden", _UNREGISTERED, status="PERMISSION_DENIED")


def insufficient_scope() -> Refusal:
    message, short = "Request had insufficient authentication scopes.", "Insufficient Permission"
    return Refusal(403, "insufficientPermissions", message, short=short, status="PERMISSION_DENIED")


def not_authorized(parameter: str) -> Refusal:
    message = f"The request uses the <code>{parameter}</code> parameter but is not properly authorized."
    return Refusal(401, "authorizationRequired", message, domain="youtube.parameter", where=parameter)


def no_part() -> Refusal:
    return Refusal(400, "required", "Required parameter: part", where="part")


def unknown_part(name: str) -> Refusal:
    return Refusal(400, "unknownPart", f"'{name}'", domain="youtube.part", where="part")


def no_filter(names: tuple[str, ...]) -> Refusal:
    message = f"No filter selected. Expected one of: {', '.join(names)}"
    return Refusal(
        400, "missingRequiredParameter", message, domain="youtube.parameter", where=f"parameters.:{names[0]}"
    )


def bad_value(parameter: str, reason: str = "invalidParameter") -> Refusal:
    message = f"The request specifies an invalid value of the <code>{parameter}</code> parameter."
    return Refusal(400, reason, message, domain="youtube.parameter", where=parameter)


def bad_page_token() -> Refusal:
    message = "The request specifies an invalid page token."
    return Refusal(400, "invalidPageToken", message, domain="youtube.parameter", where="pageToken")


def no_playlist() -> Refusal:
    message = "The playlist identified with the request's <code>playlistId</code> parameter cannot be found."
    return Refusal(404, "playlistNotFound", message, domain="youtube.playlistItem", where="playlistId")


def no_subscriber() -> Refusal:
    message = "The subscriber identified with the request cannot be found."
    return Refusal(404, "subscriberNotFound", message, domain="youtube.subscription")


def no_method() -> Refusal:
    return Refusal(404, "notFound", "Method not found.", status="NOT_FOUND")

"""Google's token endpoint: what it refuses, and in which words."""

from local.providers.credentials import YOUTUBE
from local.providers.grants import Rules

RULES = Rules(
    provider="youtube",
    client_id=YOUTUBE["YOUTUBE_CLIENT_ID"],
    secret=YOUTUBE["YOUTUBE_CLIENT_SECRET"],
    seconds=3_599,
    rotates=False,
)
REFUSALS = {
    "client": (401, "invalid_client", "The OAuth client was not found."),
    "secret": (401, "invalid_client", "Unauthorized"),
    "grant_type": (400, "unsupported_grant_type", "Invalid grant_type"),
    "code": (400, "invalid_grant", "Malformed auth code."),
    "redirect": (400, "redirect_uri_mismatch", "Bad Request"),
    "no_verifier": (400, "invalid_grant", "Missing code verifier."),
    "verifier": (400, "invalid_grant", "Invalid code verifier."),
    "refresh": (400, "invalid_grant", "Bad Request"),
    "revoked": (400, "invalid_grant", "Token has been expired or revoked."),
    "unavailable": (503, "internal_failure", "Backend Error"),
}

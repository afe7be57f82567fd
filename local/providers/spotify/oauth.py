"""Spotify's token endpoint: what it refuses, and in which words."""

from local.providers.credentials import SPOTIFY
from local.providers.grants import Rules

RULES = Rules(provider="spotify", client_id=SPOTIFY["SPOTIFY_CLIENT_ID"], secret=None, seconds=3_600, rotates=True)
REFUSALS = {
    "client": (400, "invalid_client", "Invalid client"),
    "secret": (400, "invalid_client", "Invalid client secret"),
    "grant_type": (400, "unsupported_grant_type", "grant_type parameter is missing"),
    "code": (400, "invalid_grant", "Invalid authorization code"),
    "redirect": (400, "invalid_grant", "Invalid redirect URI"),
    "no_verifier": (400, "invalid_request", "code_verifier must be supplied"),
    "verifier": (400, "invalid_grant", "code_verifier was incorrect"),
    "refresh": (400, "invalid_grant", "Invalid refresh token"),
    "revoked": (400, "invalid_grant", "Refresh token revoked"),
    "unavailable": (503, "server_error", "Service unavailable"),
}

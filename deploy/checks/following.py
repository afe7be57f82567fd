"""Checks of what following YouTube and Spotify needs: client ids, the secrets that belong to them, and keys."""

from collections.abc import Iterator
from typing import Any

from chalicelib.kernel import ciphers
from chalicelib.kernel.errors import Misconfigured
from chalicelib.kernel.findings import Finding, error, note
from chalicelib.kernel.settings import Settings
from deploy import secrets
from deploy.stack import Clients
from deploy.stage import Stage, how_to_put

_CLIENT_SECRET, _API_KEY = "YOUTUBE_CLIENT_SECRET", "YOUTUBE_API_KEY"
# For editors, and for members.
_CALLBACKS = ("/admin/following/callback", "/following/callback")

Parameters = dict[str, dict[str, Any]]


def check(clients: Clients, stage: Stage, configured: Settings) -> Iterator[Finding]:
    found = secrets.read(clients, stage, (secrets.RING, _CLIENT_SECRET, _API_KEY))
    yield from _check_keys(found)
    yield from _check_encryption(stage, found)
    yield from _check_youtube(stage, found, configured)
    yield from _check_market(stage, configured)
    for name, client_id in (("YouTube", configured.youtube_client_id), ("Spotify", configured.spotify_client_id)):
        if client_id:
            yield _redirects(name, configured)


def _check_keys(found: Parameters) -> Iterator[Finding]:
    """A missing ring is a missing secret, which `account.check_secrets` reports."""
    if secrets.RING not in found:
        return
    try:
        ciphers.parse_ring(found[secrets.RING]["Value"])
    except Misconfigured as failure:
        problem, _, fix = failure.reason.partition(": ")
        yield error(problem, "no connected account can be used", fix[0].upper() + fix[1:])


def _check_encryption(stage: Stage, found: Parameters) -> Iterator[Finding]:
    for name, parameter in found.items():
        if parameter["Type"] != "SecureString":
            why = "whoever may list parameters can read it"
            fix = f"aws ssm delete-parameter --name {stage.secrets_path}/{name}, then {how_to_put(stage, name)}"
            yield error(f"{stage.secrets_path}/{name} is not encrypted", why, fix)


def _check_youtube(stage: Stage, found: Parameters, configured: Settings) -> Iterator[Finding]:
    if configured.youtube_client_id and _CLIENT_SECRET not in found:
        why = "Google refuses to connect an account"
        yield error(f"YOUTUBE_CLIENT_ID is set without {_CLIENT_SECRET}", why, how_to_put(stage, _CLIENT_SECRET))
    if _CLIENT_SECRET in found and not configured.youtube_client_id:
        why = "nobody can connect an account"
        fix = f"Set YOUTUBE_CLIENT_ID in deploy/stages/{stage.name}.env and deploy again"
        yield error(f"{_CLIENT_SECRET} is there, but YOUTUBE_CLIENT_ID is not set", why, fix)
    if configured.youtube_client_id and _API_KEY not in found:
        why = "channels can be followed only by those who connect an account"
        yield note(f"{_API_KEY} is not in the parameter store", why, how_to_put(stage, _API_KEY))


def _check_market(stage: Stage, configured: Settings) -> Iterator[Finding]:
    if configured.spotify_client_id and not stage.settings.get("SPOTIFY_MARKET"):
        why = f"shows that are not published in {configured.spotify_market} are not found"
        yield note("SPOTIFY_MARKET is not set", why, "Set it to the country of your Spotify account")


def _redirects(provider: str, configured: Settings) -> Finding:
    paths = _CALLBACKS[:1] if configured.members == "off" else _CALLBACKS
    urls = " and ".join(configured.url(path) for path in paths)
    why = "it sends people nowhere else after they agreed"
    return note(f"{provider}'s client has to know where people come back to", why, f"Register {urls} as redirect URI")

"""Who is asking? Checks a Cloudflare Access token; knows nothing of API Gateway, Chalice or the network."""

import math
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from chalicelib.access.token import Token, invalid, read
from chalicelib.kernel.errors import Misconfigured, Refused, Unauthenticated
from chalicelib.kernel.settings import Settings

_LEEWAY = 30
_LONGEST_NAME = 320


class KeyRing(Protocol):
    def find(self, kid: str, now: float) -> Any: ...


class Identity(Struct, frozen=True):
    """`name` is an e-mail address, or a service token's name; `kind` says which."""

    name: str
    kind: str
    subject: str = ""


DEVELOPER = Identity("dev@localhost", "developer")


def verify(token: str, settings: Settings, keys: KeyRing, now: datetime) -> Identity:
    if settings.disable_auth:
        return DEVELOPER
    if not settings.access_team or not settings.access_aud:
        raise Misconfigured("CF_ACCESS_TEAM_NAME and CF_ACCESS_AUD must be set for anyone to reach /admin")
    if not token:
        raise Unauthenticated("Authentication required")
    read_token = read(token)
    _check_signature(read_token, keys, now.timestamp())
    _check_claims(read_token.claims, settings)
    _check_times(read_token.claims, now.timestamp())
    return _identity(read_token.claims, settings)


def _check_signature(token: Token, keys: KeyRing, now: float) -> None:
    """The key comes from the team by `kid`; a key or an address inside the token is never looked at."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    header, kid = token.header, token.header.get("kid")
    # The algorithm is ours to choose: what the token says may only agree. `crit` demands what we do not know.
    if header.get("alg") != "RS256" or header.get("typ", "JWT") != "JWT" or "crit" in header:
        raise invalid()
    if not isinstance(kid, str) or not (key := keys.find(kid, now)):
        raise invalid()
    try:
        key.verify(token.signature, token.signed, PKCS1v15(), SHA256())
    except InvalidSignature:
        raise invalid() from None


def _check_claims(claims: dict[str, Any], settings: Settings) -> None:
    # Access gives people a list and service tokens a text.
    audience = claims.get("aud")
    meant_for_us = settings.access_aud in audience if isinstance(audience, list) else audience == settings.access_aud
    if not meant_for_us or claims.get("iss") != f"https://{settings.access_team}.cloudflareaccess.com":
        raise invalid()
    # "org" is the team-wide session: proof of who one is, not of being let into this application.
    if claims.get("type", "app") != "app":
        raise invalid()


def _check_times(claims: dict[str, Any], now: float) -> None:
    if now >= _moment(claims.get("exp")) + _LEEWAY:
        raise Refused("Token expired")
    for name in ("nbf", "iat"):
        if name in claims and _moment(claims[name]) > now + _LEEWAY:
            raise invalid()


def _moment(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid()
    try:
        moment = float(value)
    except OverflowError:
        raise invalid() from None
    if not math.isfinite(moment):
        raise invalid()
    return moment


def _identity(claims: dict[str, Any], settings: Settings) -> Identity:
    subject = claims.get("sub", "")
    if not isinstance(subject, str):
        raise invalid()
    if email := claims.get("email"):
        return Identity(_name(email), "person", subject)
    if settings.access_service_tokens:
        return Identity(_name(claims.get("common_name")), "service", subject)
    raise invalid()


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= _LONGEST_NAME:
        raise invalid()
    return value

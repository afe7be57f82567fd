"""Who is asking? Verifies a Cloudflare Access token; knows nothing of API Gateway, Chalice or the network.

The narrow checks come first, then PyJWT verifies the signature and the registered claims, and the rest is what is
particular to Access and to us.
"""

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from chalicelib.access.narrow_checks import invalid, key_id
from chalicelib.kernel.errors import Misconfigured, Refused, Unauthenticated
from chalicelib.kernel.settings import Settings

if TYPE_CHECKING:
    from jwt import PyJWK
    from jwt.types import Options

_LEEWAY = 30
_LONGEST_NAME = 320

# We check the times ourselves (`_check_times`): PyJWT reads the clock itself, accepts a time given as text or as
# `true`, and checks times first, so it would report the expiry of a token that is not meant for us.
# A short key is an error rather than a warning; the key ring holds none.
_OPTIONS: "Options" = {
    "require": ["exp", "aud", "iss"],
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "enforce_minimum_key_length": True,
}


class KeyRing(Protocol):
    def find(self, kid: str, now: float) -> "PyJWK | None": ...


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
    key = keys.find(key_id(token), now.timestamp())
    if key is None:
        raise invalid()
    claims = _decode(token, key, settings)
    _check_type(claims)
    _check_times(claims, now.timestamp())
    return _identity(claims, settings)


def _decode(token: str, key: "PyJWK", settings: Settings) -> dict[str, Any]:
    """The claims, if this key signed them for our application. Keys and URLs inside the token are never used."""
    import jwt

    issuer = f"https://{settings.access_team}.cloudflareaccess.com"
    try:
        # `aud` is a list for people and a text for service tokens; without `strict_aud` PyJWT takes both.
        return jwt.decode(
            token, key, algorithms=["RS256"], audience=settings.access_aud, issuer=issuer, options=_OPTIONS
        )
    except jwt.PyJWTError:
        raise invalid() from None


def _check_type(claims: dict[str, Any]) -> None:
    """`org` is the team-wide session: it shows who somebody is, not that they may use this application."""
    if claims.get("type", "app") != "app":
        raise invalid()


def _check_times(claims: dict[str, Any], now: float) -> None:
    if now >= _moment(claims["exp"]) + _LEEWAY:
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
    subject = claims.get("sub", "")  # PyJWT has checked that it is a text
    if email := claims.get("email"):
        return Identity(_name(email), "person", subject)
    if settings.access_service_tokens:
        return Identity(_name(claims.get("common_name")), "service", subject)
    raise invalid()


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= _LONGEST_NAME:
        raise invalid()
    return value

"""OAuth 2 with PKCE, as far as both providers do the same: codes, tokens, and who may have them."""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

from local.providers.state import Code, Grant, State

_CODE_SECONDS = 600


@dataclass(frozen=True)
class Rules:
    """What the providers do differently. `rotates`: each refresh gives another refresh token and ends the one before.
    `secret` is None for an app that has none."""

    provider: str
    client_id: str
    secret: str | None
    seconds: int
    rotates: bool


class Refused(Exception):
    """`why`: client, secret, grant_type, code, redirect, no_verifier, verifier, refresh, or revoked."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Grants:
    def __init__(self, state: State, rules: Rules) -> None:
        self._state, self._rules = state, rules

    def issue_code(self, ask: dict[str, str]) -> str:
        code = secrets.token_urlsafe(32)
        with self._state.lock:
            self._state.codes[code] = Code(
                provider=self._rules.provider,
                redirect_uri=ask["redirect_uri"],
                challenge=ask.get("code_challenge", ""),
                scope=ask.get("scope", ""),
                offline=self._may_refresh(ask),
                at=self._state.now(),
            )
        return code

    def _may_refresh(self, ask: dict[str, str]) -> bool:
        """Google gives a refresh token for offline access only, with the first consent or a renewed one."""
        if self._rules.rotates:
            return True
        known = any(not grant.revoked for grant in self._own())
        return ask.get("access_type") == "offline" and ("consent" in ask.get("prompt", "") or not known)

    def answer(self, form: dict[str, str]) -> dict[str, Any]:
        """The answer of the token endpoint."""
        self._check_client(form)
        match form.get("grant_type"):
            case "authorization_code":
                return self._exchange(form)
            case "refresh_token":
                return self._renew(form.get("refresh_token", ""))
        raise Refused("grant_type")

    def _check_client(self, form: dict[str, str]) -> None:
        if form.get("client_id") != self._rules.client_id:
            raise Refused("client")
        if self._rules.secret is not None and form.get("client_secret") != self._rules.secret:
            raise Refused("secret")

    def _exchange(self, form: dict[str, str]) -> dict[str, Any]:
        with self._state.change():
            code = self._state.codes.pop(form.get("code", ""), None)
            now = self._state.now()
            if not code or code.provider != self._rules.provider or now - code.at > _CODE_SECONDS:
                raise Refused("code")
            if form.get("redirect_uri") != code.redirect_uri:
                raise Refused("redirect")
            _check_verifier(code.challenge, form.get("code_verifier", ""))
            refresh = secrets.token_urlsafe(48) if code.offline else ""
            grant = Grant(secrets.token_hex(8), self._rules.provider, code.scope, now, refresh)
            self._state.grants.append(grant)
            return self._tokens(grant, with_refresh=True)

    def _renew(self, token: str) -> dict[str, Any]:
        with self._state.change():
            if self._state.faults[self._rules.provider].revoked:
                raise Refused("revoked")
            for grant in self._own():
                if token in grant.spent or (grant.revoked and token == grant.refresh):
                    raise Refused("revoked")
                if token and token == grant.refresh:
                    if self._rules.rotates:
                        grant.spent.append(token)
                        grant.refresh = secrets.token_urlsafe(48)
                    return self._tokens(grant, with_refresh=self._rules.rotates)
            raise Refused("refresh")

    def _tokens(self, grant: Grant, with_refresh: bool) -> dict[str, Any]:
        now, access = self._state.now(), secrets.token_urlsafe(48)
        # What ended a day ago is forgotten; until then it is known to have expired.
        grant.access = {token: ends for token, ends in grant.access.items() if ends > now - 86_400}
        grant.access[access] = now + self._rules.seconds
        answer = {"access_token": access, "expires_in": self._rules.seconds, "scope": grant.scope}
        answer["token_type"] = "Bearer"
        return answer | ({"refresh_token": grant.refresh} if with_refresh and grant.refresh else {})

    def find(self, access: str) -> tuple[Grant | None, bool]:
        """The grant of an access token, and whether the token has expired."""
        with self._state.lock:
            if self._state.faults[self._rules.provider].revoked:
                return None, False
            for grant in self._own():
                if access in grant.access and not grant.revoked:
                    return grant, grant.access[access] <= self._state.now()
        return None, False

    def revoke(self, token: str) -> bool:
        """End the consent that this token, of either kind, belongs to."""
        with self._state.change():
            for grant in self._own():
                if token and not grant.revoked and token in (grant.refresh, *grant.access):
                    grant.revoked = True
                    return True
        return False

    def revoke_all(self) -> None:
        """What the person does on the account page of the provider."""
        with self._state.change():
            for grant in self._own():
                grant.revoked = True

    def _own(self) -> list[Grant]:
        return [grant for grant in self._state.grants if grant.provider == self._rules.provider]


def _check_verifier(challenge: str, verifier: str) -> None:
    if not challenge:
        return
    if not verifier:
        raise Refused("no_verifier")
    made = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    if not hmac.compare_digest(made, challenge):
        raise Refused("verifier")

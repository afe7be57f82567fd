"""Where PyJWT alone would accept a token that we refuse, and that whatever it is given ends in a verdict."""

import json
from datetime import UTC, datetime

import jwt
import pytest
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from chalicelib.access.verify import verify
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Refused
from tests.rooms.access.conftest import (
    AUD,
    HEADER,
    ISSUER,
    OWN,
    claims,
    jwk,
    private_key,
    refused,
    signed,
    token,
)


def pyjwt_alone(text):
    """PyJWT as its documentation says to use it, with the right key at hand."""
    public = private_key(*OWN).public_key()
    return jwt.decode(text, public, ["RS256"], audience=AUD, issuer=ISSUER, leeway=30)


def test_pyjwt_alone_agrees_that_the_honest_token_is_honest():
    assert pyjwt_alone(token())["email"] == "owner@example.org"


def with_claims(**changes):
    return signed(HEADER, claims(**changes))


def with_body(change):
    return signed(HEADER, change(json.dumps(claims())))


ACCEPTED_BY_PYJWT = {
    "a name twice in the header": lambda: signed(b'{"alg":"none","alg":"RS256","kid":"current"}', claims()),
    "a name twice in the claims": lambda: with_body(
        lambda body: body.replace('"email"', '"email": "a@b.example", "email"').encode()
    ),
    "a name twice inside a claim": lambda: with_body(lambda body: f'{body[:-1]}, "x": {{"y": 1, "y": 2}}}}'.encode()),
    "NaN": lambda: with_claims(x=float("nan")),
    "Infinity": lambda: with_claims(x=float("inf")),
    "padding": lambda: f"{token()}==",
    "UTF-16": lambda: with_body(lambda body: body.encode("utf-16")),
    "UTF-16 without a mark": lambda: with_body(lambda body: body.encode("utf-16-le")),
    "a header in UTF-32": lambda: signed(json.dumps(HEADER).encode("utf-32"), claims()),
    "a byte order mark": lambda: with_body(lambda body: body.encode("utf-8-sig")),
    "surrogates in UTF-8": lambda: with_body(lambda body: body.encode()[:-1] + b', "x": "\xed\xa0\x80"}'),
    "a critical extension": lambda: signed(HEADER | {"crit": ["b64"], "b64": True}, claims()),
    "a token of another kind": lambda: signed(HEADER | {"typ": "at+jwt"}, claims()),
    "a kind that is no text": lambda: signed(HEADER | {"typ": 1}, claims()),
    "no kid": lambda: signed({"alg": "RS256", "typ": "JWT"}, claims()),
    "an unknown kid": lambda: signed(HEADER | {"kid": "unknown"}, claims()),
    "a token of 20 KB": lambda: with_claims(x="x" * 20_000),
    "an end as text": lambda: with_claims(exp="9999999999"),
    "a beginning as text": lambda: with_claims(nbf="1"),
    "issued at true": lambda: with_claims(iat=True),
    "the team's session": lambda: with_claims(type="org"),
    "nobody's name": lambda: with_claims(email=None),
}


@pytest.mark.parametrize("make", ACCEPTED_BY_PYJWT.values(), ids=ACCEPTED_BY_PYJWT.keys())
def test_what_pyjwt_alone_would_accept_is_refused(verdict, make):
    """A row that fails because PyJWT has become stricter may go, once `test_attacks` has its form."""
    text = make()
    assert pyjwt_alone(text)
    refused(verdict, text)


@pytest.mark.parametrize("changes", [{"aud": [AUD, 5]}, {"aud": [AUD, None]}, {"jti": 5}, {"sub": 5}, {"sub": ["x"]}])
def test_registered_claims_of_another_type_are_refused(verdict, changes):
    refused(verdict, with_claims(**changes))


@pytest.mark.parametrize("changes", [{"b64": False}, {"b64": False, "crit": ["b64"]}])
def test_a_detached_payload_is_refused(verdict, changes):
    header, _, signature = signed(HEADER | changes, claims()).split(".")
    refused(verdict, signed(HEADER | changes, claims()))
    refused(verdict, f"{header}..{signature}")


LOCKED = settings.load({"CF_ACCESS_TEAM_NAME": "myteam", "CF_ACCESS_AUD": AUD})


class NoKeys:
    def find(self, kid, now):
        return None


@example_settings(max_examples=50)
@given(
    st.text(min_size=1, max_size=200)
    | st.from_regex(r"[A-Za-z0-9_-]{1,60}\.[A-Za-z0-9_-]{1,60}\.[A-Za-z0-9_-]{1,60}")
)
def test_whatever_is_sent_the_answer_is_a_verdict(text):
    with pytest.raises(Refused):
        verify(text, LOCKED, NoKeys(), datetime.now(UTC))


class OwnKey:
    def find(self, kid, now):
        return jwt.PyJWK(jwk(), "RS256")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
REGISTERED = ["aud", "iss", "exp", "nbf", "iat", "sub", "jti", "type", "email", "common_name"]


def outcome(text):
    try:
        return verify(text, LOCKED, OwnKey(), datetime.now(UTC)).kind
    except Refused as refusal:
        return refusal.reason


@example_settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(REGISTERED), JSON, max_size=3))
def test_whatever_is_signed_the_answer_is_a_verdict(changes):
    assert outcome(signed(HEADER, claims() | changes)) in ("person", "Invalid token", "Token expired")

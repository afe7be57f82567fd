"""The ways in which token readers have been attacked, each tried on an authorizer that accepts the honest token."""

import base64
import hashlib
import hmac
import json
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chalicelib.access import keys
from tests.rooms.access.conftest import (
    AUD,
    FORGED,
    HEADER,
    ISSUER,
    OWN,
    claims,
    jwk,
    malformed,
    part,
    private_key,
    refused,
    signed,
    token,
)


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", ""])
@pytest.mark.parametrize("signature", ["", "AAAA"])
def test_no_algorithm(verdict, name, signature):
    refused(verdict, f"{part({'alg': name, 'kid': 'current'})}.{part(claims())}.{signature}")


def test_no_algorithm_over_an_honest_signature(verdict):
    refused(verdict, signed(HEADER | {"alg": "none"}, claims()))


@pytest.mark.parametrize("form", [PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1])
@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER])
@pytest.mark.parametrize("algorithm", ["HS256", "RS256"])
def test_the_public_key_as_a_shared_secret(verdict, form, encoding, algorithm):
    secret = private_key(*OWN).public_key().public_bytes(encoding, form)
    text = f"{part({'alg': algorithm, 'kid': 'current'})}.{part(claims())}"
    refused(verdict, f"{text}.{part(hmac.digest(secret, text.encode(), hashlib.sha256))}")


def test_the_published_key_as_a_shared_secret(verdict):
    text = f"{part({'alg': 'HS256', 'kid': 'current'})}.{part(claims())}"
    for published in (jwk(), {"keys": [jwk()]}):
        secret = json.dumps(published).encode()
        refused(verdict, f"{text}.{part(hmac.digest(secret, text.encode(), hashlib.sha256))}")


@pytest.mark.parametrize("algorithm", ["PS256", "PS384", "PS512", "RS384", "RS512"])
def test_other_algorithms_of_the_same_key(verdict, algorithm):
    refused(verdict, token(algorithm=algorithm))


@pytest.mark.parametrize("algorithm", ["RS384", "PS256", "ES256", "HS256", "rs256", "RS256 ", ["RS256"], None, 5, {}])
def test_an_honest_signature_under_another_name(verdict, algorithm):
    refused(verdict, signed(HEADER | {"alg": algorithm}, claims()))


def test_elliptic_curves(verdict, team):
    refused(verdict, token(key=ec.generate_private_key(ec.SECP256R1()), algorithm="ES256"))


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_a_short_key_is_not_used_even_if_the_team_publishes_it(verdict, team):
    team.entries = [jwk(), jwk("short", 1024)]
    keys.keys_from.cache_clear()
    refused(verdict, token("short", private_key("short", 1024)))


@pytest.mark.parametrize(
    "changes", [{"use": "enc"}, {"use": None}, {"kty": "EC"}, {"alg": "RS512"}, {"alg": "PS256"}]
)
def test_a_key_meant_for_something_else_is_not_used(verdict, team, changes):
    team.entries = [jwk(), jwk("other", **changes)]
    refused(verdict, token("other", private_key("other", 2048)))


def embedded():
    forged = jwk("forged")
    pem = private_key(*FORGED).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    yield {"jwk": forged}
    yield {"jwk": forged | {"kid": "current"}}
    yield {"jku": "https://evil.example/certs"}
    yield {"x5u": "https://evil.example/cert.pem"}
    yield {"x5c": [base64.b64encode(pem.encode()).decode()]}
    yield {"x5t": "AAAA"}
    yield {"kid": pem}


def test_a_key_brought_along(verdict):
    for extra in embedded():
        refused(verdict, signed(HEADER | extra, claims(), FORGED))
        refused(verdict, signed(HEADER | {"kid": "forged"} | extra, claims(), FORGED))


def test_the_address_of_keys_in_a_token_is_never_asked(verdict, team):
    asked = team.asked
    refused(verdict, signed(HEADER | {"jku": team.url, "x5u": team.url}, claims(), FORGED))
    assert team.asked == asked


@pytest.mark.parametrize(
    "kid",
    [
        "",
        "unknown",
        "CURRENT",
        "current ",
        "current\x00",
        "../../dev/null",
        "' OR 1=1--",
        "ключ",
        0,
        None,
        [],
        ["current"],
    ],
)
def test_a_kid_the_team_does_not_have(verdict, kid):
    refused(verdict, signed(HEADER | {"kid": kid}, claims()))


def test_no_kid(verdict):
    refused(verdict, token(kid=None))


def test_a_signature_by_somebody_else(verdict):
    refused(verdict, token(key=private_key(*FORGED)))


@pytest.mark.parametrize("crit", [["b64"], [], None, ["exp"]])
def test_demands_we_do_not_know(verdict, crit):
    refused(verdict, signed(HEADER | {"crit": crit, "b64": False}, claims()))


@pytest.mark.parametrize("kind", ["JOSE", "at+jwt", "secevent+jwt", "", None, 1, ["JWT"]])
def test_a_token_of_another_kind(verdict, kind):
    refused(verdict, signed(HEADER | {"typ": kind}, claims()))


def test_a_kind_need_not_be_said(verdict):
    assert verdict(signed({"alg": "RS256", "kid": "current"}, claims()))


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_letter_changed_anywhere(verdict, which):
    """Every letter of the signature, the last included, and a sample of the others."""
    parts = token().split(".")
    letters = parts[which]
    for place in range(0, len(letters), 1 if which == 2 else 7):
        other = "A" if letters[place] != "A" else "B"
        changed = [*parts[:which], letters[:place] + other + letters[place + 1 :], *parts[which + 1 :]]
        refused(verdict, ".".join(changed))
    for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        if last != letters[-1]:
            refused(verdict, ".".join([*parts[:which], letters[:-1] + last, *parts[which + 1 :]]))


def test_parts_of_two_honest_tokens(verdict):
    one, two = token().split("."), token(email="other@example.org").split(".")
    refused(verdict, ".".join([one[0], two[1], one[2]]))


def test_what_is_not_a_token_at_all(verdict):
    for text in malformed():
        refused(verdict, text)


def test_huge_tokens_are_refused_unread(verdict):
    long = signed(HEADER, claims(padding="x" * 16_000))
    refused(verdict, long)
    begun = time.thread_time()
    for text in ("A" * 10_000_000, "." * 10_000_000, long * 500):
        refused(verdict, text)
    assert time.thread_time() - begun < 0.5


def test_a_token_of_eight_kilobytes_passes(verdict):
    assert verdict(signed(HEADER, claims(groups=["g" * 100] * 55)))


def test_deep_json(verdict):
    for deep in (b'{"a":' * 2000 + b"1" + b"}" * 2000, b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}"):
        refused(verdict, signed(deep, claims()))
        refused(verdict, signed(HEADER, deep))


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (b'{"alg":"none","alg":"RS256","kid":"current"}', None),
        (b'{"alg":"RS256","kid":"forged","kid":"current"}', None),
        (None, b'{"aud":["other"],"aud":["%s"],"iss":"%s","email":"a@b.example","exp":9999999999}'),
        (None, b'{"aud":["%s"],"iss":"%s","email":"a@b.example","exp":1,"exp":9999999999}'),
        (None, b'{"aud":["%s"],"iss":"%s","email":"a@b.example","exp":9999999999,"x":{"y":1,"y":2}}'),
    ],
)
def test_a_name_given_twice(verdict, header, body):
    filled = body % (AUD.encode(), ISSUER.encode()) if body else claims()
    refused(verdict, signed(header or HEADER, filled))


@pytest.mark.parametrize(
    "body", [b"[]", b'"x"', b"1", b"null", b"", b"{", b"{}x", b"\xff\xfe", b'{"exp":NaN}', b"{}"]
)
def test_claims_that_are_no_claims(verdict, body):
    refused(verdict, signed(HEADER, body))
    refused(verdict, signed(body, claims()))

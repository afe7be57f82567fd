"""The forms in which the JOSE world has been attacked, each tried on a door that lets the honest token in."""

import base64
import hashlib
import hmac
import json
import time
from datetime import UTC, datetime

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from chalicelib.access import keys
from chalicelib.access.verify import verify
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Refused
from tests.rooms.access.conftest import AUD, ISSUER, claims, jwk, private_key, token

OWN = ("current", 2048)
FORGED = ("forged", 2048)


@pytest.fixture
def ask(team):
    current = settings.current()
    ring = keys.keys_from(current.access_certs_url)

    def ask(text, at=None):
        return verify(text, current, ring, at or datetime.now(UTC))

    assert ask(token()).name == "owner@example.org"
    return ask


def part(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def signed(header, body, key=OWN):
    """A token of any content under a real signature: what a library for tokens refuses to make."""
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    text = f"{part(header)}.{part(body)}"
    return f"{text}.{part(private_key(*key).sign(text.encode(), PKCS1v15(), SHA256()))}"


HEADER = {"alg": "RS256", "kid": "current", "typ": "JWT"}


def refused(ask, text, reason="Invalid token"):
    with pytest.raises(Refused) as refusal:
        ask(text)
    assert refusal.value.reason == reason


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", ""])
@pytest.mark.parametrize("signature", ["", "AAAA"])
def test_no_algorithm(ask, name, signature):
    refused(ask, f"{part({'alg': name, 'kid': 'current'})}.{part(claims())}.{signature}")


def test_no_algorithm_over_an_honest_signature(ask):
    refused(ask, signed(HEADER | {"alg": "none"}, claims()))


@pytest.mark.parametrize("form", [PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1])
@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER])
@pytest.mark.parametrize("algorithm", ["HS256", "RS256"])
def test_the_public_key_as_a_shared_secret(ask, form, encoding, algorithm):
    secret = private_key(*OWN).public_key().public_bytes(encoding, form)
    text = f"{part({'alg': algorithm, 'kid': 'current'})}.{part(claims())}"
    refused(ask, f"{text}.{part(hmac.digest(secret, text.encode(), hashlib.sha256))}")


@pytest.mark.parametrize("algorithm", ["PS256", "PS384", "PS512", "RS384", "RS512"])
def test_other_algorithms_of_the_same_key(ask, algorithm):
    refused(ask, token(algorithm=algorithm))


@pytest.mark.parametrize("algorithm", ["RS384", "PS256", "ES256", "HS256", "rs256", "RS256 ", ["RS256"], None, 5, {}])
def test_an_honest_signature_under_another_name(ask, algorithm):
    refused(ask, signed(HEADER | {"alg": algorithm}, claims()))


def test_elliptic_curves(ask, team):
    refused(ask, token(key=ec.generate_private_key(ec.SECP256R1()), algorithm="ES256"))


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_a_short_key_is_not_used_even_if_the_team_publishes_it(ask, team):
    team.entries = [jwk(), jwk("short", 1024)]
    keys.keys_from.cache_clear()
    refused(ask, token("short", private_key("short", 1024)))


@pytest.mark.parametrize(
    "changes", [{"use": "enc"}, {"use": None}, {"kty": "EC"}, {"alg": "RS512"}, {"alg": "PS256"}]
)
def test_a_key_meant_for_something_else_is_not_used(ask, team, changes):
    team.entries = [jwk(), jwk("other", **changes)]
    refused(ask, token("other", private_key("other", 2048)))


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


def test_a_key_brought_along(ask):
    for extra in embedded():
        refused(ask, signed(HEADER | extra, claims(), FORGED))
        refused(ask, signed(HEADER | {"kid": "forged"} | extra, claims(), FORGED))


def test_the_address_of_keys_in_a_token_is_never_asked(ask, team):
    asked = team.asked
    refused(ask, signed(HEADER | {"jku": team.url, "x5u": team.url}, claims(), FORGED))
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
def test_a_kid_the_team_does_not_have(ask, kid):
    refused(ask, signed(HEADER | {"kid": kid}, claims()))


def test_no_kid(ask):
    refused(ask, token(kid=None))


def test_a_signature_by_somebody_else(ask):
    refused(ask, token(key=private_key(*FORGED)))


@pytest.mark.parametrize("crit", [["b64"], [], None, ["exp"]])
def test_demands_we_do_not_know(ask, crit):
    refused(ask, signed(HEADER | {"crit": crit, "b64": False}, claims()))


@pytest.mark.parametrize("kind", ["JOSE", "at+jwt", "secevent+jwt", "", None, 1, ["JWT"]])
def test_a_token_of_another_kind(ask, kind):
    refused(ask, signed(HEADER | {"typ": kind}, claims()))


def test_a_kind_need_not_be_said(ask):
    assert ask(signed({"alg": "RS256", "kid": "current"}, claims()))


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_letter_changed_anywhere(ask, which):
    """Every letter of the signature, the last included, and a sample of the others."""
    parts = token().split(".")
    letters = parts[which]
    for place in range(0, len(letters), 1 if which == 2 else 7):
        other = "A" if letters[place] != "A" else "B"
        changed = [*parts[:which], letters[:place] + other + letters[place + 1 :], *parts[which + 1 :]]
        refused(ask, ".".join(changed))
    for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        if last != letters[-1]:
            refused(ask, ".".join([*parts[:which], letters[:-1] + last, *parts[which + 1 :]]))


def test_parts_of_two_honest_tokens(ask):
    one, two = token().split("."), token(email="other@example.org").split(".")
    refused(ask, ".".join([one[0], two[1], one[2]]))


def malformed():
    honest = token()
    header, body, signature = honest.split(".")
    yield from ("x", ".", "..", "...", " ", "a.b", "a.b.c", "\x00", "null", "Bearer", "undefined")
    yield from (
        f" {honest}",
        f"{honest} ",
        f"{honest}\n",
        f"Bearer {honest}",
        f"{honest},{honest}",
        f"{honest}.{honest}",
    )
    yield from (f"{header}.{body}", f"{header}.{body}.", f".{body}.{signature}", f"{header}..{signature}")
    yield from (f"{header}=.{body}.{signature}", f"{header}.{body}.{signature}==", f"{header}.{body}.{signature}%3D")
    yield from (f"{header}.{body}.{signature}.x.y", honest.replace(".", "．"), f"é{honest}", "A" * 4000)


def test_what_is_not_a_token_at_all(ask):
    for text in malformed():
        refused(ask, text)


def test_huge_tokens_are_refused_unread(ask):
    long = signed(HEADER, claims(padding="x" * 16_000))
    refused(ask, long)
    begun = time.perf_counter()
    for text in ("A" * 10_000_000, "." * 10_000_000, long * 500):
        refused(ask, text)
    assert time.perf_counter() - begun < 0.5


def test_a_token_of_eight_kilobytes_passes(ask):
    assert ask(signed(HEADER, claims(groups=["g" * 100] * 55)))


def test_deep_json(ask):
    deep = b'{"a":' * 2000 + b"1" + b"}" * 2000
    refused(ask, signed(deep, claims()))
    refused(ask, signed(HEADER, deep))


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
def test_a_name_given_twice(ask, header, body):
    filled = body % (AUD.encode(), ISSUER.encode()) if body else claims()
    refused(ask, signed(header or HEADER, filled))


@pytest.mark.parametrize(
    "body", [b"[]", b'"x"', b"1", b"null", b"", b"{", b"{}x", b"\xff\xfe", b'{"exp":NaN}', b"{}"]
)
def test_claims_that_are_no_claims(ask, body):
    refused(ask, signed(HEADER, body))
    refused(ask, signed(body, claims()))


@pytest.mark.parametrize(
    "aud", [None, [], "", "other", ["other"], [None], {}, AUD[:-1], f"{AUD},x", [[AUD]], {AUD: 1}, 1]
)
def test_a_token_for_another_application(ask, aud):
    refused(ask, token(aud=aud) if not isinstance(aud, int | dict) else signed(HEADER, claims(aud=aud)))


@pytest.mark.parametrize("aud", [[AUD], ["other", AUD], AUD])
def test_our_application_among_others_or_alone(ask, aud):
    assert ask(token(aud=aud))


@pytest.mark.parametrize(
    "iss",
    [
        None,
        "",
        "https://otherteam.cloudflareaccess.com",
        "http://myteam.cloudflareaccess.com",
        f"{ISSUER}/",
        f"{ISSUER}.evil.example",
        "myteam",
        [ISSUER],
    ],
)
def test_a_token_of_another_team(ask, iss):
    refused(ask, signed(HEADER, claims(iss=iss)))


@pytest.mark.parametrize("kind", ["org", "service", "", 1, ["app"]])
def test_the_teams_session_is_not_a_token_for_the_application(ask, kind):
    refused(ask, signed(HEADER, claims(type=kind)))


@pytest.mark.parametrize("exp", [None, "9999999999", True, [], {}, float("inf"), float("nan"), b"1e999", b"9" * 400])
def test_an_end_that_is_no_moment(ask, exp):
    if isinstance(exp, bytes):
        whole = json.dumps(claims(exp=7)).replace('"exp": 7', f'"exp": {exp.decode()}').encode()
        return refused(ask, signed(HEADER, whole))
    return refused(ask, signed(HEADER, claims(exp=exp)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": -3600}, "Token expired"),
        ({"exp": -31}, "Token expired"),
        ({"exp": -29}, None),
        ({"nbf": 29}, None),
        ({"nbf": 32}, "Invalid token"),
        ({"iat": 29}, None),
        ({"iat": 3600}, "Invalid token"),
    ],
)
def test_clocks_may_differ_by_half_a_minute(ask, changes, reason):
    moment = 1_800_000_000
    text = token(**({"exp": moment + 60, "nbf": moment, "iat": moment} | {k: moment + v for k, v in changes.items()}))
    at = datetime.fromtimestamp(moment, UTC)
    # Keys were fetched today: at another time they would be fetched again.
    if reason is None:
        assert ask(text, at)
        return
    with pytest.raises(Refused) as refusal:
        ask(text, at)
    assert refusal.value.reason == reason


def test_expiry_is_told_only_of_tokens_that_are_otherwise_good(ask):
    refused(ask, token(exp=1_000_000), "Token expired")
    refused(ask, token(exp=1_000_000, aud=["other"]))
    refused(ask, token(exp=1_000_000, key=private_key(*FORGED)))


SERVICE = {"email": None, "sub": "", "common_name": "e367826f93b8d71185e03fe518aff3b4.access", "aud": AUD}


def test_a_service_token_needs_to_be_allowed(ask, configure):
    refused(ask, token(**SERVICE))
    configure(CF_ACCESS_SERVICE_TOKENS="true")
    current = settings.current()
    identity = verify(token(**SERVICE), current, keys.keys_from(current.access_certs_url), datetime.now(UTC))
    assert (identity.name, identity.kind) == (SERVICE["common_name"], "service")


@pytest.mark.parametrize("email", ["", [], 5, {"a": 1}, "x" * 400, "a@b.example\nx", None])
def test_somebody_without_a_name(ask, email):
    refused(ask, signed(HEADER, claims(email=email)))


def test_nobody_at_all_is_not_a_service_token(team, configure):
    configure(CF_ACCESS_SERVICE_TOKENS="true")
    current = settings.current()
    with pytest.raises(Refused):
        verify(token(email=None), current, keys.keys_from(current.access_certs_url), datetime.now(UTC))


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


def test_another_library_agrees_that_the_honest_token_is_honest():
    """The tests' own tokens are made by PyJWT; it also reads them as the door does."""
    public = private_key(*OWN).public_key()
    assert jwt.decode(token(), public, ["RS256"], audience=AUD, issuer=ISSUER)["email"] == "owner@example.org"

"""The narrow checks by themselves: PyJWT refuses some of this too, and they must not rely on it."""

import pytest

from chalicelib.access.narrow_checks import canonical_base64url, key_id
from tests.rooms.access.conftest import HEADER, claims, malformed, refused, signed, token


def test_a_token_of_access_passes_and_names_its_key():
    assert key_id(token()) == "current"


def test_who_signed_it_is_not_looked_at():
    header, body, _ = token().split(".")
    assert key_id(f"{header}.{body}.AAAA") == "current"


def test_what_is_not_a_token_at_all():
    for text in malformed():
        refused(key_id, text)


@pytest.mark.parametrize("algorithm", ["none", "HS256", "PS256", "RS384", "rs256", "RS256 ", "", ["RS256"], None, 5])
def test_another_algorithm(algorithm):
    refused(key_id, signed(HEADER | {"alg": algorithm}, claims()))


@pytest.mark.parametrize("text", ["AB", "AAB", "A", "AA==", "AA=", "A A", "A+AA", "A/AA", "ÄÄÄÄ"])
def test_base64url_has_one_spelling(text):
    with pytest.raises(ValueError, match=r"base64url|ASCII"):
        canonical_base64url(text)


@pytest.mark.parametrize(("text", "value"), [("", b""), ("AA", b"\0"), ("AAA", b"\0\0"), ("-_-_", b"\xfb\xff\xbf")])
def test_canonical_base64url(text, value):
    assert canonical_base64url(text) == value


def test_one_letter_of_the_signature_changed_to_another_spelling_of_the_same_bytes():
    honest = token()
    assert honest[-1] in "AQgw", "the last letter of 256 bytes carries two bits"
    refused(key_id, honest[:-1] + chr(ord(honest[-1]) + 1))

"""What is sealed opens with its key and in its context, and in no other way."""

import base64
from contextlib import contextmanager

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chalicelib.kernel import ciphers, settings
from chalicelib.kernel.errors import Misconfigured

CONTEXT = "0190a5f4/access_token"
TOKEN = "ya29.a0-secret"
# Keys of 32 equal bytes, so that a vector can be computed anywhere.
ONE = "1:" + base64.urlsafe_b64encode(b"\x01" * 32).decode().rstrip("=")
TWO = "2:" + base64.urlsafe_b64encode(b"\x02" * 32).decode().rstrip("=")
TEN = "10:" + base64.urlsafe_b64encode(b"\x0a" * 32).decode().rstrip("=")

texts = st.text(st.characters(), max_size=200)


@pytest.fixture
def ring(monkeypatch):
    """Call it with the value of TOKEN_KEYS."""

    def change(written: str) -> None:
        monkeypatch.setattr(settings, "provider_secret", {"TOKEN_KEYS": written}.__getitem__)

    change(ONE)
    return change


@contextmanager
def two_keys():
    """For properties, whose examples may not share a fixture of one test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "provider_secret", {"TOKEN_KEYS": f"{ONE},{TWO}"}.__getitem__)
        yield


@given(text=texts, context=texts)
def test_what_was_sealed_opens(text, context):
    with two_keys():
        sealed = ciphers.seal(text, context)
        assert ciphers.open_sealed(sealed, context) == text
        assert ciphers.version_of(sealed) == ciphers.current_version() == 2


@given(text=texts, context=texts, other=texts)
def test_it_opens_in_no_other_context(text, context, other):
    assume(other != context)
    with two_keys(), pytest.raises(ciphers.DecryptionFailed):
        ciphers.open_sealed(ciphers.seal(text, context), other)


def test_the_form_is_four_parts_without_padding(ring):
    version, iv, tag, ciphertext = ciphers.seal(TOKEN, CONTEXT).split(":")
    assert (version, len(iv), len(tag), len(ciphertext)) == ("v1", 16, 22, 19)
    assert not set(iv + tag + ciphertext) & set("=+/")


def test_it_is_plain_aes_gcm(ring):
    """So that another program can read what is stored, given the key."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    parts = [base64.urlsafe_b64decode(part + "==") for part in ciphers.seal(TOKEN, CONTEXT).split(":")[1:]]
    assert AESGCM(b"\x01" * 32).decrypt(parts[0], parts[2] + parts[1], CONTEXT.encode()) == TOKEN.encode()


def test_the_same_text_is_sealed_differently_every_time(ring):
    assert len({ciphers.seal(TOKEN, CONTEXT) for _ in range(100)}) == 100


@pytest.mark.parametrize("part", [1, 2, 3])
def test_a_change_of_any_character_is_found(ring, part):
    parts = ciphers.seal(TOKEN, CONTEXT).split(":")
    for place, letter in enumerate(parts[part]):
        other = "B" if letter == "A" else "A"
        changed = parts[part][:place] + other + parts[part][place + 1 :]
        with pytest.raises((ciphers.DecryptionFailed, ciphers.InvalidFormat)):
            ciphers.open_sealed(":".join([*parts[:part], changed, *parts[part + 1 :]]), CONTEXT)


@pytest.mark.parametrize("part", [1, 2, 3])
def test_a_part_of_another_sealed_text_is_found(ring, part):
    parts, others = ciphers.seal(TOKEN, CONTEXT).split(":"), ciphers.seal("another token", CONTEXT).split(":")
    parts[part] = others[part]
    with pytest.raises(ciphers.DecryptionFailed):
        ciphers.open_sealed(":".join(parts), CONTEXT)


def test_fields_and_connections_cannot_be_exchanged(ring):
    sealed = ciphers.seal(TOKEN, "one/access_token")
    for elsewhere in ("one/refresh_token", "two/access_token", "one/access_token ", ""):
        with pytest.raises(ciphers.DecryptionFailed):
            ciphers.open_sealed(sealed, elsewhere)


def test_another_version_is_another_key(ring):
    sealed = ciphers.seal(TOKEN, CONTEXT)
    ring(f"{ONE},{TWO}")
    with pytest.raises(ciphers.DecryptionFailed):
        ciphers.open_sealed("v2" + sealed[2:], CONTEXT)


def test_a_key_that_was_replaced_under_its_number_opens_nothing(ring):
    sealed = ciphers.seal(TOKEN, CONTEXT)
    ring("1" + TWO[1:])
    with pytest.raises(ciphers.DecryptionFailed):
        ciphers.open_sealed(sealed, CONTEXT)


@pytest.mark.parametrize("written", [f"{ONE},{TEN},{TWO}", f"{TEN},{TWO},{ONE}", f" {ONE}= , {TEN}=,{TWO} "])
def test_the_highest_version_seals_wherever_it_stands(ring, written):
    sealed = ciphers.seal(TOKEN, CONTEXT)
    ring(written)
    assert ciphers.current_version() == 10
    assert ciphers.open_sealed(sealed, CONTEXT) == TOKEN
    assert ciphers.version_of(ciphers.seal(TOKEN, CONTEXT)) == 10


def test_a_key_that_is_gone_is_named_as_such_and_the_version_is_still_known(ring):
    ring(f"{ONE},{TWO}")
    sealed = ciphers.seal(TOKEN, CONTEXT)
    ring(ONE)
    assert ciphers.version_of(sealed) == 2
    with pytest.raises(ciphers.KeyVersionNotFound):
        ciphers.open_sealed(sealed, CONTEXT)


@pytest.mark.parametrize(
    "change",
    [
        lambda sealed: "",
        lambda sealed: sealed[1:],
        lambda sealed: sealed + ":",
        lambda sealed: sealed + "\n",
        lambda sealed: " " + sealed,
        lambda sealed: sealed + "=",
        lambda sealed: sealed.replace("v1", "v0"),
        lambda sealed: sealed.replace("v1", "v01"),
        lambda sealed: sealed.replace("v1", "v"),
        lambda sealed: sealed.replace("v1", "v\u0661"),
        lambda sealed: sealed.replace("v1", "v" + "1" * 10),
        lambda sealed: sealed.replace(":", ".", 1),
        lambda sealed: ":".join(sealed.split(":")[:3]),
        lambda sealed: sealed.replace(":", "::", 1),
        lambda sealed: sealed.replace(":", ":AAAA", 1),
        lambda sealed: sealed[:3] + sealed[4:],
        lambda sealed: sealed + "!",
        lambda sealed: sealed + "\udc80",
    ],
)
def test_what_is_not_a_sealed_text_is_told_from_one_that_was_changed(ring, change):
    malformed = change(ciphers.seal(TOKEN, CONTEXT))
    for read in (lambda: ciphers.open_sealed(malformed, CONTEXT), lambda: ciphers.version_of(malformed)):
        with pytest.raises(ciphers.InvalidFormat):
            read()


def test_the_same_bytes_have_one_form_only(ring):
    """The last character of a tag has four bits that say nothing: they must be zero."""
    version, iv, tag, ciphertext = ciphers.seal(TOKEN, CONTEXT).split(":")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    same = tag[:-1] + alphabet[alphabet.index(tag[-1]) + 1]
    with pytest.raises(ciphers.InvalidFormat):
        ciphers.open_sealed(":".join((version, iv, same, ciphertext)), CONTEXT)


@given(st.text(max_size=80) | st.from_regex(r"v[0-9]{1,3}:[\w-]{14,18}:[\w-]{20,24}:[\w-]{0,30}", fullmatch=True))
def test_whatever_is_stored_instead_is_one_of_the_three_failures(stored):
    with two_keys(), pytest.raises(ciphers.CipherFailed):
        ciphers.open_sealed(stored, CONTEXT)


@given(st.text(min_size=8, max_size=80))
def test_a_failure_repeats_no_part_of_the_text(text):
    with two_keys():
        sealed = ciphers.seal(text, CONTEXT)
        for stored, context in ((sealed, "elsewhere"), (sealed + "!", CONTEXT), ("v9" + sealed[2:], CONTEXT)):
            with pytest.raises(ciphers.CipherFailed) as caught:
                ciphers.open_sealed(stored, context)
            told = f"{caught.value!r} {caught.value.args} {caught.value.__cause__!r}"
            assert not any(part in told for part in (text, *sealed.split(":")[1:]))


@pytest.mark.parametrize(
    "written",
    [
        *("x", "1", "1:", ONE[2:], "0" + ONE[1:], "-" + ONE, ONE[:-1], ONE + "A", ONE + "==", f"{ONE},", f",{ONE}"),
        *(f"{ONE};{TWO}", f"{ONE},{ONE}", f"{ONE},1{TWO[1:]}", ONE[:-1] + "F", "1=" + ONE[2:], "1:" + "+" * 43),
    ],
)
def test_a_ring_that_makes_no_sense_says_what_to_do_and_nothing_of_itself(ring, written):
    ring(written)
    for use in (lambda: ciphers.seal(TOKEN, CONTEXT), ciphers.current_version):
        with pytest.raises(Misconfigured) as caught:
            use()
        assert "get-parameter-history" in caught.value.reason
        assert ONE[10:40] not in caught.value.reason


def test_a_missing_ring_says_how_it_is_made(ring):
    ring("")
    with pytest.raises(Misconfigured, match="make secrets"):
        ciphers.seal(TOKEN, CONTEXT)


@given(st.text(max_size=60) | st.from_regex(r"[0-9]{1,2}:[\w-]{42,44}=?", fullmatch=True))
def test_a_ring_is_read_or_refused(written):
    try:
        ring = ciphers.parse_ring(written)
    except Misconfigured:
        return
    assert ring
    assert all(len(key) == 32 for key in ring.values())


def test_a_new_key_is_one_the_ring_takes(ring):
    ring(f"{ciphers.make_key(1)},{ciphers.make_key(2)}")
    assert ciphers.open_sealed(ciphers.seal(TOKEN, CONTEXT), CONTEXT) == TOKEN
    assert ciphers.make_key(1) != ciphers.make_key(1)


def test_the_ring_is_the_secret_of_the_settings(configure):
    configure(TOKEN_KEYS=f"{TWO},{ONE}")
    assert ciphers.version_of(ciphers.seal(TOKEN, CONTEXT)) == 2


def test_a_key_that_was_added_since_is_read_again(configure, monkeypatch):
    configure(TOKEN_KEYS=ONE)
    assert ciphers.current_version() == 1  # read once
    monkeypatch.setenv("TOKEN_KEYS", f"{ONE},{TWO}")
    assert ciphers.current_version() == 1
    settings.forget_provider_secrets()
    sealed = ciphers.seal("text", "context")
    monkeypatch.setenv("TOKEN_KEYS", ONE)
    settings.forget_provider_secrets()
    with pytest.raises(ciphers.KeyVersionNotFound):
        ciphers.open_sealed(sealed, "context")
    monkeypatch.setenv("TOKEN_KEYS", f"{ONE},{TWO}")
    assert ciphers.open_sealed(sealed, "context") == "text"

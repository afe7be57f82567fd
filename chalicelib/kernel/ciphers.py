"""Texts that are stored encrypted: AES-256-GCM with a ring of keys, of which the newest seals and all of them open.

A sealed text is `v{version}:{iv}:{tag}:{ciphertext}`, each part in base64url without padding. It opens only in the
context it was sealed for, so a value copied to another row or field is refused.
"""

import base64
import binascii
import os
import re
from functools import lru_cache

from msgspec import Struct

from chalicelib.kernel import settings
from chalicelib.kernel.errors import Misconfigured

_KEY_BYTES = 32
_IV_BYTES = 12
_TAG_BYTES = 16
_SEALED = re.compile(r"v([1-9][0-9]{0,8}):([A-Za-z0-9_-]{16}):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]*)\Z")
_RING_ENTRY = re.compile(r"([1-9][0-9]{0,8}):([A-Za-z0-9_-]{43})=?\Z")


class CipherFailed(Exception):
    """A sealed text that does not open. No message has any part of it.

    CipherFailed
    ├── KeyVersionNotFound   its key is not in the ring; perhaps this process read an older one
    ├── InvalidFormat        it is not a sealed text at all
    └── DecryptionFailed     another key, another context, or something in it was changed
    """


class KeyVersionNotFound(CipherFailed):
    def __init__(self) -> None:
        super().__init__("the key of this version is not in TOKEN_KEYS")


class InvalidFormat(CipherFailed):
    def __init__(self) -> None:
        super().__init__("this is not a sealed text")


class DecryptionFailed(CipherFailed):
    def __init__(self) -> None:
        super().__init__("the key or the context is another one, or the text was changed")


class _Parts(Struct, frozen=True):
    version: int
    iv: bytes
    tag: bytes
    ciphertext: bytes


def seal(text: str, context: str) -> str:
    """`context` says what the text belongs to, such as `<connection id>/access_token`."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    version, iv = current_version(), os.urandom(_IV_BYTES)
    sealed = AESGCM(_ring()[version]).encrypt(iv, _to_bytes(text), _to_bytes(context))
    parts = (iv, sealed[-_TAG_BYTES:], sealed[:-_TAG_BYTES])
    return ":".join((f"v{version}", *(_encode(part) for part in parts)))


def open_sealed(sealed: str, context: str) -> str:
    """The text that was sealed for this context, or `CipherFailed`."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    parts = _parse(sealed)
    if parts.version > current_version():
        settings.forget_provider_secrets()  # a key was added since this process read them
    key = _ring().get(parts.version)
    if key is None:
        raise KeyVersionNotFound
    try:
        opened = AESGCM(key).decrypt(parts.iv, parts.ciphertext + parts.tag, _to_bytes(context))
    except InvalidTag:
        raise DecryptionFailed from None
    return opened.decode("utf-8", "surrogatepass")


def version_of(sealed: str) -> int:
    """Which key it was sealed with, whether or not that key is still there."""
    return _parse(sealed).version


def current_version() -> int:
    """The key that seals now."""
    return max(_ring())


def make_key(version: int) -> str:
    """A new key as TOKEN_KEYS lists it, `1:<key>`."""
    return f"{version}:{_encode(os.urandom(_KEY_BYTES))}"


def parse_ring(written: str) -> dict[int, bytes]:
    """The keys of TOKEN_KEYS, `1:<key>,2:<key>`, by version."""
    ring: dict[int, bytes] = {}
    for entry in written.split(","):
        found = _RING_ENTRY.match(entry.strip())
        if not found or int(found[1]) in ring:
            raise _malformed_ring()
        try:
            ring[int(found[1])] = _decode(found[2])
        except InvalidFormat:
            raise _malformed_ring() from None
    return ring


def _ring() -> dict[int, bytes]:
    written = settings.provider_secret("TOKEN_KEYS")
    if not written:
        raise Misconfigured("TOKEN_KEYS is missing: make it with `make secrets`")
    return _parse_once(written)


@lru_cache(maxsize=1)
def _parse_once(written: str) -> dict[int, bytes]:
    return parse_ring(written)


def _malformed_ring() -> Misconfigured:
    return Misconfigured(
        "TOKEN_KEYS is not a list such as 1:<key>,2:<key> with keys of 32 bytes in base64url: put back the value it"
        " had, which `aws ssm get-parameter-history` shows"
    )


def _parse(sealed: str) -> _Parts:
    found = _SEALED.match(sealed)
    if not found:
        raise InvalidFormat
    return _Parts(int(found[1]), _decode(found[2]), _decode(found[3]), _decode(found[4]))


def _to_bytes(text: str) -> bytes:
    """Also of half a character: an error of the codec would carry the text in it."""
    return text.encode("utf-8", "surrogatepass")


def _encode(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).decode().rstrip("=")


def _decode(text: str) -> bytes:
    """Only what `_encode` writes: the same bytes have one form."""
    try:
        part = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise InvalidFormat from None
    if _encode(part) != text:
        raise InvalidFormat
    return part

"""A team that signs tokens, and the address on loopback where it publishes its keys."""

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from chalicelib.access import keys as access_keys
from chalicelib.access.verify import Identity, verify
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Refused

AUD = "4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2"
ISSUER = "https://myteam.cloudflareaccess.com"
HEADER = {"alg": "RS256", "kid": "current", "typ": "JWT"}
OWN = ("current", 2048)
FORGED = ("forged", 2048)


@cache
def private_key(name: str, bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


def number(value: int) -> str:
    return urlsafe_b64encode(value.to_bytes((value.bit_length() + 7) // 8)).rstrip(b"=").decode()


def jwk(kid: str = "current", bits: int = 2048, **changes: Any) -> dict[str, Any]:
    public = private_key(kid, bits).public_key().public_numbers()
    entry = {"kid": kid, "kty": "RSA", "alg": "RS256", "use": "sig", "e": number(public.e), "n": number(public.n)}
    return entry | changes


def claims(**changes: Any) -> dict[str, Any]:
    """What Access puts into a token; a change to None leaves the claim out."""
    now = int(time.time())
    usual = {
        "aud": [AUD],
        "email": "owner@example.org",
        "exp": now + 3600,
        "iat": now,
        "nbf": now,
        "iss": ISSUER,
        "type": "app",
        "sub": "7335d417-61da-459d-899c-0a01c76a2f94",
        "country": "DE",
    }
    return {name: value for name, value in (usual | changes).items() if value is not None}


def token(kid: str | None = "current", key: Any = None, algorithm: str = "RS256", **changes: Any) -> str:
    header = {"kid": kid} if kid is not None else {}
    return jwt.encode(claims(**changes), key or private_key("current", 2048), algorithm=algorithm, headers=header)


def part(value: Any) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(text).rstrip(b"=").decode()


def signed(header: Any, body: Any, key: tuple[str, int] = OWN) -> str:
    """A token of any content under a real signature, made without PyJWT, which refuses to make some of them."""
    text = f"{part(header)}.{part(body)}"
    return f"{text}.{part(private_key(*key).sign(text.encode(), PKCS1v15(), SHA256()))}"


def malformed() -> Iterator[str]:
    """What is not a token at all, or one with something beside it."""
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


def refused(verdict: Callable[[str], object], text: str, reason: str = "Invalid token") -> None:
    with pytest.raises(Refused) as refusal:
        verdict(text)
    assert refusal.value.reason == reason


class Team:
    """The certs address: what it answers, how slowly, and how often it was asked."""

    def __init__(self) -> None:
        self.entries = [jwk()]
        self.asked = 0
        self.status = 200
        self.body: bytes | None = None
        self.headers: dict[str, str] = {}
        self.delay = 0.0
        self.drip = 0.0
        team = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                team.asked += 1
                team.answer(self)

            def log_message(self, *ignored: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/cdn-cgi/access/certs"
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self._up = True

    def answer(self, to: BaseHTTPRequestHandler) -> None:
        body = self.body if self.body is not None else json.dumps({"keys": self.entries, "public_certs": []}).encode()
        time.sleep(self.delay)
        try:
            to.send_response(self.status)
            for name, value in (self.headers | {"Content-Length": str(len(body))}).items():
                to.send_header(name, value)
            to.end_headers()
            for piece in (body[i : i + 1] for i in range(len(body))) if self.drip else [body]:
                to.wfile.write(piece)
                to.wfile.flush()
                time.sleep(self.drip)
        except OSError:
            pass

    def vanish(self) -> None:
        if self._up:
            self._up = False
            self.server.shutdown()
            self._thread.join()
            self.server.server_close()


@pytest.fixture
def team(configure: Any) -> Iterator[Team]:
    """A configured authorizer, and a team behind it that can be reached."""
    team = Team()
    configure(CF_ACCESS_TEAM_NAME="myteam", CF_ACCESS_AUD=AUD, CF_ACCESS_CERTS_URL=team.url)
    access_keys.keys_from.cache_clear()
    yield team
    team.vanish()
    access_keys.keys_from.cache_clear()


@pytest.fixture
def verdict(team: Team) -> Callable[..., Identity]:
    current = settings.current()
    ring = access_keys.keys_from(current.access_certs_url)

    def verdict(text: str, at: datetime | None = None) -> Identity:
        return verify(text, current, ring, at or datetime.now(UTC))

    assert verdict(token()).name == "owner@example.org"
    return verdict

"""What a function costs before it does anything: a fresh interpreter each time, in turns, so that a busy machine
is unfair to all alike. Each as a ratio to `import boto3; boto3.client("dynamodb")` in the same run."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from bench.table import Row, at_most

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_ROOT = Path(__file__).parent.parent
_RUNS = 20

# Processor time: on a busy machine the clock on the wall measures the others.
_TIMED = "import time; begun = time.process_time()\n{work}\nprint('took', time.process_time() - begun)"

_BOTO3 = "import boto3; boto3.client('dynamodb')"

_IMPORT = "import app"

_REQUEST = """
import app
answer = app.app({event!r}, None)
assert answer["statusCode"] == {status}, answer
"""

# What a request would wait for if rooms were not loaded at their first request.
_EVERY_ROOM = """
import app, importlib, pkgutil, chalicelib
for module in pkgutil.walk_packages(chalicelib.__path__, "chalicelib."):
    importlib.import_module(module.name)
"""

# A whole verdict: the keys fetched, the key found, signature, claims and times checked.
_AUTHORIZER = """
from chalicelib.access.authorizer import handle
arn = "arn:aws:execute-api:eu-west-1:123456789012:abcdef1234/api/GET/admin"
verdict = handle({{"type": "TOKEN", "authorizationToken": {token!r}, "methodArn": arn}}, None)
assert verdict["principalId"] == "me@example.org", verdict
"""


def rows() -> list[Row]:
    health = _request("GET", "/health", None, 200)
    work = {
        "boto3": _BOTO3,
        "import": _IMPORT,
        "health": health,
        "subscribe": _request("POST", "/api/subscribe", {"email": "me@example.org"}, 201),
        "everything": _EVERY_ROOM + health,
        "authorizer": _AUTHORIZER.format(token=_token()),
    }
    middle = _measure(work)
    return [
        _row("cold start: app and first GET /health ÷ boto3 client", middle, "health", 1.2),
        _row("cold start: app and first POST /api/subscribe ÷ boto3 client", middle, "subscribe", 1.2),
        _row("cold start: authorizer and first verdict ÷ boto3 client", middle, "authorizer", 0.7),
        _row("cold start: import of app alone ÷ boto3 client", middle, "import"),
        _row("cold start: first GET /health with every room imported ÷ boto3 client", middle, "everything"),
    ]


def _measure(work: dict[str, str]) -> dict[str, float]:
    with _cloud() as url:
        environ = _environ(url)
        for code in work.values():
            _seconds(code, environ)  # compiles what is not compiled yet
        taken: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(_RUNS):
            for name, code in work.items():
                taken[name].append(_seconds(code, environ))
    return {name: statistics.median(times) for name, times in taken.items()}


def _request(method: str, path: str, body: dict[str, str] | None, status: int) -> str:
    """Imports the app and answers one request, as API Gateway would hand it over."""
    headers = {"Content-Type": "application/json"} if body else {}
    event = {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "stageVariables": None,
        "body": json.dumps(body) if body else None,
        "isBase64Encoded": False,
        "requestContext": {
            "httpMethod": method,
            "resourcePath": path,
            "requestId": "r",
            "identity": {"sourceIp": "192.0.2.1"},
        },
    }
    return _REQUEST.format(event=event, status=status)


def _row(what: str, middle: dict[str, float], name: str, limit: float | None = None) -> Row:
    ratio = middle[name] / middle["boto3"]
    detail = f"{middle[name] * 1000:.0f} ms of {middle['boto3'] * 1000:.0f} ms, median of {_RUNS}"
    return Row(what, "", f"{ratio:.3g} ({detail})") if limit is None else at_most(what, ratio, limit, detail=detail)


def _seconds(code: str, environ: dict[str, str]) -> float:
    command = [sys.executable, "-c", _TIMED.format(work=code)]
    run = subprocess.run(command, cwd=_ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
    if run.returncode:
        raise RuntimeError(run.stderr.strip().splitlines()[-1])
    return float(run.stdout.split()[-1])


def _environ(cloud: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": cloud,
        "SECRET_KEY": "a secret of thirty-two characters",
        "CF_ACCESS_TEAM_NAME": "myteam",
        "CF_ACCESS_AUD": "aud",
        "CF_ACCESS_CERTS_URL": f"{cloud}/certs",
    }


@contextmanager
def _cloud() -> Iterator[str]:
    """As much of AWS and of Access as a first request asks for, on loopback, answering at once."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Cloud)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Cloud(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer({"keys": [_public_key()]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(_ANSWERS.get(self.headers.get("X-Amz-Target", ""), {}))

    def _answer(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored: object) -> None:
        pass


# By operation; to all others the answer is empty.
_ANSWERS: dict[str, object] = {
    "DynamoDB_20120810.UpdateItem": {
        "Attributes": {"key": {"S": "k"}, "spent": {"N": "1"}, "expires_at": {"N": "1"}}
    },
    "AmazonSQS.GetQueueUrl": {"QueueUrl": "http://127.0.0.1/queue"},
    "AmazonSQS.SendMessage": {"MessageId": "m"},
}


@cache
def _private_key() -> "RSAPrivateKey":
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(65537, 2048)


def _public_key() -> dict[str, object]:
    from jwt.algorithms import RSAAlgorithm

    public = RSAAlgorithm.to_jwk(_private_key().public_key(), as_dict=True)
    return {**public, "kid": "k", "use": "sig", "alg": "RS256"}


def _token() -> str:
    import jwt

    issuer, end = "https://myteam.cloudflareaccess.com", int(time.time()) + 3600
    claims = {"aud": ["aud"], "iss": issuer, "exp": end, "email": "me@example.org", "type": "app"}
    return jwt.encode(claims, _private_key(), "RS256", headers={"kid": "k"})

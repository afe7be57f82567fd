"""What a function costs before it does anything: a fresh interpreter each time, in turns, so that a busy machine
is unfair to all alike. Each as a ratio to `import boto3; boto3.client("dynamodb")` in the same run."""

import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.table import Row, at_most

_ROOT = Path(__file__).parent.parent
_RUNS = 20

# Processor time: on a busy machine the clock on the wall measures the others.
_TIMED = "import time; begun = time.process_time()\n{work}\nprint('took', time.process_time() - begun)"

_BOTO3 = "import boto3; boto3.client('dynamodb')"

_IMPORT = "import app"

_APP = """
import app
event = {"resource": "/health", "path": "/health", "httpMethod": "GET", "headers": {}, "multiValueHeaders": {},
         "queryStringParameters": None, "multiValueQueryStringParameters": None, "pathParameters": None,
         "stageVariables": None, "body": None, "isBase64Encoded": False,
         "requestContext": {"httpMethod": "GET", "resourcePath": "/health", "requestId": "r",
                            "identity": {"sourceIp": "192.0.2.1"}}}
answer = app.app(event, None)
assert answer["statusCode"] == 200, answer
"""

# A whole refusal: the keys fetched, the key found, the signature checked.
_AUTHORIZER = """
from chalicelib.access.authorizer import handle
token = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.e30." + "A" * 342
arn = "arn:aws:execute-api:eu-west-1:123456789012:abcdef1234/api/GET/admin"
verdict = handle({"type": "TOKEN", "authorizationToken": token, "methodArn": arn}, None)
assert verdict["context"] == {"reason": "Invalid token"}, verdict
"""


def rows() -> list[Row]:
    with _cloud() as url:
        environ = _environ(url)
        work = {"boto3": _BOTO3, "import": _IMPORT, "app": _APP, "authorizer": _AUTHORIZER}
        for code in work.values():
            _seconds(code, environ)  # compiles what is not compiled yet
        taken: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(_RUNS):
            for name, code in work.items():
                taken[name].append(_seconds(code, environ))
    middle = {name: statistics.median(times) for name, times in taken.items()}
    return [
        _row("cold start: app and first GET /health ÷ boto3 client", middle, "app", 1.5),
        _row("cold start: authorizer and first verdict ÷ boto3 client", middle, "authorizer", 0.7),
        Row("cold start: import of app alone ÷ boto3 client", "", f"{middle['import'] / middle['boto3']:.2f}"),
    ]


def _row(what: str, middle: dict[str, float], name: str, limit: float) -> Row:
    detail = f"{middle[name] * 1000:.0f} ms of {middle['boto3'] * 1000:.0f} ms, median of {_RUNS}"
    return at_most(what, middle[name] / middle["boto3"], limit, detail=detail)


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
        modulus = (1 << 2047) + 1
        key = {"kid": "k", "kty": "RSA", "use": "sig", "alg": "RS256", "e": "AQAB", "n": _base64url(modulus)}
        self._answer({"keys": [key]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer({"QueueUrl": "http://127.0.0.1/queue"} if "SQS" in self.headers.get("X-Amz-Target", "") else {})

    def _answer(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *ignored: object) -> None:
        pass


def _base64url(number: int) -> str:
    import base64

    return base64.urlsafe_b64encode(number.to_bytes(256)).rstrip(b"=").decode()

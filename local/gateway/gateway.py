"""API Gateway, locally: an HTTP request becomes the event the deployed app gets, and refusals are those of the
deployed gateway. It knows the Chalice app, and nothing of Gna's rooms."""

import base64
import re
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from chalice.app import Chalice

from chalicelib.kernel import settings
from local.gateway import responses
from local.gateway.lambda_context import LambdaContext

Headers = list[tuple[str, str]]

_LARGEST_BODY = 10 * 1024 * 1024
_STAGE = "arn:aws:execute-api:eu-west-1:000000000000:local/api"


class Answer(NamedTuple):
    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True)
class _Matched:
    resource: str
    parameters: dict[str, str]
    entry: Any


class Refusal(Exception):
    """The gateway answers by itself, with the response of this kind."""

    def __init__(self, kind: str, authorizer: Mapping[str, Any] | None = None) -> None:
        super().__init__(kind)
        self.kind = kind
        self.authorizer = authorizer or {}


class Gateway:
    def __init__(self, app: Chalice) -> None:
        _make_thread_safe(app)
        self._app = app
        self._responses = responses.load()
        # Literal segments win over parameters, and those over what takes every path, as they do on API Gateway.
        self._resources = sorted(app.routes, key=lambda path: [_breadth(part) for part in path.split("/")])

    def handle(
        self,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]] | Mapping[str, str] = (),
        body: bytes = b"",
        source_ip: str = "127.0.0.1",
    ) -> Answer:
        pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
        context = LambdaContext("gna-local", 29)
        event: dict[str, Any] = {"requestContext": {"requestId": context.aws_request_id}}
        try:
            if len(body) > _LARGEST_BODY:
                raise Refusal("REQUEST_TOO_LARGE")
            matched = self._match(method, urlsplit(target).path)
            event = self._event(method, target, pairs, body, source_ip, matched, context.aws_request_id)
            if matched.entry.authorizer:
                event["requestContext"]["authorizer"] = _authorized(matched.entry.authorizer, event, context)
            binary = _is_binary(_first(pairs, "accept"), self._app.api.binary_types)
            return _answer(method, self._app(event, context), context.aws_request_id, binary)
        except Refusal as refusal:
            return self._refused(method, refusal, event["requestContext"])

    def _match(self, method: str, path: str) -> _Matched:
        parts = (path.rstrip("/") or "/").split("/")
        for resource in self._resources:
            parameters = _captured(resource.split("/"), parts)
            if parameters is None:
                continue
            if method not in self._app.routes[resource]:
                break  # API Gateway looks for no other resource
            return _Matched(resource, parameters, self._app.routes[resource][method])
        raise Refusal("MISSING_AUTHENTICATION_TOKEN")

    def _event(
        self, method: str, target: str, headers: Headers, body: bytes, ip: str, matched: _Matched, request_id: str
    ) -> dict[str, Any]:
        parts = urlsplit(target)
        query = parse_qs(parts.query, keep_blank_values=True, errors="replace")
        several = _grouped([*headers, ("X-Forwarded-For", ip), ("X-Forwarded-Proto", "http")])
        binary = _is_binary(_first(headers, "content-type"), self._app.api.binary_types)
        return {
            "resource": matched.resource,
            "path": parts.path,
            "httpMethod": method,
            "headers": {name: values[-1] for name, values in several.items()},
            "multiValueHeaders": several,
            "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
            "multiValueQueryStringParameters": query or None,
            "pathParameters": matched.parameters or None,
            "stageVariables": None,
            "body": (base64.b64encode(body).decode() if binary else body.decode(errors="replace")) if body else None,
            "isBase64Encoded": bool(binary and body),
            "requestContext": {
                "httpMethod": method,
                "resourcePath": matched.resource,
                "path": parts.path,
                "stage": "api",
                "requestId": request_id,
                "requestTimeEpoch": int(time.time() * 1000),
                "identity": {"sourceIp": ip},
            },
        }

    def _refused(self, method: str, refusal: Refusal, context: dict[str, Any]) -> Answer:
        response = self._responses[refusal.kind]
        body = response.body({**context, "authorizer": refusal.authorizer})
        headers = [*response.headers, ("x-amzn-RequestId", str(context["requestId"]))]
        return Answer(response.status, headers, b"" if method == "HEAD" else body)


def _breadth(part: str) -> int:
    return 2 if part.endswith("+}") else int(part.startswith("{"))


def _captured(resource: list[str], parts: list[str]) -> dict[str, str] | None:
    """Path parameters as sent: API Gateway leaves them percent-encoded. `{name+}` takes the rest of the path."""
    if _breadth(resource[-1]) == 2 and len(parts) >= len(resource):
        rest = "/".join(parts[len(resource) - 1 :])
        parts = [*parts[: len(resource) - 1], rest]
    if len(resource) != len(parts):
        return None
    found = {}
    for pattern, part in zip(resource, parts, strict=True):
        if pattern.startswith("{") and part:
            found[pattern.strip("{+}")] = part
        elif pattern != part:
            return None
    return found


def _grouped(headers: Headers) -> dict[str, list[str]]:
    """Grouped by name regardless of case; the first spelling is kept."""
    spelling: dict[str, str] = {}
    several: dict[str, list[str]] = {}
    for name, value in headers:
        several.setdefault(spelling.setdefault(name.lower(), name), []).append(value)
    return several


def _authorized(authorizer: Any, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """The context of the authorizer, or the refusal API Gateway answers with."""
    wanted = (authorizer.config.header or "Authorization").lower()
    token = next((value for name, value in event["headers"].items() if name.lower() == wanted), "")
    if not token and not settings.current().disable_auth:
        raise Refusal("UNAUTHORIZED")  # API Gateway does not even call the authorizer
    arn = f"{_STAGE}/{event['httpMethod']}{event['path']}"
    try:
        verdict = authorizer({"type": "TOKEN", "authorizationToken": token, "methodArn": arn}, context)
    except Exception as failure:
        raise Refusal("UNAUTHORIZED" if str(failure) == "Unauthorized" else "AUTHORIZER_FAILURE") from failure
    if not isinstance(verdict, dict) or "principalId" not in verdict or "policyDocument" not in verdict:
        raise Refusal("AUTHORIZER_CONFIGURATION_ERROR")
    known = {**verdict.get("context", {}), "principalId": verdict["principalId"]}
    if not _allows(verdict["policyDocument"], arn):
        raise Refusal("ACCESS_DENIED", known)
    return known


def _allows(policy: Mapping[str, Any], arn: str) -> bool:
    effects = {
        statement["Effect"] for statement in policy.get("Statement", []) if _covers(statement["Resource"], arn)
    }
    return effects == {"Allow"}


def _covers(resources: str | list[str], arn: str) -> bool:
    patterns = [resources] if isinstance(resources, str) else resources
    return any(re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), arn) for pattern in patterns)


def _first(headers: Headers, wanted: str) -> str:
    return next((value for name, value in headers if name.lower() == wanted), "")


def _is_binary(header: str, binary_types: Sequence[str]) -> bool:
    """By the first type that `Content-Type` or `Accept` names, and nothing else. What names none is JSON."""
    kind = re.split("[,;]", header)[0].strip().lower() or "application/json"
    return any(pattern in ("*/*", kind, f"{kind.partition('/')[0]}/*") for pattern in binary_types)


def _answer(method: str, result: Mapping[str, Any], request_id: str, binary: bool) -> Answer:
    """What the app has encoded is decoded only for those who accept a type that the API declares as binary."""
    headers = [(name, str(value)) for name, value in result["headers"].items()]
    headers += [(name, str(value)) for name, values in result["multiValueHeaders"].items() for value in values]
    if "content-type" not in {name.lower() for name, _ in headers}:
        headers.append(("Content-Type", "application/json"))
    headers.append(("x-amzn-RequestId", request_id))
    body = result["body"] or ""
    if result.get("isBase64Encoded") and binary:
        body = base64.b64decode(body)
    raw = body if isinstance(body, bytes) else body.encode()
    return Answer(result["statusCode"], headers, b"" if method == "HEAD" else raw)


def _make_thread_safe(app: Chalice) -> None:
    """Lambda runs one request at a time, so Chalice keeps it on the app itself; here each thread has its own."""
    if isinstance(app, _PerThread):
        return
    app.__class__ = type("ThreadedChalice", (_PerThread, app.__class__), {})


class _PerThread:
    _own = threading.local()

    @property
    def current_request(self) -> Any:
        return getattr(self._own, "request", None)

    @current_request.setter
    def current_request(self, value: Any) -> None:
        self._own.request = value

    @property
    def lambda_context(self) -> Any:
        return getattr(self._own, "context", None)

    @lambda_context.setter
    def lambda_context(self, value: Any) -> None:
        self._own.context = value

"""Bare signed JSON calls, for the few paths where botocore's own clients cost more than the work they carry.

A botocore client spends 72 µs on each item of a DynamoDB page and 1 ms on a call; reading and mailing a hundred
thousand people would be mostly that. Signing, credentials and connections are still botocore's.
"""

import json
import socket
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel import patience
from chalicelib.kernel.aws import session as aws
from chalicelib.kernel.aws.failures import (
    CONDITION_FAILED,
    TRANSACTION_CANCELLED,
    Stale,
    failed_condition,
    is_transient,
    rest,
)
from chalicelib.kernel.aws.items import plain
from chalicelib.kernel.errors import Unavailable

_ATTEMPTS = 4
_REST = 0.05
_DYNAMODB_TARGET, _SQS_TARGET = "DynamoDB_20120810.", "AmazonSQS."
# botocore leaves this off: a body then waits until its head is acknowledged, which may take 40 ms a call.
_AT_ONCE = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
_LONGEST_REST = 30.0


class _Service(Struct, frozen=True):
    """`name` is botocore's, `host` begins the host name, `signed_as` is what a signature calls it."""

    name: str
    host: str
    signed_as: str
    read_timeout: float
    connect_timeout: float = 3


_DYNAMODB = _Service("dynamodb", "dynamodb", "dynamodb", 5)
_SES = _Service("sesv2", "email", "ses", 20)
_SQS = _Service("sqs", "sqs", "sqs", 10)


def dynamodb(operation: str, parameters: Mapping[str, Any]) -> Any:
    """Call DynamoDB, several times if it is busy or the answer is lost.

    So a write must be conditional on what it changes: its second try then fails instead of counting twice, and
    `Stale.found` shows whether it was its own first try that got in the way.
    """
    return _insisted(_DYNAMODB, _DYNAMODB_TARGET, operation, parameters)


def sqs(operation: str, parameters: Mapping[str, Any]) -> Any:
    """Call SQS, several times if it is busy or the answer is lost: a message may then be there twice, as any may."""
    return _insisted(_SQS, _SQS_TARGET, operation, parameters)


def ses(operation: str, path: str, parameters: Mapping[str, Any] | bytes) -> Any:
    """Call SES once, with JSON made before or made here. What botocore would raise is raised: a lost answer is
    the caller's to judge, because a second try might mail everybody twice."""
    headers = {"Content-Type": "application/json"}
    body = parameters if isinstance(parameters, bytes) else json.dumps(parameters, ensure_ascii=False).encode()
    status, answer = _exchange(_SES, operation, path, headers, body)
    if status >= 300:
        raise _client_error(operation, status, answer)
    return answer


def _insisted(service: _Service, target: str, operation: str, parameters: Mapping[str, Any]) -> Any:
    headers = {"X-Amz-Target": target + operation, "Content-Type": "application/x-amz-json-1.0"}
    body = json.dumps(parameters).encode()
    for attempt in range(patience.ATTEMPTS if patience.is_limited() else _ATTEMPTS):
        if attempt:
            rest(attempt, _REST)
        with patience.counted():
            answer = _tried(service, operation, headers, body)
        if answer is not None:
            return answer
    raise Unavailable


def _tried(service: _Service, operation: str, headers: Mapping[str, str], body: bytes) -> Any:
    """The answer, or None if it is worth another try."""
    from botocore.exceptions import ConnectionError as NotConnected
    from botocore.exceptions import HTTPClientError

    try:
        status, answer = _exchange(service, operation, "/", headers, body)
    except (HTTPClientError, NotConnected):
        return None  # lost on the way, or never begun: these exceptions share no base class
    if status < 300:
        return answer
    code = _code(answer)
    if code == CONDITION_FAILED:
        raise Stale([plain(answer["Item"])] if answer.get("Item") else ())
    if code == TRANSACTION_CANCELLED and failed_condition(_reasons(answer)):
        raise Stale
    if is_transient(code, status):
        return None
    raise _client_error(operation, status, answer)


def _reasons(answer: Mapping[str, Any]) -> list[str | None]:
    return [reason.get("Code") for reason in answer.get("CancellationReasons", ())]


def _exchange(
    service: _Service, operation: str, path: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, Any]:
    from botocore.awsrequest import AWSRequest

    connection = _connection(aws.botocore_session(), _in_time(service))
    request = AWSRequest(method="POST", url=connection.endpoint + path, data=body, headers=dict(headers))
    connection.sign(request)
    response = connection.send(operation, request.prepare())
    aws.check_whole(response)
    answer = _json(response.content)
    # DynamoDB says in the body which error it is, SES in a header.
    if response.status_code >= 300 and "__type" not in answer and (kind := response.headers.get("x-amzn-ErrorType")):
        answer = answer | {"__type": kind}
    return response.status_code, answer


def _in_time(service: _Service) -> _Service:
    """The service as a request reaches it: sending mail is not hurried, because an answer that is lost stays lost."""
    if service is _SES or not patience.is_limited():
        return service
    return replace(service, connect_timeout=patience.CONNECT_SECONDS, read_timeout=patience.READ_SECONDS)


def _json(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content or b"{}")
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


class _Connection:
    """One service as this process reaches it: where, signed how, over which connections."""

    def __init__(self, session: Any, service: _Service) -> None:
        self._service = service
        self._region = session.get_config_variable("region")
        self._credentials = session.get_credentials()
        self._events = session.get_component("event_emitter")
        self.endpoint = _endpoint(session, service, self._region)
        self._http, self._used = self._connections(), time.time()

    def _connections(self) -> Any:
        from botocore.httpsession import URLLib3Session
        from botocore.utils import get_environ_proxies

        return URLLib3Session(
            timeout=(self._service.connect_timeout, self._service.read_timeout),
            max_pool_connections=50,
            proxies=get_environ_proxies(self.endpoint),
            socket_options=[_AT_ONCE],
        )

    def _live(self) -> Any:
        """A function that was frozen wakes up with connections that died meanwhile, and a call lost on one of those
        counts as unanswered. The wall clock, because the others stand still with the function."""
        now = time.time()
        if now - self._used > _LONGEST_REST:
            self._http = self._connections()
        self._used = now
        return self._http

    def sign(self, request: Any) -> None:
        from botocore.auth import SigV4Auth
        from botocore.exceptions import NoCredentialsError

        if self._credentials is None:
            raise NoCredentialsError
        # Frozen for this call: a role's credentials are renewed while we run.
        frozen = self._credentials.get_frozen_credentials()
        SigV4Auth(frozen, self._service.signed_as, self._region).add_auth(request)

    def send(self, operation: str, request: Any) -> Any:
        # The event every botocore client emits, so that what listens to AWS calls hears these too.
        heard = self._events.emit(f"before-send.{self._service.name}.{operation}", request=request)
        for _, answer in heard:
            if answer is not None:
                return answer
        return self._live().send(request)


@lru_cache(maxsize=8)
def _connection(session: Any, service: _Service) -> _Connection:
    return _Connection(session, service)


def _endpoint(session: Any, service: _Service, region: str) -> str:
    """A configured endpoint (AWS_ENDPOINT_URL and its kin) or the region's own."""
    from botocore.configprovider import ConfiguredEndpointProvider

    configured = ConfiguredEndpointProvider(session.full_config, session.get_scoped_config(), service.name).provide()
    if configured:
        return str(configured).rstrip("/")
    suffix = "amazonaws.com.cn" if session.get_partition_for_region(region) == "aws-cn" else "amazonaws.com"
    return f"https://{service.host}.{region}.{suffix}"


def _code(answer: Mapping[str, Any]) -> str:
    """SES and DynamoDB write it with a namespace before it, or with a link behind it."""
    return str(answer.get("__type") or answer.get("code") or "").rpartition("#")[2].partition(":")[0]


def _client_error(operation: str, status: int, answer: Mapping[str, Any]) -> Exception:
    from botocore.exceptions import ClientError

    message = str(answer.get("message") or answer.get("Message") or "")
    response = {
        "Error": {"Code": _code(answer), "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    failure: Exception = ClientError(response, operation)
    return failure

"""The one session of this process, a cached client for each service, and failures by meaning.

`call` is for services of which no more than `Unavailable` has to be known. Tables have a module of their own, SES has
`mail/failures`, and hot paths have `raw`.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

from chalicelib.kernel import patience
from chalicelib.kernel.aws.failures import is_transient
from chalicelib.kernel.errors import Unavailable

# boto3's clients may be used by several threads, but not made by several at once.
making = threading.Lock()


@lru_cache(maxsize=1)
def session() -> Any:
    import boto3

    return boto3.session.Session(botocore_session=botocore_session())


@lru_cache(maxsize=1)
def botocore_session() -> Any:
    """What is below boto3's session, for pynamodb and for `raw`: a second would read the same endpoints again."""
    import botocore.session

    made = botocore.session.get_session()
    made.register("after-call", _check_whole)
    return made


def client(service: str, attempts: int = 3) -> Any:
    """`attempts` is 1 for what must not happen twice: a retry after a lost answer repeats the effect. Such calls, and
    those that carry files, are not hurried in a request either."""
    if patience.is_limited() and attempts > 1 and service != "s3":
        return _client(service, patience.ATTEMPTS, patience.CONNECT_SECONDS, patience.READ_SECONDS)
    return _client(service, attempts, 3, 10)


@cache
def _client(service: str, attempts: int, connect: float, read: float) -> Any:
    from botocore.config import Config

    retries = {"mode": "standard", "total_max_attempts": attempts}
    # Left to itself botocore signs links to files as buckets made since 2020 refuse, and for another region's host.
    files: dict[str, Any] = {"signature_version": "s3v4", "s3": {"addressing_style": "virtual"}}
    config = Config(connect_timeout=connect, read_timeout=read, retries=retries, **(files if service == "s3" else {}))
    with making:
        return session().client(service, config=config)


def call(service: str, operation: str, **parameters: Any) -> Any:
    """Call, and raise `Unavailable` when the service cannot be reached or is overloaded."""
    with reaching():
        return getattr(client(service), operation)(**parameters)


@contextmanager
def reaching() -> Iterator[None]:
    """The same for several steps, such as asking for a file and reading it."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        with patience.counted():
            yield
    except ClientError as failure:
        if is_transient(failure.response["Error"]["Code"], _status(failure)):
            raise Unavailable from failure
        raise
    except BotoCoreError as failure:
        raise Unavailable from failure


def check_whole(response: Any) -> None:
    """A truncated answer is a failure. botocore reads it as an empty one, and an empty one means: there is nobody,
    there is nothing left to do."""
    from botocore.exceptions import ConnectionClosedError

    promised = response.headers.get("content-length")
    if promised is not None and len(response.content) < int(promised):
        raise ConnectionClosedError(endpoint_url=response.url)


def _check_whole(http_response: Any, model: Any, **_: Any) -> None:
    if not model.has_streaming_output and model.http.get("method") != "HEAD":
        check_whole(http_response)


def _status(failure: Any) -> int:
    return int(failure.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))

"""Files in the private bucket of pictures, and the signed links by which browsers send and fetch them."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from chalicelib.kernel import settings
from chalicelib.kernel.aws import session
from chalicelib.kernel.errors import Misconfigured

# A signed link works for ten minutes and is different each time: there is nothing to gain from keeping files longer.
_CACHE = "private, max-age=600"
_MISSING = ("NoSuchKey", "404")
_EMPTY = ("InvalidRange", "416")
_CHUNK = 1024 * 1024
_TOTAL = re.compile(r"/(\d+)\Z")


class Found(Struct, frozen=True):
    """The first bytes of a file, or all of it; `size` is that of the whole. `fingerprint` is the same for the same
    content."""

    content: bytes
    size: int
    fingerprint: str


def put(key: str, content: bytes, content_type: str) -> None:
    session.call("s3", "put_object", Body=content, ContentType=content_type, CacheControl=_CACHE, **_place(key))


def get(key: str, most: int) -> Found | None:
    """At most so many bytes, however large the file is."""
    place = _place(key)
    try:
        with session.reaching():
            answer = session.client("s3").get_object(Range=f"bytes=0-{most - 1}", **place)
            content = answer["Body"].read()
    except session.client("s3").exceptions.ClientError as failure:
        code = failure.response["Error"]["Code"]
        if code in _MISSING:
            return None
        if code in _EMPTY:
            return Found(b"", 0, "")
        raise
    total = _TOTAL.search(answer.get("ContentRange", ""))
    return Found(content, int(total[1]) if total else len(content), str(answer["ETag"]))


def put_file(key: str, path: Path, content_type: str) -> None:
    """From disk, without being in memory as a whole."""
    with path.open("rb") as stream:
        session.call("s3", "put_object", Body=stream, ContentType=content_type, CacheControl=_CACHE, **_place(key))


def download(key: str, path: Path) -> bool:
    """To disk. False if there is no such file."""
    body = _open(key)
    if body is None:
        return False
    with session.reaching(), path.open("wb") as stream:
        for chunk in body.iter_chunks(_CHUNK):
            stream.write(chunk)
    return True


def read_text(key: str) -> Iterator[str] | None:
    """A text of ours, in pieces; None if there is no such file."""
    body = _open(key)
    if body is None:
        return None
    decode = codecs.getincrementaldecoder("utf-8")().decode
    return (decode(chunk) for chunk in body.iter_chunks(_CHUNK))


def _open(key: str) -> Any:
    try:
        with session.reaching():
            return session.client("s3").get_object(**_place(key))["Body"]
    except session.client("s3").exceptions.ClientError as failure:
        if failure.response["Error"]["Code"] in _MISSING:
            return None
        raise


def delete(key: str) -> None:
    """Also if it is not there."""
    session.call("s3", "delete_object", **_place(key))


def sign_get(key: str, seconds: int) -> str:
    """A link that fetches the file."""
    return str(session.client("s3").generate_presigned_url("get_object", Params=_place(key), ExpiresIn=seconds))


def sign_post(key: str, content_type: str, most: int, seconds: int) -> tuple[str, dict[str, str]]:
    """Where to post a file of this type and up to this size, and the fields that go before it."""
    place = _place(key)
    conditions: list[Any] = [{"Content-Type": content_type}, ["content-length-range", 1, most]]
    signed = session.client("s3").generate_presigned_post(
        **place, Fields={"Content-Type": content_type}, Conditions=conditions, ExpiresIn=seconds
    )
    return str(signed["url"]), dict(signed["fields"])


def _place(key: str) -> dict[str, str]:
    bucket = settings.current().media_bucket
    if not bucket:
        raise Misconfigured("MEDIA_BUCKET is not set: pictures need it")
    return {"Bucket": bucket, "Key": key}

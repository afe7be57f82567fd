"""Files of pictures in their bucket."""

from functools import partial
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError, IncompleteReadError

from chalicelib.kernel.aws import objects, session
from chalicelib.kernel.errors import Misconfigured, Unavailable

KEY = "incoming/x"


def test_a_file_is_put_found_and_deleted(media_bucket: str) -> None:
    assert objects.get(KEY, 10) is None
    objects.put(KEY, b"0123456789", "image/png")
    whole = objects.get(KEY, 10)
    assert whole is not None
    assert (whole.content, whole.size) == (b"0123456789", 10)
    stored = session.call("s3", "head_object", Bucket=media_bucket, Key=KEY)
    assert stored["ContentType"] == "image/png"
    assert stored["CacheControl"].startswith("private")
    for _ in range(2):
        objects.delete(KEY)
    assert objects.get(KEY, 10) is None


@pytest.mark.parametrize("most", [1, 3, 9, 10, 11, 5000])
def test_no_more_than_so_many_bytes_are_read_and_the_whole_size_is_known(media_bucket: str, most: int) -> None:
    objects.put(KEY, b"0123456789", "image/png")
    found = objects.get(KEY, most)
    assert found is not None
    assert (found.content, found.size) == (b"0123456789"[:most], 10)


def test_an_empty_file_is_found(media_bucket: str) -> None:
    objects.put(KEY, b"", "image/png")
    found = objects.get(KEY, 32)
    assert found is not None
    assert (found.content, found.size) == (b"", 0)


def test_the_same_content_has_the_same_fingerprint_whatever_part_is_read(media_bucket: str) -> None:
    def fingerprint(content: bytes, most: int) -> str:
        objects.put(KEY, content, "image/png")
        found = objects.get(KEY, most)
        assert found is not None
        return found.fingerprint

    assert fingerprint(b"one picture", 3) == fingerprint(b"one picture", 100) != fingerprint(b"one other", 3)


def test_an_answer_that_breaks_off_is_a_failure_and_not_a_shorter_file(
    media_bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects.put(KEY, b"0123456789", "image/png")
    client = session.client("s3")
    real = client.get_object

    class Broken:
        def read(self) -> bytes:
            raise IncompleteReadError(actual_bytes=3, expected_bytes=10)

    monkeypatch.setattr(client, "get_object", lambda **given: real(**given) | {"Body": Broken()})
    with pytest.raises(Unavailable):
        objects.get(KEY, 10)


@pytest.mark.parametrize(
    "call", [lambda: objects.get(KEY, 1), lambda: objects.put(KEY, b"", "x"), lambda: objects.delete(KEY)]
)
def test_a_service_that_does_not_answer_is_unavailable(
    media_bucket: str, monkeypatch: pytest.MonkeyPatch, call: Any
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://s3")

    for name in ("get_object", "put_object", "delete_object"):
        monkeypatch.setattr(session.client("s3"), name, fail)
    for call in (partial(objects.get, KEY, 1), partial(objects.put, KEY, b"", "x"), partial(objects.delete, KEY)):
        with pytest.raises(Unavailable):
            call()


def test_a_missing_bucket_is_a_defect_and_not_a_missing_file(aws: None) -> None:
    with pytest.raises(session.client("s3").exceptions.ClientError):
        objects.get(KEY, 1)


def test_without_a_bucket_the_operator_is_told(aws: None, configure: Any) -> None:
    configure(MEDIA_BUCKET="")
    for call in (
        lambda: objects.get(KEY, 1),
        lambda: objects.sign_get(KEY, 1),
        lambda: objects.sign_post(KEY, "x", 1, 1),
    ):
        with pytest.raises(Misconfigured):
            call()


def test_links_are_for_the_buckets_own_host_and_are_made_without_a_call(aws: None) -> None:
    """The bucket does not even exist here."""
    link = objects.sign_get("photos/x", 600)
    assert link.startswith("https://gna-test-media-000000000000.s3.eu-west-1.amazonaws.com/photos/x?")
    assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in link
    assert "X-Amz-Expires=600" in link
    url, fields = objects.sign_post(KEY, "image/png", 100, 600)
    assert url.startswith("https://gna-test-media-000000000000.s3.eu-west-1.amazonaws.com")
    assert fields["key"] == KEY

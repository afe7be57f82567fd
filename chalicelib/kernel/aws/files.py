"""Files too large for one answer: put in pieces into a private bucket, fetched by signed link, soon gone."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from chalicelib.kernel import clock, ids, settings
from chalicelib.kernel.aws import session
from chalicelib.kernel.errors import Misconfigured

_PIECE = 5 * 1024 * 1024  # the least S3 takes as a part of a larger upload
_LINK_SECONDS = 300
KEPT = timedelta(minutes=15)


def publish(chunks: Iterable[bytes], content_type: str, filename: str) -> str:
    """A link that works for five minutes. One piece is in memory at a time."""
    place = {"Bucket": _bucket(), "Key": ids.new()}
    upload = {
        **place,
        "UploadId": session.call("s3", "create_multipart_upload", ContentType=content_type, **place)["UploadId"],
    }
    try:
        parts = [
            {
                "PartNumber": number,
                "ETag": session.call("s3", "upload_part", PartNumber=number, Body=piece, **upload)["ETag"],
            }
            for number, piece in enumerate(_pieces(chunks), 1)
        ]
        session.call("s3", "complete_multipart_upload", MultipartUpload={"Parts": parts}, **upload)
    except BaseException:
        session.call("s3", "abort_multipart_upload", **upload)
        raise
    answered = {**place, "ResponseContentDisposition": f'attachment; filename="{filename}"'}
    return str(session.client("s3").generate_presigned_url("get_object", Params=answered, ExpiresIn=_LINK_SECONDS))


def clean_up() -> int:
    """Remove what nobody can fetch any more; the bucket's own rule is only the net under this."""
    if not settings.current().downloads_bucket:
        return 0
    place = {"Bucket": _bucket()}
    before = clock.now() - KEPT
    objects = session.call("s3", "list_objects_v2", **place).get("Contents", [])
    old = [item["Key"] for item in objects if item["LastModified"] < before]
    for key in old:
        session.call("s3", "delete_object", Key=key, **place)
    return len(old)


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    piece = bytearray()
    for chunk in chunks:
        piece += chunk
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _bucket() -> str:
    bucket = settings.current().downloads_bucket
    if not bucket:
        raise Misconfigured("DOWNLOADS_BUCKET is not set: an export of this size needs it")
    return bucket

"""Whatever is stored anywhere, to be searched for what must not be there."""

import json

from chalicelib.kernel import settings
from chalicelib.kernel.aws import session
from tests.conftest import received


def everything(capsys):
    """Every row of every table, every message of every queue, and the log of the whole run."""
    sqs, prefix = session.client("sqs"), settings.current().prefix
    urls = sqs.list_queues(QueueNamePrefix=prefix)["QueueUrls"]
    messages = [received(url.rsplit("/", 1)[1].removeprefix(f"{prefix}-")) for url in urls]
    return rows() + json.dumps(messages, ensure_ascii=False) + "".join(capsys.readouterr())


def rows():
    dynamodb, prefix = session.client("dynamodb"), settings.current().prefix
    names = [name for name in dynamodb.list_tables()["TableNames"] if name.startswith(prefix)]
    assert len(names) > 10
    return json.dumps([dynamodb.scan(TableName=name)["Items"] for name in names], default=str, ensure_ascii=False)


def objects():
    """Names and contents of every picture."""
    s3, bucket = session.client("s3"), settings.current().media_bucket
    found = s3.list_objects_v2(Bucket=bucket).get("Contents", [])
    return {item["Key"]: s3.get_object(Bucket=bucket, Key=item["Key"])["Body"].read() for item in found}

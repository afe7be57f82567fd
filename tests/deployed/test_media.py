"""Pictures of items in the deployed form: fetched and copied by the function that polls, and given to everybody by
API Gateway byte for byte, whatever they say they accept."""

import io
import json
import urllib.error
import urllib.request

import pytest
from PIL import Image

from tests.rooms.inbox.test_pictures import THUMBNAIL, Host
from tests.waiting import eventually

ITEM = "0" * 31 + "1"
# The emulator decodes nothing for a request without this header. API Gateway does, because of the type `*/*`.
ACCEPTS = [
    "*/*",
    "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8",
    "image/jpeg",
    "application/json",
]


@pytest.fixture(scope="module")
def host(deployment):
    """Where the picture is: the function may reach this machine for as long as these tests run."""
    functions, name = deployment.client("lambda"), deployment.function("PollSources")
    usual = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    functions.update_function_configuration(
        FunctionName=name, Environment={"Variables": usual | {"GNA_LOCAL": "true"}}
    )
    started = Host()
    yield started
    started.stop()
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": usual})


@pytest.fixture(scope="module")
def copied(deployment, host):
    """The name of the copy."""
    texts = {"id": ITEM, "provider": "RSS", "provider_item_id": "1", "content_type": "ARTICLE", "title": "A post"}
    texts |= {"canonical_url": "https://blog.example.org/1", "refreshed_at": "2026-11-16T12:00:00.000000Z"}
    texts["image"] = host.put(THUMBNAIL)
    row = {name: {"S": text} for name, text in texts.items()} | {"version": {"N": "1"}}
    deployment.client("dynamodb").put_item(TableName=f"{deployment.prefix}-items", Item=row)
    sqs = deployment.client("sqs")
    queue = sqs.get_queue_url(QueueName=f"{deployment.prefix}-feed")["QueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({"kind": "copy", "item": ITEM}))
    return eventually(lambda: _item(deployment).get("picture"), 60)


def _item(deployment):
    return next(row for row in deployment.rows("items") if row["id"] == ITEM)


def _ask(url, method="GET", **headers):
    request = urllib.request.Request(url, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.headers, refusal.read()


@pytest.mark.parametrize("accept", ACCEPTS)
def test_everybody_gets_the_same_bytes(deployment, copied, accept):
    bucket, key = f"{deployment.prefix}-media-000000000000", f"public/{copied}"
    stored = deployment.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    status, headers, content = _ask(f"{deployment.api}/media/{copied}", Accept=accept)
    assert (status, content) == (200, stored)
    assert headers["Content-Type"] == "image/jpeg"
    assert headers["Content-Length"] == str(len(stored))
    assert headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert headers["Set-Cookie"] is None
    picture = Image.open(io.BytesIO(content))
    assert (picture.format, picture.size) == ("JPEG", (480, 360))
    assert not picture.getexif()


def test_whoever_only_looks_gets_no_body(deployment, copied):
    status, headers, content = _ask(f"{deployment.api}/media/{copied}", "HEAD", Accept="*/*")
    assert (status, headers["Content-Type"], content) == (200, "image/jpeg", b"")


def test_what_is_not_there_is_not_found(deployment):
    status, headers, content = _ask(f"{deployment.api}/media/{'0' * 32}.jpg", Accept="image/*")
    assert (status, json.loads(content)) == (404, {"error": "No such picture"})
    assert headers["Cache-Control"] == "no-store"


def test_text_stays_text_and_bodies_arrive_as_they_were_sent(deployment):
    for accept in ACCEPTS:
        assert json.loads(_ask(f"{deployment.api}/health", Accept=accept)[2])["status"] == "ok"
    answer = deployment.call("POST", "/api/subscribe", {"email": "grün@example.net", "source": "ü"})
    assert answer.status in (202, 400), answer.body
    assert deployment.call("POST", "/api/subscribe", {"email": "ü"}).json["error"]


def test_a_copy_that_nobody_uses_is_removed(deployment, copied):
    table = f"{deployment.prefix}-media"
    deployment.client("dynamodb").update_item(
        TableName=table,
        Key={"id": {"S": copied}},
        UpdateExpression="SET uses = :none, todo = :todo, due_at = :past",
        ExpressionAttributeValues={
            ":none": {"N": "0"},
            ":todo": {"S": "unused copy"},
            ":past": {"S": "2026-01-01T00:00:00.000000Z"},
        },
    )
    event = dict.fromkeys(("version", "id", "detail-type", "source", "account", "time", "region"), "")
    invoked = deployment.client("lambda").invoke(
        FunctionName=deployment.function("CleanUpMedia"),
        Payload=json.dumps(event | {"resources": [], "detail": {}}).encode(),
    )
    assert "FunctionError" not in invoked, invoked["Payload"].read()
    assert _ask(f"{deployment.api}/media/{copied}", Accept="image/*")[0] == 404
    assert copied not in {row["id"] for row in deployment.rows("media")}

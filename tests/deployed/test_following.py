"""Following in the deployed form: a small YouTube and a small Spotify on loopback, the calls of an editor and of a
member through API Gateway, the schedule, the queue, the hub's push, and the rights of every function on the way."""

import hashlib
import json
import re
import urllib.error
import urllib.request
import uuid
from base64 import urlsafe_b64encode
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from local.providers import credentials
from local.providers.catalogue import CHANNELS, SHOWS
from local.providers.main import Providers
from tests.rooms.access.conftest import token
from tests.waiting import eventually

SITE = "https://news.example.org"
PASSWORD = "Analytical-1"
VERIFIER = "v" * 43
# Those that talk to providers.
FUNCTIONS = ("APIHandler", "PollSources", "MaintainFollowing", "Members")
CHANNEL, ANOTHER = CHANNELS[0].id, CHANNELS[1].id


@pytest.fixture(scope="module")
def providers(deployment):
    """Where the functions are led to: they may reach this machine for as long as these tests run."""
    started = Providers().start()
    ssm, functions = deployment.client("ssm"), deployment.client("lambda")
    for name in ("YOUTUBE_CLIENT_SECRET", "YOUTUBE_API_KEY"):
        value = credentials.YOUTUBE[name]
        ssm.put_parameter(Name=f"/gna/test/{name}", Value=value, Type="SecureString", Overwrite=True)
    changes = {"GNA_LOCAL": "true", "YOUTUBE_ORIGIN": started.youtube, "SPOTIFY_ORIGIN": started.spotify}
    changes |= {"YOUTUBE_CLIENT_ID": credentials.YOUTUBE["YOUTUBE_CLIENT_ID"], **credentials.SPOTIFY}
    usual = {}
    for name in FUNCTIONS:
        function = deployment.function(name)
        usual[function] = functions.get_function_configuration(FunctionName=function)["Environment"]["Variables"]
        functions.update_function_configuration(
            FunctionName=function, Environment={"Variables": usual[function] | changes}
        )
    started.deliver_by(lambda *sent: _carry(deployment, *sent))
    yield started
    started.stop()
    for function, variables in usual.items():
        functions.update_function_configuration(FunctionName=function, Environment={"Variables": variables})


def _carry(deployment, method, url, headers, body):
    """What the hub sends to the site arrives at API Gateway."""
    request = urllib.request.Request(deployment.api + url.removeprefix(SITE), body or None, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read()


class Owner:
    def __init__(self, deployment, prefix, callback, **headers):
        self._deployment, self._prefix, self._headers = deployment, prefix, headers
        self.redirect_uri = SITE + callback

    def call(self, method, path, body=None):
        return self._deployment.call(method, f"{self._prefix}/{path}", body, self._headers)

    def follow(self, provider, channel):
        answer = self.call("POST", "follows", {"provider": provider, "provider_channel_id": channel})
        assert answer.status == 201, answer.body
        return answer.json

    def titles(self):
        return [entry["title"] for entry in self.call("GET", "inbox").json["items"]]

    def receives(self, title):
        eventually(lambda: title in self.titles(), 60)

    def connect(self, providers, provider, **more):
        """As the page's script does, and the person at the provider."""
        state = str(uuid.uuid4())
        answer = self.call("POST", "connections/state", {"provider": provider, "state": state})
        assert answer.status == 200, answer.body
        base, path = {
            "YOUTUBE": (providers.youtube, "/o/oauth2/v2/auth"),
            "SPOTIFY": (providers.spotify, "/authorize"),
        }[provider]
        challenge = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        asked = {"redirect_uri": self.redirect_uri, "state": state, "code_challenge": challenge, **more}
        asked |= {"response_type": "code", "code_challenge_method": "S256"}
        location = providers.consent(f"{base}{path}?{urlencode(asked)}")
        body = {"provider": provider, "state": state, "code_verifier": VERIFIER}
        return self.call(
            "POST", "connections/callback", body | {"code": parse_qs(urlsplit(location).query)["code"][0]}
        )


@pytest.fixture(scope="module")
def desk(deployment, providers):
    return Owner(deployment, "/admin/api", "/admin/following/callback", Cf_Access_Jwt_Assertion=token())


@pytest.fixture(scope="module")
def member(deployment, providers):
    body = {"email": "follower@example.net", "password": PASSWORD, "password_confirm": PASSWORD}
    answer = deployment.call("POST", "/api/auth/signup", body, {"Origin": SITE})
    assert answer.status == 201, answer.body
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    return Owner(deployment, "/api", "/following/callback", Cookie=cookie, Origin=SITE)


def _invoke(deployment, function):
    """As its schedule does."""
    told = ("version", "id", "detail-type", "source", "account", "time", "region")
    event = dict.fromkeys(told, "") | {"resources": [], "detail": {}}
    answer = deployment.client("lambda").invoke(
        FunctionName=deployment.function(function), Payload=json.dumps(event).encode()
    )
    assert "FunctionError" not in answer, answer["Payload"].read()


def _make_due(deployment, creator_id):
    deployment.client("dynamodb").update_item(
        TableName=f"{deployment.prefix}-creators",
        Key={"id": {"S": creator_id}, "part": {"S": "creator"}},
        UpdateExpression="SET next_poll_at = :past",
        ExpressionAttributeValues={":past": {"S": "2026-01-01T00:00:00.000Z"}},
    )


def test_a_channel_is_followed_and_its_latest_video_is_in_the_inbox(deployment, desk, member, providers):
    followed = desk.follow("YOUTUBE", CHANNEL)
    assert followed["name"] == CHANNELS[0].title
    assert desk.titles() == ["Sowing broad beans too early"]
    member.follow("YOUTUBE", CHANNEL)
    assert member.titles() == desk.titles()
    assert desk.call("POST", "follows", {"url": "https://www.youtube.com/@nobody"}).status == 404


def test_the_schedule_queues_and_the_queue_polls(deployment, desk, member, providers):
    [followed] = desk.call("GET", "follows").json["items"]
    providers.set_fault("youtube", hub_down=True)
    providers.publish(CHANNEL, "Found by a poll")
    providers.set_fault("youtube", reset=True)
    _make_due(deployment, followed["creator_id"])
    _invoke(deployment, "SweepFollowing")
    desk.receives("Found by a poll")
    member.receives("Found by a poll")
    events = [row for row in deployment.rows("events") if row["type"] == "ITEM_RECEIVED"]
    assert len(events) == 2, "the desk's two, and none of the member's"


def test_the_hub_pushes_through_api_gateway(deployment, desk, member, providers):
    [callback] = eventually(lambda: {lease.callback for lease in providers.state.leases})
    assert re.fullmatch(rf"{SITE}/api/webhooks/websub/[0-9a-f]{{32}}\.[0-9a-f]{{40}}", callback)
    providers.publish(CHANNEL, "Pushed")
    desk.receives("Pushed")
    member.receives("Pushed")
    forged = {"Content-Type": "application/atom+xml", "X-Hub-Signature": "sha1=" + "0" * 40}
    providers.forget_calls()
    status, _ = _carry(deployment, "POST", callback, forged, b"<feed/>")
    assert 200 <= status < 300, "and ignored"
    video = providers.publish(ANOTHER, "Not followed")
    assert video
    assert providers.calls()["units"] == 0


def test_an_account_is_connected_used_and_disconnected(deployment, desk, providers):
    refused = desk.call("POST", "follows", {"provider": "SPOTIFY", "provider_channel_id": SHOWS[0].id})
    assert (refused.status, refused.json) == (409, {"error": "Connect Spotify first"})
    assert desk.connect(providers, "SPOTIFY", **_asked("SPOTIFY_CLIENT_ID", credentials.SPOTIFY)).status == 200
    followed = desk.follow("SPOTIFY", SHOWS[0].id)
    desk.receives("What we would not plant again")
    providers.publish(SHOWS[0].id, "A new episode")
    _expire_token(deployment)
    _make_due(deployment, followed["creator_id"])
    _invoke(deployment, "SweepFollowing")
    desk.receives("A new episode")
    assert providers.calls()["spotify"]["POST /api/token"] == 2, "the code, and one renewal"
    _assert_sealed(deployment, providers)
    assert desk.call("DELETE", "connections/SPOTIFY").status == 200
    assert not {"A new episode", "What we would not plant again"} & set(desk.titles())
    assert [row for row in deployment.rows("connections") if row["part"].startswith("connection ")] == []


def _asked(name, known):
    return {"client_id": known[name], "scope": "user-library-read"}


def _expire_token(deployment):
    [row] = [row for row in deployment.rows("connections") if row["part"].startswith("connection ")]
    deployment.client("dynamodb").update_item(
        TableName=f"{deployment.prefix}-connections",
        Key={"owner": {"S": row["owner"]}, "part": {"S": row["part"]}},
        UpdateExpression="SET token_expires_at = :past",
        ExpressionAttributeValues={":past": {"S": "2026-01-01T00:00:00.000Z"}},
    )


def _assert_sealed(deployment, providers):
    """With the key that `make secrets` made, and nowhere in clear."""
    [row] = [row for row in deployment.rows("connections") if row["part"].startswith("connection ")]
    assert row["refresh_token"].startswith("v1:")
    told = deployment.log() + str([deployment.rows(name) for name in ("connections", "creators", "follows")])
    for grant in providers.state.grants:
        for secret in filter(None, (grant.refresh, *grant.spent, *grant.access)):
            assert secret not in told


def test_what_a_day_leaves_to_do_is_done(deployment, desk):
    _invoke(deployment, "MaintainFollowing")
    group = f"/aws/lambda/{deployment.function('MaintainFollowing')}"
    lines = [event["message"] for event in deployment.client("logs").filter_log_events(logGroupName=group)["events"]]
    assert any('"following.maintained"' in line for line in lines)
    assert not [line for line in lines if "following.not_maintained" in line]


def test_a_member_who_leaves_takes_follows_and_entries_along(deployment, desk, member):
    [kept] = [row["owner"] for row in deployment.rows("follows") if row["owner"] != "desk"][:1]
    assert [row for row in deployment.rows("inbox") if row["owner"] == kept]
    assert member.call("DELETE", "auth/me", {"password": PASSWORD}).status == 204

    def gone():
        rows = [*deployment.rows("follows"), *deployment.rows("inbox"), *deployment.rows("creators")]
        return not [row for row in rows if kept in (row.get("owner"), row.get("part", "").removeprefix("follower "))]

    eventually(gone, 60)
    assert desk.titles()


def test_no_function_lacked_a_right(deployment, desk):
    """Runs last: everything above has been logged."""
    refused = r"ClientError|AccessDenied|(Get|Put|Update|Delete|Query|Scan|Transact(Write|Get))Error"
    lines = [line for line in deployment.log().splitlines() if re.search(rf'"kind": "\w*({refused})', line)]
    assert lines == [], "a function lacks a right in deploy/functions.yaml"
    assert (
        deployment.client("sqs")
        .receive_message(
            QueueUrl=deployment.client("sqs").get_queue_url(QueueName=f"{deployment.prefix}-feed-dead")["QueueUrl"]
        )
        .get("Messages", [])
        == []
    )

"""Webhook, WebSub and the admin's button: who may ask for a check, and what they get."""

import base64
import hashlib
import hmac
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlencode

import pytest

from chalicelib.feeds import jobs, service, signatures, websub, websub_store
from chalicelib.feeds.state import WATCHED, Result, Trigger
from chalicelib.feeds.websub_store import Standing
from chalicelib.kernel import clock, locks, settings
from chalicelib.kernel.aws import queues, session
from chalicelib.kernel.errors import Unauthenticated, Unavailable
from tests.conftest import received

pytestmark = pytest.mark.usefixtures("blog")

BODY = b'{"type": "post.published"}'
HOOK = "/api/webhooks/feed"


def signed(id: str = "msg_1", at: float | None = None, body: bytes = BODY, secret: bytes | None = None):
    return signatures.sign(secret or settings.secret("WEBHOOK_SECRET"), id, int(at or time.time()), body)


def test_the_signature_is_the_standards_own_example():
    secret = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    headers = signatures.sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_signed_call_is_accepted_and_the_check_queued(http):
    answer = http.post(HOOK, body=BODY, headers=signed())
    assert (answer.status, answer.json) == (202, {"status": "accepted"})
    assert received("feed") == [{"trigger": "webhook"}]


def test_a_replay_is_refused(http):
    headers = signed()
    assert http.post(HOOK, body=BODY, headers=headers).status == 202
    assert http.post(HOOK, body=BODY, headers=headers).status == 409
    assert len(received("feed")) == 1


def test_a_call_without_a_valid_signature_is_401(http):
    answer = http.post(HOOK, body=b"{}", headers=signed())
    assert (answer.status, answer.json) == (401, {"error": "The signature is not valid"})
    assert http.post(HOOK, body=BODY).status == 401
    assert received("feed") == []


def verified(headers: dict[str, str], body: bytes = BODY) -> str:
    return signatures.verify(settings.secret("WEBHOOK_SECRET"), headers, body, clock.now())


def test_one_of_several_signatures_is_enough():
    headers = signed()
    headers["webhook-signature"] = f"v1a,xx v1,AAAA {headers['webhook-signature']}"
    assert verified(headers) == "msg_1"


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": "v2,AAAA"},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,é"},
        {"webhook-id": ""},
        {"webhook-id": "other"},
        {"webhook-id": "x" * 300},
        {"webhook-timestamp": "now"},
        {"webhook-timestamp": "9" * 40},
        {"webhook-timestamp": str(int(time.time()) - 1)},
    ],
)
def test_anything_wrong_with_the_signature_is_refused(change):
    with pytest.raises(Unauthenticated):
        verified(signed() | change)


@pytest.mark.parametrize("seconds", [-400, 400])
def test_an_old_call_or_one_from_the_future_is_refused_however_well_signed(seconds):
    with pytest.raises(Unauthenticated):
        verified(signed(at=time.time() + seconds))


def test_another_secret_is_refused():
    with pytest.raises(Unauthenticated):
        verified(signed(secret=b"not the secret of this site"))


def test_a_call_that_could_not_be_queued_may_come_again(http, monkeypatch):
    def down(*args, **kwargs):
        raise Unavailable

    with monkeypatch.context() as outage:
        outage.setattr(queues, "send", down)
        assert http.post(HOOK, body=BODY, headers=signed()).status == 503
    assert http.post(HOOK, body=BODY, headers=signed()).status == 202


def test_a_message_of_the_queue_is_a_check(http, blog):
    jobs.handle({"trigger": "webhook"})
    assert service.view().history[0].trigger is Trigger.WEBHOOK


def test_a_check_asked_for_while_another_runs_is_asked_for_again(http, blog):
    with locks.held("feed", 30):
        jobs.handle({"trigger": "websub"})
        jobs.handle({"trigger": "websub", "tries": 8})
    assert blog.asked == []
    url = queues._url("feed")
    counts = session.call("sqs", "get_queue_attributes", QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert int(counts["ApproximateNumberOfMessagesDelayed"]) + int(counts["ApproximateNumberOfMessages"]) == 1


def test_the_admin_sees_the_feed_and_may_check_it(admin, blog):
    blog.publish("News")
    assert admin.get("/admin/api/feed").json["last_check"] is None
    done = admin.post("/admin/api/feed/check", json={}).json
    assert (done["result"], done["trigger"], done["entries"]) == ("first", "admin", 2)
    seen = admin.get("/admin/api/feed").json
    assert (seen["title"], seen["result"], seen["entries_seen"]) == ("Blog", "first", 2)
    assert seen["entries"][0]["title"] == "News"
    assert [check["said"] for check in seen["history"]] == ["First check: 2 entries recorded, nothing sent"]


def test_nobody_else_sees_or_checks_it(http, configure):
    configure(CF_ACCESS_TEAM_NAME="myteam", CF_ACCESS_AUD="aud")
    assert http.get("/admin/api/feed").status == 401
    assert http.post("/admin/api/feed/check").status == 401


@pytest.fixture
def hub(http, blog):
    """The blog's own server is its hub; after the first check we have asked it."""
    blog.hub = f"{blog.url}/hub"
    jobs.on_schedule()
    return blog


def asked(blog) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(blog.posted[-1][1].decode()).items()}


def path(blog) -> str:
    return asked(blog)["hub.callback"].removeprefix("https://news.example.org")


def answer_back(http, blog, **changes: str):
    form = asked(blog)
    query = {"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": "c<h>allenge"}
    query |= {f"hub.{name}": value for name, value in changes.items()}
    return http.get(f"{path(blog)}?{urlencode(query)}")


def push(http, blog, method: str = "sha256", secret: str | None = None, body: bytes = b"<feed/>"):
    digest = hmac.new((secret or asked(blog)["hub.secret"]).encode(), body, method).hexdigest()
    headers = {"X-Hub-Signature": f"{method}={digest}", "Content-Type": "application/atom+xml; charset=utf-8"}
    return http.post(path(blog), body=body, headers=headers)


def test_a_hub_named_in_the_feed_is_asked_and_its_question_answered(http, hub):
    form = asked(hub)
    assert hub.posted[0][0] == "/hub"
    assert (form["hub.mode"], form["hub.topic"]) == ("subscribe", f"{hub.url}/feed.xml")
    answer = answer_back(http, hub, lease_seconds="86400")
    assert (answer.status, answer.text) == (200, "c<h>allenge")
    assert answer.headers["Content-Type"].startswith("text/plain")
    (subscription,) = websub_store.list_subscriptions(WATCHED)
    assert subscription.standing is Standing.ACTIVE
    assert timedelta(hours=23) < subscription.leased_until - clock.now() < timedelta(hours=25)


def test_a_hub_named_in_the_headers_is_found_too(http, blog):
    blog.answer = (200, {"Link": f'<{blog.url}/h2>; rel="hub", </me.xml>; rel=self'}, blog.feed())
    jobs.on_schedule()
    assert blog.posted[0][0] == "/h2"
    assert asked(blog)["hub.topic"] == f"{blog.url}/me.xml"


def test_a_question_about_what_we_did_not_ask_is_404(http, hub):
    wrong = [{"topic": "https://other.example.org/"}, {"mode": "unsubscribe"}, {"mode": "x"}, {"challenge": ""}]
    assert [answer_back(http, hub, **changes).status for changes in wrong] == [404] * 4
    assert websub_store.list_subscriptions(WATCHED)[0].standing is Standing.ASKED
    assert http.get("/api/webhooks/websub/xxxx?hub.mode=subscribe").status == 404
    assert http.post("/api/webhooks/websub/xxxx", body=b"x").status == 404


def test_a_push_signed_by_the_method_it_names_triggers_a_check(http, hub):
    assert [push(http, hub, method).status for method in ("sha1", "sha256", "sha384", "sha512")] == [202] * 4
    assert received("feed") == [{"trigger": "websub"}] * 4


def test_a_push_with_a_bad_signature_is_answered_and_ignored(http, hub):
    assert push(http, hub, secret="guessed").status == 202
    assert push(http, hub, method="md5").status == 202
    assert http.post(path(hub), body=b"x", headers={"Content-Type": "text/xml"}).status == 202
    assert received("feed") == []


def test_a_push_is_never_itself_the_news(http, hub):
    body = b"<rss version='2.0'><channel><item><title>Forged</title></item></channel></rss>"
    push(http, hub, body=body)
    jobs.handle(received("feed")[0])
    assert service.view().history[0].result is Result.UNCHANGED


def test_the_lease_is_renewed_in_time_and_not_before(http, hub, monkeypatch):
    answer_back(http, hub, lease_seconds=str(10 * 86400))
    websub.renew_subscriptions()
    assert len(hub.posted) == 1
    later = datetime.now(UTC) + timedelta(days=8, hours=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    websub.renew_subscriptions()
    assert [asked(hub)["hub.mode"], len(hub.posted)] == ["subscribe", 2]
    websub.renew_subscriptions()
    assert len(hub.posted) == 2
    assert push(http, hub).status == 202
    assert answer_back(http, hub, lease_seconds="864000").status == 200


def asked_once_a_day(hub, monkeypatch):
    websub.renew_subscriptions()
    assert len(hub.posted) == 1
    later = datetime.now(UTC) + timedelta(days=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    websub.renew_subscriptions()
    assert len(hub.posted) == 2


def test_a_hub_that_did_not_answer_is_asked_again_the_next_day(http, hub, monkeypatch):
    asked_once_a_day(hub, monkeypatch)


def test_the_old_hub_is_left_when_the_feed_changes(http, hub, configure):
    answer_back(http, hub)
    configure(FEED_URL=f"{hub.url}/other.xml")
    hub.hub = ""
    jobs.on_schedule()
    form = asked(hub)
    assert (form["hub.mode"], form["hub.topic"]) == ("unsubscribe", f"{hub.url}/feed.xml")
    assert push(http, hub).status == 404
    assert answer_back(http, hub).status == 200
    assert websub_store.list_subscriptions(WATCHED) == []


def test_a_hub_that_denies_is_not_asked_again_until_the_next_day(http, hub, monkeypatch):
    answer_back(http, hub)
    assert answer_back(http, hub, mode="denied").status == 200
    asked_once_a_day(hub, monkeypatch)


def test_a_short_lease_is_renewed_before_it_ends(http, hub, monkeypatch):
    answer_back(http, hub, lease_seconds=str(3 * 3600))
    for hours, asked_so_far in ((1, 1), (2, 2)):
        later = datetime.now(UTC) + timedelta(hours=hours)
        monkeypatch.setattr(clock, "now", lambda later=later: later)
        websub.renew_subscriptions()
        assert len(hub.posted) == asked_so_far


def test_a_hub_that_is_not_reached_by_https_is_left(http, hub, configure):
    answer_back(http, hub)
    configure(GNA_LOCAL="false")
    websub.renew_subscriptions()
    assert websub_store.list_subscriptions(WATCHED)[0].standing is Standing.LEAVING


def test_a_hub_that_is_down_does_not_stop_the_check(http, blog):
    blog.hub = "http://127.0.0.1:1024/"
    jobs.on_schedule()
    assert service.view().history[0].result is Result.FIRST


def test_token_and_secret_do_not_reveal_each_other(http, hub):
    form = asked(hub)
    assert form["hub.secret"] not in form["hub.callback"]
    assert len(base64.b16decode(form["hub.secret"].upper())) == hashlib.sha256().digest_size

"""Subscriptions of followed creators: the same as the watched feed's, each under its own id."""

import hmac
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlencode

import pytest

from chalicelib.feeds import jobs, websub, websub_store
from chalicelib.feeds.state import WATCHED
from chalicelib.feeds.websub_store import Standing
from chalicelib.kernel import clock, pseudonyms
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from local.providers.catalogue import CHANNELS
from local.providers.main import Providers
from tests.conftest import received
from tests.rooms.feeds.test_deletions import YOUTUBE

ONE, OTHER = "1" * 32, "2" * 32
TOPIC = "https://www.youtube.com/xml/feeds/videos.xml?channel_id=UCuAXFkgsw1L7xaCfnd5JJOw"


class Hub:
    """The blog's server, as the hub of whatever names it."""

    def __init__(self, http, blog):
        self.url = f"{blog.url}/subscribe"
        self._http = http
        self._blog = blog

    @property
    def forms(self) -> list[dict[str, str]]:
        return [
            {name: values[0] for name, values in parse_qs(body.decode()).items()} for _, body in self._blog.posted
        ]

    def ask(self, form: dict[str, str], **changes: str):
        query = {name: form[name] for name in ("hub.mode", "hub.topic")} | {"hub.challenge": "challenge"}
        query |= {f"hub.{name}": value for name, value in changes.items()}
        return self._http.get(f"{self._path(form)}?{urlencode(query)}")

    def push(self, form: dict[str, str], method: str = "sha1", secret: str = "", body: bytes = YOUTUBE):
        digest = hmac.new((secret or form["hub.secret"]).encode(), body, method).hexdigest()
        headers = {"X-Hub-Signature": f"{method}={digest}", "Content-Type": "application/atom+xml"}
        return self._http.post(self._path(form), body=body, headers=headers)

    def _path(self, form: dict[str, str]) -> str:
        return form["hub.callback"].removeprefix("https://news.example.org")


@pytest.fixture
def hub(http, blog) -> Hub:
    return Hub(http, blog)


def standings(subject: str) -> list[Standing]:
    return [subscription.standing for subscription in websub_store.list_subscriptions(subject)]


def later(monkeypatch, **passed: float) -> None:
    moment = datetime.now(UTC) + timedelta(**passed)
    monkeypatch.setattr(clock, "now", lambda: moment)


def test_a_creator_is_subscribed_under_its_own_id(hub):
    assert websub.renew(ONE, hub.url, TOPIC) is None
    (form,) = hub.forms
    assert (form["hub.mode"], form["hub.topic"], form["hub.lease_seconds"]) == ("subscribe", TOPIC, "864000")
    subject, mac = form["hub.callback"].rpartition("/")[2].split(".")
    assert (subject, len(mac)) == (ONE, 40)
    assert hub.ask(form, lease_seconds="432000").text == "challenge"
    until = websub.renew(ONE, hub.url, TOPIC)
    assert timedelta(days=4) < until - clock.now() < timedelta(days=6)
    assert len(hub.forms) == 1


def test_two_creators_with_one_feed_have_two_secrets(hub):
    websub.renew(ONE, hub.url, TOPIC)
    websub.renew(OTHER, hub.url, TOPIC)
    first, second = hub.forms
    assert first["hub.secret"] != second["hub.secret"]
    assert first["hub.callback"].rpartition(".")[2] != second["hub.callback"].rpartition(".")[2]
    assert hub.push(first, secret=second["hub.secret"]).status == 202
    assert received("feed") == []


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_a_push_queues_a_poll_of_that_creator_with_what_was_deleted(hub, still, method):
    websub.renew(ONE, hub.url, TOPIC)
    assert hub.push(hub.forms[0], method).status == 202
    assert received("feed") == [{"feed": ONE, "deleted": ["yt:video:dQw4w9WgXcQ"], "at": clock.text(clock.now())}]


def test_a_push_of_anything_else_queues_a_poll_too(hub):
    websub.renew(ONE, hub.url, TOPIC)
    for body in (b"", b"<feed/>", b"not XML", b"<a>" * 100_000):
        assert hub.push(hub.forms[0], body=body).status == 202
    assert [message["deleted"] for message in received("feed")] == [[]] * 4


def test_a_push_with_a_bad_signature_is_answered_and_ignored(hub):
    websub.renew(ONE, hub.url, TOPIC)
    assert hub.push(hub.forms[0], secret="guessed").status == 202
    assert hub.push(hub.forms[0], method="md5").status == 202
    assert received("feed") == []


def test_a_push_to_nobody_or_to_one_that_is_leaving_is_404(http, hub):
    websub.renew(ONE, hub.url, TOPIC)
    mac = hub.forms[0]["hub.callback"].rpartition(".")[2]
    unknown = [f"{OTHER}.{mac}", mac, f"{ONE}.{'0' * 40}", f"{ONE}.{mac}0", f"{WATCHED}.{mac}", f".{mac}", "x" * 5000]
    assert {http.post(f"/api/webhooks/websub/{token}", body=b"x").status for token in unknown} == {404}
    websub.leave(ONE)
    assert hub.push(hub.forms[0]).status == 404
    assert received("feed") == []


def test_leaving_is_asked_once_and_confirmed(hub):
    websub.renew(ONE, hub.url, TOPIC)
    hub.ask(hub.forms[0])
    websub.leave(ONE)
    websub.leave(ONE)
    assert [form["hub.mode"] for form in hub.forms] == ["subscribe", "unsubscribe"]
    assert hub.ask(hub.forms[0]).status == 404
    assert hub.ask(hub.forms[1]).status == 200
    assert websub_store.list_subscriptions(ONE) == []


def test_leaving_one_creator_leaves_no_other(hub):
    websub.renew(ONE, hub.url, TOPIC)
    websub.renew(OTHER, hub.url, TOPIC)
    websub.leave(ONE)
    assert (standings(ONE), standings(OTHER)) == ([Standing.LEAVING], [Standing.ASKED])


def test_a_creator_followed_again_is_subscribed_again_whatever_the_hub_still_asks(hub):
    websub.renew(ONE, hub.url, TOPIC)
    websub.leave(ONE)
    websub.renew(ONE, hub.url, TOPIC)
    assert [form["hub.mode"] for form in hub.forms] == ["subscribe", "unsubscribe", "subscribe"]
    assert hub.ask(hub.forms[1]).status == 404
    assert hub.ask(hub.forms[2]).status == 200
    assert standings(ONE) == [Standing.ACTIVE]


def test_a_hub_the_feed_no_longer_names_is_left(hub):
    websub.renew(ONE, hub.url, TOPIC)
    websub.renew(ONE, f"{hub.url}/new", TOPIC)
    assert [form["hub.mode"] for form in hub.forms] == ["subscribe", "subscribe", "unsubscribe"]
    assert sorted(standings(ONE)) == [Standing.ASKED, Standing.LEAVING]


def test_without_a_hub_or_a_topic_nothing_is_asked(hub):
    for named, topic in (("", ""), ("", TOPIC), (hub.url, "")):
        assert websub.renew(ONE, named, topic) is None
    assert (hub.forms, standings(ONE)) == ([], [])


def test_a_hub_without_encryption_is_asked_only_at_home(hub, configure):
    configure(GNA_LOCAL="false")
    websub.renew(ONE, "http://hub.example.org/", TOPIC)
    assert standings(ONE) == []


def test_the_lease_is_renewed_two_days_before_its_end_and_the_promise_holds_meanwhile(hub, monkeypatch):
    websub.renew(ONE, hub.url, TOPIC)
    hub.ask(hub.forms[0], lease_seconds="864000")
    until = websub.renew(ONE, hub.url, TOPIC)
    later(monkeypatch, days=7, hours=23)
    assert (websub.renew(ONE, hub.url, TOPIC), len(hub.forms)) == (until, 1)
    later(monkeypatch, days=8, hours=1)
    assert (websub.renew(ONE, hub.url, TOPIC), len(hub.forms)) == (until, 2)
    later(monkeypatch, days=10, hours=1)
    assert (websub.renew(ONE, hub.url, TOPIC), len(hub.forms)) == (None, 3)


def test_what_is_not_due_is_one_query(hub, monkeypatch):
    websub.renew(ONE, hub.url, TOPIC)
    hub.ask(hub.forms[0])
    queries: list[str] = []
    real = tables.query

    def counted(kind, key, **options):
        queries.append(key)
        return real(kind, key, **options)

    def refused(*given, **more):
        raise AssertionError

    monkeypatch.setattr(tables, "query", counted)
    for name in ("get", "put", "update", "delete"):
        monkeypatch.setattr(tables, name, refused)
    websub.renew(ONE, hub.url, TOPIC)
    assert (queries, len(hub.forms)) == ([ONE], 1)


def between(monkeypatch, act) -> None:
    """Let a twin act once, after the next reading and before what follows from it."""
    real = websub_store.list_subscriptions

    def read(subject):
        found = real(subject)
        monkeypatch.setattr(websub_store, "list_subscriptions", real)
        act()
        return found

    monkeypatch.setattr(websub_store, "list_subscriptions", read)


def test_of_two_workers_one_asks_the_hub(hub, monkeypatch):
    between(monkeypatch, lambda: websub.renew(ONE, hub.url, TOPIC))
    websub.renew(ONE, hub.url, TOPIC)
    assert len(hub.forms) == 1


def test_a_worker_that_read_before_the_hub_confirmed_does_not_take_it_back(hub, monkeypatch):
    websub.renew(ONE, hub.url, TOPIC)
    later(monkeypatch, days=1)
    between(monkeypatch, lambda: hub.ask(hub.forms[0]))
    assert websub.renew(ONE, hub.url, TOPIC) is not None
    assert (len(hub.forms), standings(ONE)) == (1, [Standing.ACTIVE])


def test_a_worker_that_left_while_the_hub_confirmed_has_left(hub, monkeypatch):
    websub.renew(ONE, hub.url, TOPIC)
    between(monkeypatch, lambda: hub.ask(hub.forms[0]))
    websub.leave(ONE)
    assert standings(ONE) == [Standing.LEAVING]


def test_a_late_confirmation_of_leaving_does_not_remove_a_new_subscription(hub):
    websub.renew(ONE, hub.url, TOPIC)
    websub.leave(ONE)
    (leaving,) = websub_store.list_subscriptions(ONE)
    websub.renew(ONE, hub.url, TOPIC)
    websub_store.remove(leaving)
    assert standings(ONE) == [Standing.ASKED]


def test_a_denial_that_arrives_late_changes_nothing(hub, monkeypatch):
    websub.renew(ONE, hub.url, TOPIC)
    (asked,) = websub_store.list_subscriptions(ONE)
    websub.leave(ONE)
    monkeypatch.setattr(websub_store, "find", lambda subject, mac: asked)
    assert hub.ask(hub.forms[0], mode="denied").status == 200
    assert standings(ONE) == [Standing.LEAVING]


def test_a_row_is_saved_only_over_what_was_read(hub):
    websub.renew(ONE, hub.url, TOPIC)
    (asked,) = websub_store.list_subscriptions(ONE)
    websub_store.save(asked.leaving(clock.now()), asked)
    for before in (None, asked):
        with pytest.raises(Stale):
            websub_store.save(asked, before)


def test_a_row_that_nobody_renews_expires_after_its_lease(hub):
    def kept() -> float:
        row = websub_store.SubscriptionRow.query(ONE).next()
        return (row.expires_at - clock.epoch(clock.now())) / 86_400

    websub.renew(ONE, hub.url, TOPIC)
    assert kept() == pytest.approx(30, abs=0.1)
    hub.ask(hub.forms[0], lease_seconds="864000")
    assert kept() == pytest.approx(40, abs=0.1)
    websub.leave(ONE)
    assert kept() == pytest.approx(3, abs=0.1)


def test_the_watched_feed_keeps_the_address_its_hub_knows(hub, blog):
    blog.hub = hub.url
    jobs.on_schedule()
    mac = pseudonyms.derive("websub token", f"{hub.url}\n{blog.url}/feed.xml")[:40]
    (form,) = hub.forms
    assert form["hub.callback"] == f"https://news.example.org/api/webhooks/websub/{mac}"
    assert form["hub.secret"] == pseudonyms.derive("websub secret", mac)
    assert hub.push(form).status == 202
    assert received("feed") == [{"trigger": "websub"}]


def test_the_small_youtube_pushes_what_is_published_and_what_is_deleted(http, configure):
    def send(method: str, url: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        path = url.removeprefix("https://news.example.org")
        answer = http.get(path) if method == "GET" else http.post(path, body=body, headers=headers)
        return answer.status, answer.text.encode()

    configure(GNA_LOCAL="true")
    providers = Providers().start()
    providers.deliver_by(send)
    channel = CHANNELS[0].id
    hub, topic = (
        f"{providers.youtube}/subscribe",
        f"https://www.youtube.com/xml/feeds/videos.xml?channel_id={channel}",
    )
    try:
        websub.renew(ONE, hub, topic)
        providers.flush()
        assert timedelta(days=9) < websub.renew(ONE, hub, topic) - clock.now() < timedelta(days=11)
        video = providers.publish(channel, "A new video")
        providers.flush()
        providers.delete(video)
        providers.flush()
        assert [message["deleted"] for message in received("feed")] == [[], [f"yt:video:{video}"]]
        websub.leave(ONE)
        providers.flush()
        assert websub_store.list_subscriptions(ONE) == []
    finally:
        providers.stop()

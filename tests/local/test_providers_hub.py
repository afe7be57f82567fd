"""The hub of the small YouTube: it asks back, pushes what changes, signs it, and stops when the lease is over."""

import hmac
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest

from local.providers.catalogue import CHANNELS
from tests.local.provider_calls import ask

GARDEN, BIRDS = CHANNELS[:2]
SECRET = "a secret"
ATOM = {
    "a": "http://www.w3.org/2005/Atom",
    "yt": "http://www.youtube.com/xml/schemas/2015",
    "at": "http://purl.org/atompub/tombstones/1.0",
}


def topic(channel):
    return f"https://www.youtube.com/xml/feeds/videos.xml?channel_id={channel.id}"


class Callback:
    """Somebody who subscribes: `wants` says whether they confirm, `answers` with which statuses they take pushes."""

    def __init__(self):
        self.wants, self.answers, self.questions, self.pushes = True, [], [], []

    def __call__(self, method, url, headers, body):
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        if method == "GET":
            self.questions.append(query)
            return (200, query["hub.challenge"].encode()) if self.wants else (404, b"")
        self.pushes.append((headers, body))
        return self.answers.pop(0) if self.answers else 204, b""

    @property
    def documents(self):
        return [ElementTree.fromstring(body) for _, body in self.pushes]


@pytest.fixture
def callback(providers):
    found = Callback()
    providers.deliver_by(found)
    return found


def subscribe(providers, channel=GARDEN, mode="subscribe", **more):
    form = {
        "hub.mode": mode,
        "hub.topic": topic(channel),
        "hub.callback": "http://127.0.0.1:1/callback?of=gna",
        "hub.secret": SECRET,
    }
    answer = ask(f"{providers.youtube}/subscribe", form | {f"hub.{name}": value for name, value in more.items()})
    providers.flush()
    return answer


def test_a_subscription_is_asked_back_with_a_challenge(providers, callback):
    assert subscribe(providers, lease_seconds="999999999").status == 202
    [question] = callback.questions
    assert question.keys() == {"of", "hub.topic", "hub.challenge", "hub.mode", "hub.lease_seconds"}
    assert (question["hub.mode"], question["hub.lease_seconds"]) == ("subscribe", "864000")


def test_a_video_is_pushed_with_a_signature(providers, callback):
    subscribe(providers)
    video = providers.publish(GARDEN.id, "News & more")
    providers.flush()
    [(headers, body)] = callback.pushes
    assert headers["X-Hub-Signature"] == "sha1=" + hmac.new(SECRET.encode(), body, "sha1").hexdigest()
    [document] = callback.documents
    assert document.findtext("a:entry/yt:videoId", namespaces=ATOM) == video
    assert document.findtext("a:entry/yt:channelId", namespaces=ATOM) == GARDEN.id
    assert document.findtext("a:entry/a:title", namespaces=ATOM) == "News & more"


def test_edits_are_pushed_and_deletions_are_tombstones(providers, callback):
    subscribe(providers)
    video = providers.publish(GARDEN.id, "One")
    providers.change(video, title="Two")
    providers.change(video, public=False)
    providers.delete(video)
    providers.flush()
    named = [document.findtext("a:entry/a:title", namespaces=ATOM) for document in callback.documents]
    assert named == ["One", "Two", None, None]
    deleted = callback.documents[3].find("at:deleted-entry", ATOM)
    assert deleted.get("ref") == f"yt:video:{video}"


def test_what_is_not_public_is_pushed_when_it_becomes_so(providers, callback):
    subscribe(providers)
    private = providers.publish(GARDEN.id, "Private", "private")
    providers.publish(GARDEN.id, "Scheduled", "scheduled")
    providers.flush()
    assert callback.pushes == []
    providers.change(private, public=True)
    providers.advance(700)
    providers.flush()
    named = [document.findtext("a:entry/a:title", namespaces=ATOM) for document in callback.documents]
    assert named == ["Private", "Scheduled"]


def test_nobody_gets_pushes_who_did_not_confirm_left_or_follows_another(providers, callback):
    callback.wants = False
    subscribe(providers)
    callback.wants = True
    subscribe(providers, BIRDS)
    providers.publish(GARDEN.id, "For nobody")
    subscribe(providers, BIRDS, "unsubscribe")
    providers.publish(BIRDS.id, "For nobody either")
    providers.flush()
    assert callback.pushes == []


def test_a_lease_ends(providers, callback):
    subscribe(providers, lease_seconds="60")
    providers.advance(61)
    providers.publish(GARDEN.id, "Too late")
    providers.flush()
    assert callback.pushes == []


def test_a_push_that_was_refused_is_sent_again(providers, callback):
    callback.answers = [503]
    subscribe(providers)
    providers.publish(GARDEN.id, "Again")
    providers.flush()
    assert len(callback.pushes) == 2
    assert providers.hub.pushes[0]["status"] == 204


def test_while_the_hub_is_down_nothing_is_subscribed_or_pushed(providers, callback):
    subscribe(providers)
    providers.set_fault("youtube", hub_down=True)
    assert subscribe(providers, BIRDS).status == 503
    providers.publish(GARDEN.id, "Unheard")
    providers.flush()
    assert callback.pushes == []


@pytest.mark.parametrize("wrong", [{"mode": "nonsense"}, {"callback": "ftp://x"}, {"topic": ""}])
def test_a_wrong_subscription_is_refused(providers, callback, wrong):
    assert subscribe(providers, **wrong).status == 400
    assert callback.questions == []


def test_without_a_test_in_between_it_connects_to_this_machine_and_no_other(providers):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            challenge = parse_qs(urlsplit(self.path).query)["hub.challenge"][0].encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(challenge)))
            self.end_headers()
            self.wfile.write(challenge)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        subscribe(providers, callback=f"http://127.0.0.1:{server.server_port}/here")
        subscribe(providers, callback="http://gna.example.org/there")
        assert [lease.callback for lease in providers.state.leases] == [f"http://127.0.0.1:{server.server_port}/here"]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

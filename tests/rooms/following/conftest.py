"""Somebody who follows, at small providers on loopback."""

import base64
import hashlib
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from chalicelib.following import connections, jobs, messages
from chalicelib.following.providers.registry import GRANTS
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock
from local.providers.catalogue import CHANNELS, SHOWS
from local.providers.main import Providers
from tests.conftest import _backend, received
from tests.fixtures.client import Answer, Client
from tests.rooms.sightings.person import Person

VERIFIER = "v" * 43
ALLOTMENT, HEDGE, MEND, COMPOST, MOSS = (channel.id for channel in CHANNELS)
SLOW_SOIL, DAWN_CHORUS, TOOL_SHED = (show.id for show in SHOWS)
SITE = "https://news.example.org"


class Owner:
    """The desk, or a member: `call("GET", "follows")`."""

    def __init__(self, http: Client, providers: Providers, prefix: str, id: str = DESK, cookie: str = "") -> None:
        self.http = http
        self.providers = providers
        self.prefix = prefix
        self.id = id
        self.cookie = cookie

    def call(self, method: str, path: str, **options: Any) -> Answer:
        headers = {"Cookie": self.cookie} if self.cookie else {}
        return self.http.request(method, f"{self.prefix}/{path}", **{**headers, **options})

    def follow(self, provider: str, channel_id: str) -> Any:
        answer = self.call("POST", "follows", json={"provider": provider, "provider_channel_id": channel_id})
        assert answer.status in (200, 201), answer.text
        return answer.json

    def follow_url(self, url: str) -> Answer:
        return self.call("POST", "follows", json={"url": url})

    def follows(self, query: str = "") -> list[Any]:
        return list(self.call("GET", f"follows{query}").json["items"])

    def act(self, follow: Any, act: str) -> Answer:
        return self.call("POST", f"follows/{follow['id']}/{act}")

    def set_options(self, follow: Any, **options: Any) -> Any:
        answer = self.call("PATCH", f"follows/{follow['id']}", json={"options": options})
        assert answer.status == 200, answer.text
        return answer.json

    def inbox(self, state: str = "INBOX") -> list[Any]:
        return list(self.call("GET", f"inbox?state={state}&limit=100").json["items"])

    def titles(self, state: str = "INBOX") -> list[str]:
        return [entry["title"] for entry in self.inbox(state)]

    def notifications(self) -> list[Any]:
        return list(self.call("GET", "notifications").json["items"])

    def active(self) -> list[str]:
        return [told["type"] for told in self.notifications() if told["resolved_at"] is None]

    def begin(self, provider: str, verifier: str = VERIFIER) -> tuple[str, str]:
        """As the page's script does: a registered state, and the code that comes back with it."""
        state = str(uuid.uuid4())
        answer = self.call("POST", "connections/state", json={"provider": provider, "state": state})
        assert answer.status == 200, answer.text
        grant = GRANTS[Provider(provider)]
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        parameters = {
            **grant.authorize_parameters(),
            "redirect_uri": connections.redirect_uri(self.id),
            "response_type": "code",
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        location = self.providers.consent(f"{grant.authorize_url()}?{urlencode(parameters)}")
        given = parse_qs(urlsplit(location).query)
        assert given["state"] == [state], location
        return state, given["code"][0]

    def complete(self, provider: str, state: str, code: str, verifier: str = VERIFIER) -> Answer:
        body = {"provider": provider, "code": code, "state": state, "code_verifier": verifier}
        return self.call("POST", "connections/callback", json=body)

    def connect(self, provider: str) -> None:
        answer = self.complete(provider, *self.begin(provider))
        assert answer.status == 200, answer.text

    def connection(self, provider: str) -> Any:
        return self.call("GET", "connections").json[provider]

    def disconnect(self, provider: str) -> Answer:
        return self.call("DELETE", f"connections/{provider}")

    def unfollow(self, follow: Any) -> None:
        answer = self.call("DELETE", f"follows/{follow['id']}")
        assert answer.status == 204, answer.text

    def find(self, follow: Any) -> Any:
        """The follow as it is now, also if it has ended."""
        listed = [*self.follows(), *self.follows("?status=UNSUBSCRIBED")]
        return next(one for one in listed if one["id"] == follow["id"])

    def triage(self, title: str, act: str) -> Any:
        """Bookmark, archive or dismiss what is in the inbox under this title."""
        (entry,) = [entry for entry in self.inbox() if entry["title"] == title]
        method, path = ("DELETE", "") if act == "dismiss" else ("POST", f"/{act}")
        answer = self.call(method, f"inbox/{entry['id']}{path}")
        assert answer.status in (200, 204), answer.text
        return entry


@pytest.fixture
def desk(admin: Client, providers: Providers) -> Owner:
    return Owner(admin, providers, "/admin/api")


@pytest.fixture
def member(http: Client, providers: Providers, configure: Any) -> Callable[[str], Owner]:
    """`member("ada")`: somebody with an account."""
    configure(MEMBERS="open")

    def join(name: str) -> Owner:
        person = Person(http, name)
        return Owner(http, providers, "/api", person.id, person.cookie)

    return join


@pytest.fixture
def work(aws: None) -> Callable[[], int]:
    """Do what is in the queue for this room; how many messages there were. What is delayed is left there."""

    def run() -> int:
        done = 0
        while found := received("feed"):
            for message in found:
                if "feed" in message or message["kind"] in messages.KINDS:
                    jobs.handle(message, lambda: True)
                done += 1
        return done

    return run


@pytest.fixture
def settle(aws: None, work: Callable[[], int]) -> Callable[[], int]:
    """Do also what was delayed, as if its time had come."""

    def run() -> int:
        queue = next(queue for name, queue in _backend("sqs").queues.items() if name.endswith("-feed"))
        for message in queue._messages:
            message.delayed_until = 0
        return work()

    return run


@pytest.fixture
def token_only(providers: Providers, configure: Any) -> None:
    """Without a key of the deployment's, so that YouTube is asked with somebody's connection."""
    configure(YOUTUBE_API_KEY="")


@pytest.fixture
def pushed(http: Client, providers: Providers) -> Callable[[], None]:
    """The small YouTube's hub reaches this app; call it to wait until everything has come."""

    def send(method: str, url: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        answer = http.request(method, url.removeprefix(SITE), body=body, headers=headers)
        return answer.status, answer.text.encode()

    providers.deliver_by(send)
    return providers.flush


@pytest.fixture
def sweep(work: Callable[[], int]) -> Callable[[], int]:
    """Poll everything that is due now."""

    def run() -> int:
        jobs.sweep()
        return work()

    return run


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch, providers: Providers) -> Callable[..., None]:
    """`later(hours=25)`: everything happens that much later, at the providers too."""
    real = clock.now
    passed = timedelta()

    def move(**time: float) -> None:
        nonlocal passed
        passed += timedelta(**time)
        providers.advance(timedelta(**time).total_seconds())
        monkeypatch.setattr(clock, "now", lambda: real() + passed)

    return move

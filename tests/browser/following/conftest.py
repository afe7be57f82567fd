"""A browser on the pages of following and of the inbox. The app runs in this process, on moto, with the small YouTube
and Spotify, which the browser reaches as it would reach the real ones.

- `house`: `house.url`; `house.member()`, somebody with an account; `house.work()` does what is queued.
- `look()`: a new browser page of an editor; `look(member)`, of a member; `look(width=390)`, `look(script=False)`,
  `look(at="http://localhost:…")`. When the test ends no page may have complained, or asked another host.
"""

from collections.abc import Callable, Iterator
from typing import Any

import bcrypt
import pytest
from playwright.sync_api import Browser, Page

from chalicelib.following import jobs
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.members import passwords, sessions
from chalicelib.members.model import Member
from chalicelib.members.stores import emails, members
from local.gateway.gateway import Gateway
from local.gateway.server import Server
from local.providers.main import Providers
from tests.browser.page_checks import Watched
from tests.conftest import received

PASSWORD = "Correct-1 horse"


class SomeMember:
    def __init__(self, email: str) -> None:
        now = clock.now()
        self.email = email
        self.member = Member(ids.new(), email, now, verified_at=now)
        self.session, session = sessions.begin_write(self.member, now)
        password_hash = passwords.make_hash(passwords.model.normalize_password(PASSWORD))
        tables.transact(emails.claim_write(self.member), *members.create_writes(self.member, password_hash), session)

    @property
    def id(self) -> str:
        return self.member.id

    def end_session(self) -> None:
        sessions.end(self.session)


class House:
    def __init__(self, url: str, providers: Providers) -> None:
        self.url, self.providers = url, providers

    @property
    def port(self) -> str:
        return self.url.rpartition(":")[2]

    def member(self, email: str = "ada@example.net") -> SomeMember:
        return SomeMember(email)

    def publish(self, where: str, title: str) -> None:
        """Something new, which the hub pushes."""
        self.providers.publish(where, title)
        self.providers.flush()
        self.work()

    def work(self) -> None:
        while messages := received("feed"):
            for message in messages:
                jobs.handle(message, lambda: True)


@pytest.fixture
def house(http: Any, providers: Providers, configure: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    import app

    monkeypatch.setattr(passwords, "COST", 4)
    monkeypatch.setattr(passwords, "_NOBODYS", bcrypt.hashpw(b"nobody's", bcrypt.gensalt(4)))
    server = Server(Gateway(app.app).handle, 0)
    url = f"http://127.0.0.1:{server.port}"
    configure(SITE_URL=url, SITE_NAME="The Slow Garden", DISABLE_AUTH="true", GNA_LOCAL="true", MEMBERS="open")
    server.start()
    yield House(url, providers)
    server.stop()


@pytest.fixture
def look(browser: Browser, house: House) -> Iterator[Callable[..., Page]]:
    opened: list[Watched] = []

    def open_page(who: SomeMember | None = None, width: int = 1280, script: bool = True, at: str = "") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 844 if width < 500 else 860},
            java_script_enabled=script,
            base_url=at or house.url,
            timezone_id="Europe/Berlin",
            has_touch=width < 500,
        )
        context.set_default_timeout(10_000)
        if who:
            context.add_cookies([{"name": "session", "value": who.session, "url": at or house.url}])
        opened.append(Watched(context.new_page(), refused=True))
        return opened[-1].page

    yield open_page
    for watched in opened:
        watched.page.context.close()
    assert [watched.complaints for watched in opened if watched.complaints] == []
    ours = {f"127.0.0.1:{house.port}", f"localhost:{house.port}", house.providers.url.removeprefix("http://"), "data"}
    assert set().union(*(watched.hosts for watched in opened)) <= ours

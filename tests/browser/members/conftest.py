"""A browser on the pages for members. The app runs in this process, on moto, with a bucket the browser can reach.

- `house`: `house.url`; `house.member("ada@example.net")`, somebody with an account; `house.work()` does what is
  queued; `house.link(address, "/verify")`, of the newest mail.
- `look()`: a new browser page; `look(width=390)`, `look(dark=True)`, `look(script=False)`, `look(member)` signed in.
  When the test ends no page may have complained, or asked a third host.
- `bucket`: of the photos; it can be `broken` or `gone`.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import bcrypt
import pytest
from playwright.sync_api import Browser, Page

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import objects, tables
from chalicelib.media import jobs as media_jobs
from chalicelib.media import service as media
from chalicelib.members import jobs as member_jobs
from chalicelib.members import passwords, sessions
from chalicelib.members.model import Member
from chalicelib.members.stores import emails, members
from chalicelib.sightings import model, service
from local.gateway.gateway import Gateway
from local.gateway.server import Server
from local.ses.main import Client as Mailbox
from tests.browser.members.bucket import Bucket
from tests.browser.page_checks import Watched
from tests.conftest import received

PASSWORD = "Correct-1 horse"


class SomeMember:
    def __init__(self, email: str, verified: bool) -> None:
        now = clock.now()
        self.email = email
        self.member = Member(ids.new(), email, now, verified_at=now if verified else None)
        self.session, session = sessions.begin_write(self.member, now)
        password_hash = passwords.make_hash(passwords.model.normalize_password(PASSWORD))
        tables.transact(emails.claim_write(self.member), *members.create_writes(self.member, password_hash), session)

    def sees(
        self, animal_name: str = "Red fox", location: str = "Behind the shed", photo: bytes | None = None
    ) -> str:
        """A sighting, by the path of its page."""
        upload = media.receive(self.member.id, photo) if photo else None
        seen = service.create(self.member.id, animal_name, location, upload)
        return f"/sightings/{model.wire_id(seen.sighting.id)}"

    def end_sessions(self) -> None:
        sessions.end(self.session)


class House:
    def __init__(self, url: str, mailbox: Mailbox) -> None:
        self.url, self._mailbox = url, mailbox

    def member(self, email: str = "ada@example.net", verified: bool = True) -> SomeMember:
        return SomeMember(email, verified)

    def work(self) -> None:
        for message in received("members"):
            member_jobs.handle(message)
        for message in received("media"):
            media_jobs.handle(message)

    def link(self, address: str, path: str) -> str:
        self.work()
        texts = [mail["text"] for mail in self._mailbox.mails(to=address)]
        found = [re.search(rf"{re.escape(self.url + path)}\?\S+", text) for text in texts]
        return next(match[0] for match in found if match)


@pytest.fixture
def bucket(media_bucket: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    bucket = Bucket()
    sign_get, sign_post = objects.sign_get, objects.sign_post

    def moved(url: str) -> str:
        parts = urlsplit(url)
        return f"{bucket.url}{parts.path}?{parts.query}" if parts.query else f"{bucket.url}{parts.path}"

    def moved_post(*given: Any) -> tuple[str, dict[str, str]]:
        url, fields = sign_post(*given)
        return moved(url), fields

    monkeypatch.setattr(objects, "sign_get", lambda *given: moved(sign_get(*given)))
    monkeypatch.setattr(objects, "sign_post", moved_post)
    bucket.start()
    yield bucket
    bucket.stop()


@pytest.fixture
def house(
    http: Any, ses: Mailbox, configure: Any, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> Iterator[House]:
    import app

    monkeypatch.setattr(passwords, "COST", 4)
    monkeypatch.setattr(passwords, "_NOBODYS", bcrypt.hashpw(b"nobody's", bcrypt.gensalt(4)))
    server = Server(Gateway(app.app).handle, 0)
    bucket.site = f"http://127.0.0.1:{server.port}"
    configure(SITE_URL=bucket.site, SITE_NAME="The Slow Garden", MEMBERS="open")
    server.start()
    yield House(bucket.site, ses)
    server.stop()


@pytest.fixture
def look(browser: Browser, house: House, bucket: Bucket) -> Iterator[Callable[..., Page]]:
    opened: list[Watched] = []

    def open_page(
        who: SomeMember | None = None,
        width: int = 1280,
        dark: bool = False,
        script: bool = True,
        refused: bool = False,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 844 if width < 500 else 860},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            base_url=house.url,
            timezone_id="Europe/Berlin",
            has_touch=width < 500,
        )
        context.set_default_timeout(10_000)
        if who:
            context.add_cookies([{"name": "session", "value": who.session, "url": house.url}])
        opened.append(Watched(context.new_page(), refused))
        return opened[-1].page

    yield open_page
    for watched in opened:
        watched.page.context.close()
    assert [watched.complaints for watched in opened if watched.complaints] == []
    ours = {url.removeprefix("http://") for url in (house.url, bucket.url)} | {"blob", "data"}
    assert set().union(*(watched.hosts for watched in opened)) <= ours

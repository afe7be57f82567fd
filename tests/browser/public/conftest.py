"""A browser before the public pages. The app runs in this very process, on moto, so that each test begins with empty
tables and its own settings; the page that embeds the form comes from another origin.

- `house`: where the app is: `house.url`, `house.link(address)` (of the newest mail), `house.subscribed(address)`.
- `elsewhere`: somebody's site: `elsewhere.show("<p>…")` gives the address of a page with that in it.
- `look()`: a new browser page; `look(phone=True)`, `look(dark=True)`, `look(script=False)`; `look(refused=True)`
  where a request will be blocked. When the test ends, no page may have complained, or asked a third host.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from chalicelib.audience import jobs
from local.gateway.gateway import Gateway
from local.gateway.server import Server
from local.ses.main import Client as Mailbox
from tests.browser.other_site import OtherSite
from tests.browser.page_checks import Watched
from tests.conftest import received
from tests.fixtures.client import Client


class House:
    def __init__(self, url: str, http: Client, mailbox: Mailbox) -> None:
        self.url, self.http, self._mailbox = url, http, mailbox

    def mails(self, address: str) -> list[dict[str, Any]]:
        """Newest first, after doing what waits on the audience queue."""
        self._work()
        return self._mailbox.mails(to=address)

    def link(self, address: str) -> str:
        found = re.search(rf"{re.escape(self.url)}/\S+", self.mails(address)[0]["text"])
        assert found, "no link in the newest mail"
        return found[0]

    def subscribe(self, address: str, **fields: Any) -> str:
        """Somebody signs up; the link that confirms it."""
        answer = self.http.post("/api/subscribe", json={"email": address, **fields})
        assert answer.status == 201, answer.text
        return self.link(address)

    def join(self, address: str, **fields: Any) -> None:
        link = self.subscribe(address, **fields)
        assert self.http.get(link.removeprefix(self.url)).status == 303

    def profile(self, address: str) -> str:
        """A magic link of somebody who has joined."""
        self.http.post("/api/profile/request-link", json={"email": address})
        return self.link(address)

    def goodbye(self, address: str) -> str:
        """The link every campaign carries."""
        from chalicelib.audience.stores.subscribers import SubscriberRow

        row = next(row for row in SubscriberRow.scan(consistent_read=True) if row.email == address)
        return f"{self.url}/api/unsubscribe?token={row.id}.{row.unsubscribe_secret}"

    def subscribed(self, address: str) -> bool:
        from chalicelib.audience.stores.subscribers import SubscriberRow

        self._work()
        return any(row.email == address for row in SubscriberRow.scan(consistent_read=True))

    def _work(self) -> None:
        for message in received("audience"):
            jobs.handle(message)


@pytest.fixture
def elsewhere() -> Iterator[OtherSite]:
    elsewhere = OtherSite()
    yield elsewhere
    elsewhere.stop()


@pytest.fixture
def house(http: Client, ses: Mailbox, configure: Any, elsewhere: OtherSite) -> Iterator[House]:
    import app

    server = Server(Gateway(app.app).handle, 0)
    url = f"http://127.0.0.1:{server.port}"
    configure(SITE_URL=url, ALLOWED_ORIGINS=elsewhere.url, SITE_NAME="The Slow Garden")
    server.start()
    yield House(url, http, ses)
    server.stop()


@pytest.fixture
def look(browser: Browser, house: House, elsewhere: OtherSite) -> Iterator[Callable[..., Page]]:
    opened: list[Watched] = []

    def open_page(phone: bool = False, dark: bool = False, script: bool = True, refused: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": 360, "height": 740} if phone else {"width": 900, "height": 700},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            base_url=house.url,
        )
        context.set_default_timeout(10_000)
        opened.append(Watched(context.new_page(), refused))
        return opened[-1].page

    yield open_page
    for watched in opened:
        watched.page.context.close()
    ours = {url.removeprefix("http://") for url in (house.url, elsewhere.url)}
    assert [watched.complaints for watched in opened if watched.complaints] == []
    assert set().union(*(watched.hosts for watched in opened)) <= ours

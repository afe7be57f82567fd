"""A browser on the pages of the inbox. The app runs in this process, on moto.

- `house`: `house.url`; `house.fill(owner)` puts things into an inbox; `house.member()`, somebody with an account.
- `look()`: a new browser page of an editor; `look(member)`, of a member; `look(width=390)`, `look(script=False)`.
  When the test ends no page may have complained, or asked another host.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from chalicelib.campaigns import service as campaigns
from chalicelib.inbox import model, service
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK, ContentType, Item, Provider, Recipient
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.media import service as media
from chalicelib.members import sessions
from chalicelib.members.model import Member
from chalicelib.members.stores import emails, members
from local.gateway.gateway import Gateway
from local.gateway.server import Server
from tests.browser.members.pictures import landscape
from tests.browser.page_checks import Watched

NOON = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
# Title, who made it, from where, which kind, how long, what it is about.
THINGS = (
    (
        "Who is eating the buds?",
        "The Hedge Birds",
        "YOUTUBE",
        "VIDEO",
        721,
        "One hedge, one feeder, one microphone, and nine weeks of patience.",
    ),
    (
        "A pond the size of a bathtub",
        "Digging Slowly",
        "YOUTUBE",
        "VIDEO",
        1_904,
        "It froze, it thawed, a newt moved in.",
    ),
    (
        "Soil, with Dr. Mei Tan",
        "The Potting Shed",
        "SPOTIFY",
        "PODCAST",
        3_723,
        "Why the best soil smells of rain, and what to do about yours.",
    ),
    (
        "Eleven apples worth a detour",
        "Orchard Notes",
        "RSS",
        "ARTICLE",
        None,
        "Ranked by how sorry I would be if the tree fell.",
    ),
    (
        "The case for leaving the leaves",
        "Orchard Notes",
        "RSS",
        "ARTICLE",
        None,
        "Everything that lives in them, counted on one square metre.",
    ),
    ("What the frost left standing", "A small garden", "LINK", "LINK", None, "Kale, mostly."),
    ("Kingfisher", "Greta", "SIGHTING", "SIGHTING", None, "The weir below the mill"),
)


class SomeMember:
    def __init__(self, email: str) -> None:
        now = clock.now()
        self.member = Member(ids.new(), email, now, verified_at=now)
        self.session, session = sessions.begin_write(self.member, now)
        tables.transact(emails.claim_write(self.member), *members.create_writes(self.member, "no hash"), session)

    @property
    def id(self) -> str:
        return self.member.id


class House:
    def __init__(self, url: str) -> None:
        self.url = url

    def member(self, email: str = "ada@example.net") -> SomeMember:
        return SomeMember(email)

    def fill(self, owner: str = DESK, most: int = len(THINGS)) -> list[str]:
        """The ids of the entries, the newest first."""
        found = [make(number) for number in range(most)]
        for number, item in enumerate(found):
            service.deliver(item, [Recipient(owner)], NOON - timedelta(hours=number))
            if item.picture:
                tables.update(ItemRow(item.id), [ItemRow.picture.set(item.picture)])
        return [item.id for item in found]

    def campaign(self) -> Any:
        return campaigns.list_page(None, 1, 1).items[0]


def make(number: int) -> Item:
    title, creator, provider, kind, seconds, excerpt = THINGS[number % len(THINGS)]
    name = f"{title} {number}"
    picture = media.publish(landscape(number, 480, 270)).name if provider in ("YOUTUBE", "SPOTIFY") else ""
    return Item(
        id=model.item_id(Provider(provider), name),
        provider=Provider(provider),
        provider_item_id=name,
        content_type=ContentType(kind),
        title=title,
        canonical_url="" if provider == "SIGHTING" else f"https://www.example.org/{number}",
        refreshed_at=NOON,
        creator=creator,
        excerpt=excerpt,
        duration_seconds=seconds,
        published_at=NOON - timedelta(hours=number + 3),
        picture=picture,
    )


@pytest.fixture
def house(http: Any, ses: Any, configure: Any, media_bucket: str) -> Iterator[House]:
    import app

    server = Server(Gateway(app.app).handle, 0)
    url = f"http://127.0.0.1:{server.port}"
    configure(
        SITE_URL=url,
        SITE_NAME="The Slow Garden",
        DISABLE_AUTH="true",
        GNA_LOCAL="true",
        MEMBERS="open",
        POSTAL_ADDRESS="1 Orchard Lane",
    )
    server.start()
    yield House(url)
    server.stop()


@pytest.fixture
def look(browser: Browser, house: House) -> Iterator[Callable[..., Page]]:
    opened: list[Watched] = []

    def open_page(who: SomeMember | None = None, width: int = 1280, script: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 844 if width < 500 else 860},
            java_script_enabled=script,
            base_url=house.url,
            timezone_id="Europe/Berlin",
            has_touch=width < 500,
        )
        context.set_default_timeout(10_000)
        if who:
            context.add_cookies([{"name": "session", "value": who.session, "url": house.url}])
        opened.append(Watched(context.new_page()))
        return opened[-1].page

    yield open_page
    for watched in opened:
        watched.page.context.close()
    assert [watched.complaints for watched in opened if watched.complaints] == []
    assert set().union(*(watched.hosts for watched in opened)) <= {house.url.removeprefix("http://"), "data"}

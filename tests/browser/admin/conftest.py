"""A browser on the dashboard. The app runs in the test's own process, on moto, with something on every page.

- `dashboard`: its URL and the ids of what it shows: `dashboard.url`, `dashboard.draft`, `dashboard.failed`, …
- `look()`: a new browser page, `look(phone=True)`, `look(dark=True)`, `look(script=False)`; `look(refused=True)` if
  requests will fail. When the test ends no page may have complained, or asked another host.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from chalicelib.bounces import service as bounces
from chalicelib.campaigns import service
from chalicelib.campaigns.content import links
from chalicelib.campaigns.model import Counts, Format
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft, Saver
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks.model import NewWebhook
from chalicelib.feeds import service as feeds
from chalicelib.feeds.state import Trigger
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.members import invitations
from chalicelib.members.model import Member
from chalicelib.members.stores import emails, members
from chalicelib.sightings import service as sightings
from local.gateway.gateway import Gateway
from local.gateway.server import Server
from tests.browser.page_checks import Watched
from tests.fixtures.receiver import Receiver
from tests.rooms.admin.conftest import person as _person
from tests.rooms.campaigns import crowd

_NAMES = "Ada Beatriz Chidi Dana Elif Fatou Greta Hugo Ines Jun Kofi Lucía Mei Noor Omar Priya Quinn Rosa Sami Zoë"
_BODY = """# Seven beans worth the string

{{greeting|Hello}}! A short list, in the order of how sorry I would be to lose them.

1. **Borlotti**, for the colour
2. *Cherokee Trail of Tears*, for the story
3. Blauhilde, for the neighbours

> A bean is a promise with a coat on.

[The other four are on the blog](https://blog.example.org/beans)
"""

person = _person


@dataclass
class Dashboard:
    url: str
    draft: str = ""
    scheduled: str = ""
    sent: str = ""
    failed: str = ""
    hook: str = ""
    reader: str = ""
    member: str = ""


@pytest.fixture
def dashboard(
    http: Any, ses: Any, blog: Any, configure: Any, person: Any, media_bucket: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Dashboard]:
    import app

    monkeypatch.setattr(links, "visit", links.recall)  # the campaign links to another host
    server = Server(Gateway(app.app).handle, 0)
    url = f"http://127.0.0.1:{server.port}"
    configure(
        SITE_URL=url,
        ALLOWED_ORIGINS=url,
        SITE_NAME="The Slow Garden",
        DISABLE_AUTH="true",
        GNA_LOCAL="true",
        FEED_URL=blog.url,
        POSTAL_ADDRESS="1 Orchard Lane",
        MEMBERS="invite",
    )
    receiver = Receiver()
    dashboard = Dashboard(url)
    _fill(dashboard, person, blog, receiver)
    server.start()
    yield dashboard
    server.stop()
    receiver.stop()


def _fill(dashboard: Dashboard, person: Any, blog: Any, receiver: Receiver) -> None:
    _crowd(random.Random(7))
    for number in range(5):
        person(f"new{number}@example.org", _NAMES.split()[number], days_ago=0.1, pending=True)
    dashboard.reader = person("reader44@example.org", "Noor", "seed-swap", ("garden",), days_ago=88)
    for subject in ("What the frost left standing", "A bench, finally"):
        blog.publish(subject)
    feeds.check(Trigger.SCHEDULE)
    feeds.check(Trigger.SCHEDULE)
    dashboard.draft = service.create(
        Draft("Seven beans worth the string", _BODY, preheader="In order", format=Format.MARKDOWN)
    ).campaign.id
    for number, (old, new) in enumerate((("lose them", "lose any of them"), ("Blauhilde", "Blue Lake"))):
        body = service.view(dashboard.draft).content.body.replace(old, new)
        service.update(dashboard.draft, {}, {"body": body}, saver=Saver(f"editor{number}@example.org", autosave=True))
    dashboard.scheduled = service.create(Draft("The bench, one year on", "<p>It has been sat on.</p>")).campaign.id
    service.schedule(dashboard.scheduled, clock.text(clock.now() + timedelta(days=7)), "Europe/Berlin")
    dashboard.sent = _finished("What to do in the garden when it rains", Counts(40, 40, 0, 0))
    dashboard.failed = _finished(
        "Seed swap on Saturday", Counts(40, 36, 1, 3), "3 emails may or may not have been sent"
    )
    bounces.record_refusal(dashboard.reader, dashboard.failed, "MessageRejected")
    dashboard.hook = webhooks.add(NewWebhook(url=receiver.url, description="Ledger of the seed bank")).webhook.id
    webhooks.test(dashboard.hook)
    dashboard.member = _members()


def _members() -> str:
    """Three with an account, one of whom shares what they saw, and two who are invited."""
    joined = [_join(f"{name}@example.org", verified=name != "elif") for name in ("chidi", "elif", "greta")]
    seen = [
        ("Kingfisher", "The weir below the mill", "Greta"),
        ("Roe deer", "", "G. from the mill"),
        ("Barn owl", "", ""),
    ]
    for animal, shown, credit in seen:
        sighting = sightings.create(joined[-1].id, animal, "4 Orchard Lane").sighting
        sightings.share(joined[-1], sighting.id, shown, credit)
    for name in ("hugo", "ines"):
        invitations.invite(f"{name}@example.org")
    return joined[0].wire_id


def _join(email: str, verified: bool) -> Member:
    now = clock.now()
    member = Member(ids.new(), email, now, verified_at=now if verified else None, last_login_at=now)
    tables.transact(emails.claim_write(member), *members.create_writes(member, "no hash"))
    return member


def _crowd(chance: random.Random) -> None:
    """Thirty-nine who joined over the last ninety days; written straight into the tables, which is faster."""
    rows, days = [], Counter[str]()
    for number in range(39):
        at = clock.now() - timedelta(days=90 * chance.random() ** 2)
        tags = {"tags": {"garden"}} if number % 3 else {}
        days[at.date().isoformat()] += 1
        rows.append(
            {
                "id": ids.new(),
                "email": f"reader{number}@example.org",
                "nickname": chance.choice(_NAMES.split()),
                "status": "activated",
                "unsubscribe_secret": ids.secret(),
                "created_at": clock.text(at),
                "activated_at": clock.text(at),
                "sources": {chance.choice(("blog", "footer", "seed-swap"))},
                **tags,
            }
        )
    crowd.write("subscribers", rows)
    counts = [
        {"kind": "subscribers", "slot": f"{day}#0", "joined": joined, "left": 0} for day, joined in days.items()
    ]
    crowd.write("census", counts)


def _finished(subject: str, counts: Counts, detail: str | None = None) -> str:
    sent = service.send_now(service.create(Draft(subject, "<p>Mostly: nothing.</p>")).campaign.id)
    deliveries.finish(sent.deliveries[0], counts, detail)
    return sent.campaign.id


@pytest.fixture
def look(browser: Browser, dashboard: Dashboard) -> Iterator[Callable[..., Page]]:
    opened: list[Watched] = []

    def open_page(phone: bool = False, dark: bool = False, script: bool = True, refused: bool = False) -> Page:
        context = browser.new_context(
            base_url=dashboard.url,
            viewport={"width": 390, "height": 800} if phone else {"width": 1280, "height": 860},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            timezone_id="Europe/Berlin",
        )
        context.set_default_timeout(10_000)
        opened.append(Watched(context.new_page(), refused))
        return opened[-1].page

    yield open_page
    for watched in opened:
        watched.page.context.close()
        assert watched.complaints == []
        assert watched.hosts <= {dashboard.url.removeprefix("http://"), "data"}

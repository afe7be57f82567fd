"""No page is larger than 60 KB, whatever valid input it shows: the longest texts, in characters that take five bytes
in HTML or twelve in a URL."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from PIL import Image

from chalicelib.audience.stores import counts
from chalicelib.audience.tags import service as tags
from chalicelib.audience.tags import store as tag_store
from chalicelib.audience.tags.model import Action, Change, Job
from chalicelib.audience.tags.model import State as JobState
from chalicelib.bounces import service as bounces
from chalicelib.bounces.model import Tally
from chalicelib.bounces.tally_store import TallyRow
from chalicelib.campaigns import fields, segments, service
from chalicelib.campaigns.model import Counts, Targeting, Terms
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.events.webhooks import model as webhook_model
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.events.webhooks.model import Attempt, NewWebhook, Result
from chalicelib.feeds import service as feeds
from chalicelib.feeds import store as feed_store
from chalicelib.feeds.state import WATCHED, Check, Trigger
from chalicelib.feeds.state import Result as Found
from chalicelib.kernel import addresses, clock, ids
from chalicelib.kernel.aws import raw, tables
from chalicelib.media import library
from chalicelib.media import service as media
from tests.rooms.campaigns import crowd
from tests.rooms.media.pictures import encode

LARGEST = 60 * 1024

_AMP = "&"  # five bytes in a page, three in a URL
_OLD = "\U00010330"  # four bytes in a page, twelve in a URL
_ADDRESS = f"{_AMP * 60}%03d@{_OLD * 12}.{'x' * 60}.{'y' * 50}.example.net"
_SUBJECT = _AMP * fields.LONGEST_LINE
_WORDS = tuple(f"{number:02}{_OLD * 62}" for number in range(fields.MOST_WORDS))
_TARGETING = Targeting(Terms(_WORDS, _WORDS, _WORDS), Terms(_WORDS, _WORDS, _WORDS))


@pytest.fixture
def people(dashboard):
    """Five pages of subscribers, each with the longest valid values; the first has the most tags possible."""
    addresses.parse(_ADDRESS % 0)
    words = {_OLD * 64, f"{_AMP * 64}"}
    every = {f"{number:03}{_AMP * 61}" for number in range(200)}
    now = clock.text(clock.now())
    rows = [
        {
            "id": ids.new(),
            "email": _ADDRESS % number,
            "nickname": _AMP * 50,
            "status": "activated",
            "unsubscribe_secret": "s" * 32,
            "created_at": now,
            "activated_at": now,
            "sources": words,
            "tags": words if number else every,
        }
        for number in range(401)
    ]
    crowd.write("subscribers", rows)
    tables.transact(counts.count_write(clock.now().date(), joined=len(rows)))
    return [row["id"] for row in rows]


def _bounced(person):
    bounces.record_refusal(person, ids.new(), "R" * 60)
    _copied("bounces", lambda row, number: row | {"key": {"S": f"{row['key']['S']}{number}"}}, 101)


def _campaigns():
    """Three hundred: scheduled, held back, and failed; and one draft with the longest valid values."""
    for number in range(3):
        made = service.create(Draft(_SUBJECT, "<p>x</p>")).campaign.id
        if number == 0:
            sent = service.send_now(made)
            deliveries.finish(sent.deliveries[0], Counts(10**9, 10**9 - 2, 10**8, 10**8), "x" * 500)
            numbers = dict.fromkeys(Tally.__struct_fields__, 10**8 - 1)
            tables.put(TallyRow("tallies", f"{sent.deliveries[0].id}/0", **numbers))
            continue
        service.schedule(made, "2030-01-01T09:00", "America/Argentina/ComodRivadavia")
        if number == 1:
            service.start_due(clock.parse("2030-01-02T00:00:00Z"))  # far too late: it is held back
    _copied("campaigns", lambda row, number: row | {"id": {"S": ids.new()}}, 101)
    draft = Draft(_SUBJECT, _AMP * fields.LARGEST_BODY, _AMP * fields.LARGEST_TEXT, _SUBJECT, targeting=_TARGETING)
    return service.create(draft).campaign.id


def _segments():
    """As many as there can be, with the longest valid values, and the longest change of tags."""
    made = [segments.create(f"{number:02}{_AMP * 62}", _TARGETING) for number in range(segments.MOST)]
    change = Change(Action.MERGE, _WORDS, _OLD * 64)
    for _ in range(tags.RECENT):
        job = Job(ids.new(), change, clock.now(), 10**9)
        tables.transact(*tag_store.create_writes(job))
        tables.transact(*tag_store.end_writes(replace(job, state=JobState.FAILED, changed=10**9, error="x" * 200)))
    return made[0].id


def _copied(table, changed, times):
    """Copies every row: making many rows is slow, copying them is not."""
    found = raw.dynamodb("Scan", {"TableName": tables.name(table)})["Items"]
    for row in (item for item in found if item.get("shelf", {}).get("S") != "count"):
        puts = [{"PutRequest": {"Item": changed(row, number)}} for number in range(times)]
        for first in range(0, times, 25):
            raw.dynamodb("BatchWriteItem", {"RequestItems": {tables.name(table): puts[first : first + 25]}})


def _fed(blog):
    """Thirty long entries and fifty checks, all different."""
    link = f"{blog.url}/?{_AMP * 1900}"
    item = f"<title>{'&amp;' * 300}</title><link>{link.replace('&', '&amp;')}</link>"
    items = "".join(
        f"<item>{item}<guid>{n}</guid><description>{'&amp;' * 900}</description></item>" for n in range(30)
    )
    blog.answer = (
        200,
        {},
        f'<rss version="2.0"><channel><title>{"&amp;" * 300}</title>{items}</channel></rss>'.encode(),
    )
    assert feeds.check(Trigger.ADMIN).result is Found.FIRST
    for number in range(50):
        state = feed_store.find_state(WATCHED)
        at = clock.now() - timedelta(minutes=number)
        said = Check(at, Trigger.WEBHOOK, Found.DRAFTED, f"{number} " + "x" * 300, 1, 1, ids.new())
        tables.transact(feed_store.state_write(state, state.changed()), feed_store.check_write(WATCHED, said))


def _hooked(configure):
    configure(GNA_LOCAL="true")
    url = "http://127.0.0.1:1099/" + _AMP * 2000
    made = [webhooks.add(NewWebhook(url=url, description=_AMP * 200)).webhook.id for _ in range(webhook_model.MOST)]
    for number in range(60):
        result = Result(False, 599, "x" * 200, 99_999)
        webhook_store.add_attempt(
            made[0], Attempt(ids.new(), ids.new(), "CAMPAIGN_PUBLISHED", clock.text(clock.now()), number + 2, result)
        )
    return made[0]


@pytest.mark.slow
def test_no_page_is_too_large_whatever_it_shows(dashboard, people, blog, configure):
    _bounced(people[-1])
    draft, hook = _campaigns(), _hooked(configure)
    segment = _segments()
    _fed(blog)
    short, sent = (service.create(Draft(_SUBJECT, "<p>x</p>", targeting=_TARGETING)) for _ in range(2))
    service.send_now(sent.campaign.id)
    filter = f"q={'%26' * 50}&source={'%F0%90%8C%B0' * 64}&tag={'%F0%90%8C%B0' * 64}&status=activated&per_page=100"
    pages = [
        "/admin",
        "/admin/subscribers?per_page=100",
        f"/admin/subscribers?{filter}&page=3",
        f"/admin/subscribers/{people[0]}",
        "/admin/do-not-contact",
        "/admin/campaigns?per_page=100",
        *(f"/admin/campaigns?per_page=100&state={state}" for state in ("draft", "scheduled", "published")),
        "/admin/campaigns/results",
        "/admin/campaigns/new",
        "/admin/segments",
        *(f"/admin/segments?{act}={segment}" for act in ("edit", "delete")),
        f"/admin/campaigns/new?segment={segment}",
        f"/admin/campaigns/{draft}",
        f"/admin/campaigns/{short.campaign.id}/review",
        f"/admin/campaigns/{short.campaign.id}/send",
        f"/admin/campaigns/{draft}/delete",
        f"/admin/campaigns/{sent.campaign.id}",
        "/admin/bounces?per_page=100",
        "/admin/feed",
        "/admin/webhooks",
        f"/admin/webhooks/{hook}",
        f"/admin/webhooks/{hook}/remove",
        "/admin/settings",
        *(f"/admin/api?about={title}" for title in ("Campaigns", "Subscribers", "Inbox", "Following", "Pictures")),
    ]
    found = {path: (answer.status, len(answer.body)) for path in pages for answer in [dashboard.get(path)]}
    answer = dashboard.post("/admin/subscribers/selection", id=people[:100])
    found["selection"] = (answer.status, len(answer.body))
    assert {status for status, _ in found.values()} == {200}, found
    assert {path: size for path, (_, size) in found.items() if size > LARGEST} == {}, found


def test_the_page_of_pictures_is_not_too_large(dashboard, media_bucket):
    made = [library.receive(encode(Image.new("RGB", (60 + n, 40), "teal"))).kept for n in range(21)]
    body = "".join(f'<img src="{media.copy_url(kept.copy.name)}" alt="x">' for kept in made)
    for _ in range(6):
        service.create(Draft(_SUBJECT, body))
    answer = dashboard.get("/admin/media")
    assert answer.text.count("more uses") == 20
    assert len(answer.body) < LARGEST


def test_refused_input_is_shown_again_but_not_a_megabyte_of_it(dashboard, person):
    draft = service.create(Draft("Beans", "<p>x</p>")).campaign.id
    long = "&" * 200_000
    for path, fields_ in (
        ("/admin/do-not-contact", {"email": long}),
        ("/admin/webhooks", {"url": long, "description": long}),
        (f"/admin/campaigns/{draft}/test", {"email": long}),
        (f"/admin/subscribers/{person('ada@example.net')}", {"nickname": long, "tags": long}),
        (f"/admin/campaigns/{draft}/schedule", {"scheduled_at": long, "time_zone": long}),
    ):
        answer = dashboard.post(path, **fields_)
        assert answer.status == 400
        assert len(answer.body) <= LARGEST, path

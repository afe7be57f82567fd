"""Days of joining: where they begin, who is meant, and that the table is asked for the same people as `Rule` is."""

import json
import re
from datetime import UTC, date, datetime, timedelta

import pytest

from chalicelib.audience import recipients, survey
from chalicelib.audience.matching import Rule
from chalicelib.campaigns import service, store
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.campaigns.service import Draft
from chalicelib.campaigns.targeting import MOST_WORDS_IN_ALL
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw, tables
from tests.rooms.campaigns.crowd import gather

DAY = date(2026, 3, 29)


@pytest.mark.parametrize(
    ("zone", "day", "begins"),
    [
        ("UTC", DAY, "2026-03-29T00:00:00.000Z"),
        ("Europe/Berlin", DAY, "2026-03-28T23:00:00.000Z"),  # summer time begins at two
        ("Europe/Berlin", date(2026, 3, 30), "2026-03-29T22:00:00.000Z"),
        ("Asia/Beirut", DAY, "2026-03-28T22:00:00.000Z"),  # midnight is skipped
        ("America/Havana", date(2026, 11, 1), "2026-11-01T04:00:00.000Z"),  # midnight comes twice
        ("Pacific/Apia", date(2011, 12, 30), "2011-12-30T10:00:00.000Z"),  # the whole day is skipped
        ("Pacific/Apia", date(2011, 12, 31), "2011-12-30T10:00:00.000Z"),
        ("Pacific/Kiritimati", date(1970, 1, 1), "1970-01-01T10:40:00.000Z"),
        ("Europe/Berlin", date(1970, 1, 1), "1969-12-31T23:00:00.000Z"),
        ("Pacific/Pago_Pago", date(2999, 12, 31), "2999-12-31T11:00:00.000Z"),
        ("Mars/Olympus", DAY, "2026-03-29T00:00:00.000Z"),
    ],
)
def test_where_a_day_begins(zone: str, day: date, begins: str) -> None:
    resolved = Targeting(joined_after=day, joined_before=day).resolve(zone)
    assert resolved.joined_from == resolved.joined_until == clock.parse(begins)
    assert resolved.joined_from
    assert clock.text(resolved.joined_from) == begins


NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)


def _join(at: datetime, imported_from: datetime | None = None, **more: object) -> str:
    """Somebody who confirmed then; with `imported_from`, of an import that says since when they read."""
    if imported_from:
        more |= {"import_id": ids.new(), "created_at": clock.text(imported_from)}
    (id,) = gather(1, activated_at=at, **more)
    return id


def test_who_joined_between_two_days(aws: None) -> None:
    begins = datetime(2026, 3, 29, tzinfo=UTC)
    people = {
        "before": _join(begins - timedelta(milliseconds=1)),
        "first": _join(begins),
        "signed up earlier": _join(NOON, created_at="2026-03-28T23:00:00.000Z"),
        "last": _join(begins + timedelta(days=1, milliseconds=-1)),
        "after": _join(begins + timedelta(days=1)),
        "imported": _join(begins + timedelta(days=90), NOON),
        "imported on the day, reader for years": _join(NOON, begins - timedelta(days=900)),
    }
    aim = Targeting(joined_after=DAY, joined_before=date(2026, 3, 30)).resolve("UTC")
    (page,) = [found for found, _ in recipients.pages((0, 1), None, aim, clock.now() + timedelta(days=900), 100)]
    names = {id: name for name, id in people.items()}
    assert {names[person.id] for person in page} == {"first", "signed up earlier", "last", "imported"}


AIMS = [
    Targeting(),
    Targeting(joined_after=DAY),
    Targeting(joined_before=DAY),
    Targeting(joined_after=DAY, joined_before=date(2026, 4, 2)),
    Targeting(sources=Terms(any=("blog", "shop")), joined_after=DAY),
    Targeting(tags=Terms(all=("a", "b"), none=("x",)), joined_before=date(2026, 4, 1)),
    Targeting(sources=Terms(none=("blog",)), tags=Terms(any=("a",))),
]


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Asia/Beirut"])
def test_the_table_is_asked_for_the_same_people_in_every_way(aws: None, zone: str) -> None:
    ids_of_all = []
    for number in range(60):
        at = NOON + timedelta(hours=7 * (number % 20 - 10))
        words = {"sources": {("blog", "shop", "fair")[number % 3]}}
        tags = {tag for bit, tag in enumerate(("a", "b", "x")) if number >> bit & 1}
        words |= {"tags": tags} if tags else {}
        imported = at - timedelta(hours=number % 80) if number % 4 == 0 else None
        ids_of_all.append(_join(at, imported, **words, **({"paused_at": clock.text(at)} if number % 7 == 3 else {})))
    known = recipients.look_up(ids_of_all)
    aims = [aim.resolve(zone) for aim in AIMS]
    expected = [
        sum(recipients.reaches(aim, person) for person in known.values() if not person.paused_at) for aim in aims
    ]
    assert [recipients.count(aim, clock.now() + timedelta(days=900)) for aim in aims] == expected
    taken = survey.take(aims)
    assert list(taken.reached) == expected
    assert taken.tags["a"] == sum("a" in person.tags for person in known.values())
    assert all(0 < count < 60 for count in expected)


def test_a_stored_campaign_without_days_reads_as_before(aws: None) -> None:
    made = service.create(Draft("Hello", "<p>Hi</p>", targeting=Targeting(tags=Terms(any=("vip",)))))
    row = tables.get(store.CampaignRow, "campaign", made.campaign.id)
    assert row
    assert set(json.loads(row.targeting or "")) == {"sources", "tags"}
    update = {
        "TableName": tables.name("campaigns"),
        "Key": {"shelf": {"S": "campaign"}, "id": {"S": made.campaign.id}},
        "UpdateExpression": "SET aim = :aim",
        "ExpressionAttributeValues": {":aim": {"S": '{"tags": {"any": ["vip"], "all": [], "none": []}}'}},
    }
    raw.dynamodb("UpdateItem", update)
    assert service.view(made.campaign.id).campaign.targeting == Targeting(tags=Terms(any=("vip",)))


@pytest.mark.parametrize("match", ["any", "all", "none"])
def test_the_most_words_fit_into_a_filter_of_dynamodb(aws: None, monkeypatch: pytest.MonkeyPatch, match: str) -> None:
    """4 KB and 300 operators, which moto does not mind."""
    terms = Terms(**{match: tuple(f"{number:064}" for number in range(MOST_WORDS_IN_ALL // 2))})
    aim = Targeting(terms, terms, joined_after=DAY, joined_before=date(2999, 12, 31)).resolve("Europe/Berlin")
    asked = []
    monkeypatch.setattr(raw, "dynamodb", lambda _, scan: asked.append(scan["FilterExpression"]) or {"Count": 0})
    recipients.count(aim, clock.now())
    assert len(asked[0].encode()) < 4096
    assert len(re.findall(r"<=|>=|[<=]|\b(?:AND|OR|NOT|contains|attribute_\w+)\b", asked[0])) <= 300


def test_days_are_stored_and_read(aws: None) -> None:
    aim = Targeting(joined_after=DAY, joined_before=date(2999, 12, 31))
    made = service.create(Draft("Hello", "<p>Hi</p>", targeting=aim))
    assert service.view(made.campaign.id).campaign.targeting == aim
    assert not Rule(aim.resolve("UTC")).has_joined("2026-03-28T23:59:59.999Z")

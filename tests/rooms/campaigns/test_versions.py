"""The versions of a campaign: what makes one, what is kept of it, and how it comes back."""

import random
import zlib
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.campaigns import content_store, history, service, store, versions
from chalicelib.campaigns.history import Saver
from chalicelib.campaigns.model import Content, Format, State, Targeting, Terms
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Conflict, NotFound
from tests.conftest import received
from tests.rooms.campaigns.api import API, UNKNOWN, created, in_state
from tests.rooms.campaigns.examples import soon

pytestmark = pytest.mark.usefixtures("aws")

ADA, BEN = Saver("ada@example.org", autosave=True), Saver("ben@example.org", autosave=True)


@pytest.fixture
def pass_time(monkeypatch):
    real, passed = clock.now, timedelta()

    def move(**time: float) -> None:
        nonlocal passed
        passed += timedelta(**time)
        monkeypatch.setattr(clock, "now", lambda: real() + passed)

    return move


def save(id: str, body: str, saver: Saver = ADA, **edits: Any) -> int:
    return service.update(id, edits, {"body": body}, saver=saver).campaign.version


def bodies(id: str) -> list[str]:
    """Of every version, newest first."""
    found = versions.list_versions(id)
    return [versions.read(found, one).detail.content.body for one in found.items]


def numbers(id: str) -> list[int]:
    return [one.saved.number for one in versions.list_versions(id).items]


def rows() -> list[str]:
    return sorted(row.id for row in tables.scan(content_store.ContentRow))


@pytest.fixture
def id() -> str:
    return service.create(Draft("Hello", "<p>1</p>"), by="ada@example.org").campaign.id


def test_every_save_by_hand_is_a_version(id):
    for number in (2, 3):
        assert save(id, f"<p>{number}</p>", Saver("ada@example.org")) == number
    assert numbers(id) == [3, 2, 1]
    assert bodies(id) == ["<p>3</p>", "<p>2</p>", "<p>1</p>"]


def test_autosaves_of_one_editor_within_ten_minutes_are_one_version(id, pass_time):
    for number in range(2, 6):
        save(id, f"<p>{number}</p>")
        pass_time(minutes=2)
    assert (numbers(id), bodies(id)) == ([5, 1], ["<p>5</p>", "<p>1</p>"])
    pass_time(minutes=3)
    save(id, "<p>6</p>")
    assert (numbers(id), bodies(id)) == ([6, 5, 1], ["<p>6</p>", "<p>5</p>", "<p>1</p>"])


def test_the_ten_minutes_begin_with_the_version_not_with_the_last_save(id, pass_time):
    for number in range(2, 14):
        save(id, f"<p>{number}</p>")
        pass_time(seconds=61)
    assert numbers(id) == [13, 11, 1]


def test_autosaves_of_two_editors_are_apart(id):
    for saver, text in ((ADA, "a"), (BEN, "b"), (BEN, "bb"), (ADA, "aa")):
        save(id, text, saver)
    assert bodies(id) == ["aa", "bb", "a", "<p>1</p>"]
    assert [one.saved.by[:3] for one in versions.list_versions(id).items] == ["ada", "ben", "ada", "ada"]


def test_an_autosave_never_overwrites_what_was_saved_by_hand(id):
    save(id, "a", Saver("ada@example.org"))
    save(id, "b")
    save(id, "c", Saver("ada@example.org"))
    assert bodies(id) == ["c", "b", "a", "<p>1</p>"]


def test_what_is_the_same_is_not_written(id):
    assert save(id, "<p>2</p>") == 2
    before = store.find_detail(id)
    assert save(id, "<p>2</p>", subject="Hello") == 2
    assert save(id, "<p>2</p>", Saver("ben@example.org"), preheader="") == 2
    assert service.update(id, {"hidden": False}, {}).campaign.version == 2
    assert store.find_detail(id) == before


def test_a_schedule_makes_no_version_and_the_content_keeps_its_number(id):
    save(id, "<p>2</p>")
    assert service.schedule(id, soon()).campaign.version == 3
    service.cancel(id)
    service.hide(id, hidden=True)
    assert (numbers(id), service.view(id).campaign.version) == ([2, 1], 5)
    save(id, "<p>6</p>", Saver("ada@example.org"))
    assert numbers(id) == [6, 2, 1]
    for number in (2, 3, 4, 5):
        assert versions.view(id, number).detail.content.body == "<p>2</p>"
    with pytest.raises(NotFound):
        versions.view(id, 7)


def test_numbers_within_a_version_are_none(id):
    for text in ("a", "b", "c"):
        save(id, text)
    with pytest.raises(NotFound):
        versions.view(id, 2)
    assert versions.view(id, 4).detail.content.body == "c"


def test_there_are_never_more_than_fifty(id):
    for number in range(2, 63):
        save(id, f"<p>{number}</p>", Saver("ada@example.org"))
    assert numbers(id) == list(range(62, 12, -1))
    assert bodies(id) == [f"<p>{number}</p>" for number in range(62, 12, -1)]
    assert len(rows()) == history.MOST


def test_after_thirty_days_they_are_gone_whatever_the_table_still_has(id, pass_time):
    save(id, "<p>2</p>")
    pass_time(days=1)
    save(id, "<p>3</p>")
    pass_time(days=29, minutes=1)
    assert numbers(id) == [3, 2]
    for number, readable in ((1, False), (2, True)):
        if readable:
            versions.view(id, number)
        else:
            with pytest.raises(NotFound):
                versions.view(id, number)
            with pytest.raises(NotFound):
                versions.restore(id, number)
    pass_time(days=400)
    assert numbers(id) == [3]
    [old] = [row for row in tables.scan(content_store.ContentRow) if row.id == f"{id}/v/0"]
    assert old.expires_at < clock.now().timestamp()
    assert [row.id for row in tables.scan(content_store.ContentRow) if row.expires_at is None] == [id]


def test_everything_that_was_composed_comes_back(id):
    targeting = Targeting(tags=Terms(any=("vip",)))
    fields = {"subject": "One", "preheader": "Psst", "targeting": targeting, "design": "letter"}
    service.update(id, fields, {"body": "Hi *you*", "text": "Hi"}, saver=ADA)
    first = service.update(id, {"format": Format.MARKDOWN}, {}, saver=BEN)
    service.update(id, {"subject": "Two", "preheader": "", "targeting": Targeting()}, {"body": "x", "text": None})
    restored = versions.restore(id, first.campaign.version, "ben@example.org")
    for name in ("subject", "preheader", "targeting", "format", "design"):
        assert getattr(restored.campaign, name) == getattr(first.campaign, name), name
    assert restored.content == first.content == Content("Hi *you*", "Hi")
    assert restored.campaign.version == 5
    [current, before, *_] = versions.list_versions(id).items
    assert (current.saved.by, current.saved.autosave, before.summary.subject) == ("ben@example.org", False, "Two")


def test_bringing_back_what_it_is_changes_nothing(id):
    save(id, "<p>2</p>")
    before = service.view(id)
    assert versions.restore(id, 2) == before
    versions.restore(id, 1)
    again = versions.restore(id, 1)  # a second click: what it says now is the same
    assert (again.campaign.version, numbers(id)) == (3, [3, 2, 1])


def test_the_oldest_comes_back_although_its_place_is_taken(id):
    for number in range(2, 51):
        save(id, f"<p>{number}</p>", Saver("ada@example.org"))
    assert versions.restore(id, 1).content.body == "<p>1</p>"
    assert numbers(id) == list(range(51, 1, -1))


def test_a_list_that_would_not_fit_beside_the_content_forgets_the_oldest(id):
    noise = random.Random(17)
    for _ in range(49):
        save(
            id,
            "x",
            Saver("ada@example.org"),
            subject="".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(240)),
        )
        save(id, "y", Saver("ada@example.org"))
    large = "".join(noise.choices("0123456789abcdef", k=499_000))
    left = 388_000 - len(zlib.compress(large.encode(), 6))
    text = noise.randbytes(left).hex()[: int(left / 0.58)]
    detail = service.update(id, {}, {"body": large, "text": text})
    assert service.view(id).content == detail.content
    found = versions.list_versions(id)
    assert 1 < len(found.items) < history.MOST
    for one in found.items:
        versions.read(found, one)


def test_a_campaign_from_before_there_were_versions(id):
    row = tables.get(content_store.ContentRow, id)
    row.versions = None
    tables.put(row)
    [only] = versions.list_versions(id).items
    assert (only.saved.number, only.saved.by, only.is_current) == (1, "", True)
    save(id, "<p>2</p>")
    assert (numbers(id), bodies(id)) == ([2, 1], ["<p>2</p>", "<p>1</p>"])


def test_the_history_of_a_deleted_draft_goes_with_it(id):
    for number in range(2, 60):
        save(id, f"<p>{number}</p>", Saver("ada@example.org"))
    other = service.create(Draft("Other", "<p>1</p>")).campaign.id
    save(other, "<p>2</p>")
    service.delete(id)
    assert rows() == sorted([other, f"{other}/v/0"])


def test_what_was_sent_keeps_its_history_but_nothing_comes_back(admin):
    campaign = created(admin)
    url = f"{API}/{campaign['id']}"
    admin.patch(url, json={"subject": "Two"})
    sent = admin.post(f"{url}/send", json={})
    assert [one["version"] for one in admin.get(f"{url}/versions").json["items"]] == [2, 1]
    assert admin.get(f"{url}/versions/1").json["subject"] == "Hello"
    assert admin.get(f"{url}/versions/3").json["subject"] == "Two"
    assert admin.post(f"{url}/versions/1/restore", json={}).status == 409
    assert admin.get(url).json["subject"] == sent.json["subject"] == "Two"


def test_a_scheduled_campaign_stays_scheduled(admin):
    campaign = in_state(admin, "scheduled")
    url = f"{API}/{campaign['id']}"
    admin.patch(url, json={"body": "<p>Two</p>"})
    restored = admin.post(f"{url}/versions/1/restore", json={})
    assert (restored.status, restored.json["state"], restored.json["body"]) == (200, "scheduled", campaign["body"])


def test_a_scheduled_campaign_takes_back_nothing_that_cannot_be_sent(admin):
    url = f"{API}/{created(admin, body='<p>Hi {{first_name}}</p>')['id']}"
    admin.patch(url, json={"body": "<p>Two</p>"})
    admin.post(f"{url}/schedule", json={"scheduled_at": soon()})
    assert admin.post(f"{url}/versions/1/restore", json={}).status == 400
    assert admin.get(url).json["body"] == "<p>Two</p>"


def test_the_list_over_http(admin):
    url = f"{API}/{created(admin, body='<p>Hi you</p><p>and <b>you</b></p>')['id']}"
    admin.patch(url, json={"body": "<p>Two words</p>", "autosave": True, "version": 1})
    [current, first] = admin.get(f"{url}/versions").json["items"]
    assert {**current, "saved_at": ""} == {
        "version": 2,
        "saved_at": "",
        "by": "dev@localhost",
        "autosave": True,
        "subject": "Hello",
        "words": 2,
        "bytes": 16,
        "current": True,
    }
    assert (first["version"], first["words"], first["current"], first["autosave"]) == (1, 4, False, False)
    whole = admin.get(f"{url}/versions/1").json
    assert whole == {
        **first,
        "body": "<p>Hi you</p><p>and <b>you</b></p>",
        "text": None,
        "preheader": "",
        "format": "html",
        "aim": admin.get(url).json["aim"],
        "design": None,
    }


def test_an_autosave_answers_with_the_campaign_but_its_deliveries(admin):
    url = f"{API}/{created(admin)['id']}"
    saved = admin.patch(url, json={"body": "<p onclick='x'>Two</p>", "autosave": True, "version": 1})
    read = admin.get(url).json
    del read["deliveries"]
    assert (saved.status, saved.json) == (200, read | {"removed": saved.json["removed"]})
    assert saved.json["version"] == 2
    assert saved.json["removed"]
    assert "deliveries" in admin.patch(url, json={"body": "<p>Three</p>"}).json


def test_a_stale_save_is_refused_and_loses_nothing(admin):
    url = f"{API}/{created(admin)['id']}"
    admin.patch(url, json={"body": "<p>Mine</p>", "autosave": True, "version": 1})
    for more in ({"autosave": True}, {}):
        late = admin.patch(url, json={"body": "<p>Theirs</p>", "version": 1, **more})
        assert (late.status, late.json) == (409, {"error": "The campaign has changed: reload it and try again"})
    assert admin.get(url).json["body"] == "<p>Mine</p>"
    assert admin.post(f"{url}/versions/1/restore", json={"version": 1}).status == 409
    assert admin.post(f"{url}/versions/1/restore", json={"version": 2}).json["version"] == 3


@pytest.mark.parametrize("state", ["publishing", "published"])
def test_what_is_sent_is_not_saved_any_more(admin, state):
    campaign = in_state(admin, state)
    answer = admin.patch(f"{API}/{campaign['id']}", json={"subject": "Late", "autosave": True})
    assert (answer.status, answer.json["error"]) == (409, "Operation not allowed in current state")
    assert service.view(campaign["id"]).campaign.state is State(state)


def test_an_autosave_of_a_scheduled_campaign_stays_scheduled(admin):
    campaign = in_state(admin, "scheduled")
    url = f"{API}/{campaign['id']}"
    saved = admin.patch(url, json={"subject": "Two", "autosave": True}).json
    assert (saved["state"], saved["scheduled_at"]) == ("scheduled", campaign["scheduled_at"])
    assert admin.get(url).json["deliveries"] == campaign["deliveries"]
    refused = admin.patch(url, json={"body": "Hi {{first_name}}", "autosave": True})
    assert refused.status == 400


BAD = ["0", "3", "-1", "1.0", "x", "9" * 10, "²", "1%2F2"]


def test_versions_there_are_none_of(admin):
    url = f"{API}/{created(admin)['id']}"
    for bad in BAD:
        missing = admin.get(f"{url}/versions/{bad}")
        assert (missing.status, "the last 50 are kept" in missing.json["error"]) == (404, True), bad
        assert admin.post(f"{url}/versions/{bad}/restore", json={}).status == 404, bad
    for nothing in (UNKNOWN, "x"):
        assert admin.get(f"{API}/{nothing}/versions").status == 404
        assert admin.get(f"{API}/{nothing}/versions/1").status == 404
        assert admin.post(f"{API}/{nothing}/versions/1/restore", json={}).status == 404
    assert admin.post(f"{url}/versions/1/restore", json={"version": "x"}).status == 400
    assert admin.patch(url, json={"autosave": "yes"}).status == 400


def test_a_save_sends_no_message_unless_there_is_an_event(admin, configure):
    configure(EVENT_BUS="gna-events", GNA_LOCAL="true")
    campaign = created(admin)
    received("events")
    url = f"{API}/{campaign['id']}"
    admin.patch(url, json={"subject": "Two", "autosave": True})
    admin.patch(url, json={"subject": "Three"})
    assert not received("events")
    admin.patch(url, json={"scheduled_at": soon()})
    assert received("events") == [{"aggregates": [campaign["id"]]}]


def test_of_a_late_save_nothing_is_kept(id, monkeypatch):
    """Somebody else's save is committed between reading and writing: it is decided again, over theirs."""
    find, theirs = store.find_written, iter(["theirs"])

    def find_late(campaign_id: str) -> Any:
        found = find(campaign_id)
        for body in theirs:
            save(id, body, Saver("ben@example.org"))
        return found

    monkeypatch.setattr(store, "find_written", find_late)
    save(id, "mine")
    assert bodies(id) == ["mine", "theirs", "<p>1</p>"]
    with pytest.raises(Conflict):
        service.update(id, {}, {"body": "late"}, 2, ADA)

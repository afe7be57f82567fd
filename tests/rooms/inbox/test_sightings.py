"""Sightings that members share: in the desk's inbox with what was chosen, and out of it and of unsent campaigns when
they take it back."""

import json
import zlib
from datetime import timedelta

import pytest

from chalicelib.campaigns import history, removal, snapshots, versions
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content_store import ContentRow
from chalicelib.events.store import EventRow
from chalicelib.inbox import item_store, offers, recalls, use_store
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK
from chalicelib.kernel import clock
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.errors import Unavailable
from chalicelib.media import copy_store
from chalicelib.media import jobs as media_jobs
from chalicelib.media import service as media
from chalicelib.media.shown_store import ShownRow
from chalicelib.sightings import jobs, service, store
from tests.rooms.inbox.sharing import NOTICE, Editor, is_public, recall_messages, share, work_off_recalls
from tests.rooms.inbox.things import states
from tests.rooms.sightings.person import Person, jpeg, png, prepare_photos


@pytest.fixture
def ada(http, media_bucket, configure):
    configure(MEMBERS="open", DISABLE_AUTH="true")
    return Person(http, "ada")


@pytest.fixture(autouse=True)
def _messages_come_at_once(monkeypatch):
    assert offers._SURELY_COMMITTED > 120, "longer than the functions that send them may take"
    monkeypatch.setattr(offers, "_SURELY_COMMITTED", 0)


@pytest.fixture
def desk(admin, ada):
    return Editor(admin)


def events(type="ITEM_RECEIVED"):
    return [row for row in EventRow.scan() if row.type == type]


# What arrives


def test_what_is_shared_arrives_with_what_was_chosen(ada, desk, still):
    share(ada, "Red Fox", shown_location="Elm Town", credit="A. L.")
    entry = desk.entry()
    now = clock.milliseconds(clock.now())
    assert entry == {
        "id": entry["id"],
        "state": "INBOX",
        "provider": "SIGHTING",
        "content_type": "SIGHTING",
        "title": "Red Fox",
        "creator": "A. L.",
        "canonical_url": "",
        "image_url": None,
        "excerpt": "Elm Town",
        "duration_seconds": None,
        "published_at": None,
        "received_at": now,
        "follow_id": None,
        "note": None,
        "used_in": [],
        "problem": None,
        "available": True,
    }


def test_no_place_and_no_name_are_none(ada, desk):
    share(ada)
    assert (desk.entry()["excerpt"], desk.entry()["creator"]) == (None, None)


def test_it_is_an_event_once(ada, desk):
    seen = share(ada)
    ada.share(seen, credit="Again")
    [event] = events()
    id = desk.entry()["id"]
    assert event.aggregate_id == id
    assert event.payload == {"entry_id": id, "provider": "SIGHTING", "content_type": "SIGHTING"}


def test_the_desk_learns_nothing_else(ada, desk, capsys):
    """In no row, event, message or log line is anything that leads to the member, the place, or the moment."""
    seen = share(ada, photo=jpeg(), shown_location="Town")
    desk.draft(desk.entry()["id"])
    ada.change(seen, animal_name="Vixen")
    ada.withdraw(seen)
    share(ada, "Owl", photo=png())
    (one,) = ada.get("?q=owl").json["items"]
    stored = [
        raw.dynamodb("Scan", {"TableName": tables.name(name)})["Items"] for name in ("inbox", "items", "events")
    ]
    told = json.dumps([stored, recall_messages(), desk.everywhere()]) + "".join(capsys.readouterr())
    assert "Owl" in told
    for hidden in ("Elm Street", ada.id, ada.id.replace("-", ""), "example.net"):
        assert hidden not in told.replace(f'"member_id": "{ada.id}"', "")
    pictures = [row.picture_id for row in ShownRow.scan() if row.id.startswith("shown as")]
    for dated in (seen["id"], one["id"], *pictures):
        # Its first twelve digits are the moment it was made at.
        assert dated.replace("-", "")[:12] not in told.replace("-", "")


def test_sharing_again_changes_what_the_desk_has(ada, desk):
    seen = share(ada, shown_location="Here", credit="Ada")
    before = desk.entry()
    desk.admin.post(f"/admin/api/inbox/{before['id']}/bookmark")
    ada.share(seen, credit="A.")
    (after,) = desk.entries("?state=BOOKMARKED")
    assert (after["id"], after["excerpt"], after["creator"]) == (before["id"], None, "A.")
    assert after["received_at"] == before["received_at"]
    assert len(events()) == 1


def test_what_the_desk_has_dismissed_stays_dismissed(ada, desk):
    seen = share(ada)
    id = desk.entry()["id"]
    desk.admin.delete(f"/admin/api/inbox/{id}")
    ada.share(seen, credit="A.")
    ada.change(seen, animal_name="Vixen")
    assert states() == {id: None}
    ada.withdraw(seen)
    ada.share(seen, credit="Please")
    assert states() == {id: None}
    assert desk.entries() == []
    (found,) = desk.entries("?state=ALL&q=please")
    assert (found["id"], found["state"], found["title"]) == (id, "DISMISSED", "Vixen")
    assert len(events()) == 1


def test_the_item_follows_the_name_and_the_photo(ada, desk):
    seen = share(ada, "Fox", photo=png(), shown_location="Town")
    first = desk.entry()["image_url"]
    seen = ada.change(seen, animal_name="Vixen", location="Elsewhere", upload_id=ada.upload(jpeg())).json
    assert desk.entry()["image_url"] is None, "it is being prepared"
    prepare_photos()
    entry = desk.entry()
    assert (entry["title"], entry["excerpt"]) == ("Vixen", "Town")
    assert entry["image_url"].partition("?")[0] != first.partition("?")[0]
    assert [found["id"] for found in desk.entries("?q=vixen")] == [entry["id"]]
    assert desk.entries("?q=fox") == []
    ada.change(seen, photo=None)
    assert desk.entry()["image_url"] is None


def test_what_the_publication_cannot_see_changes_nothing_there(ada, desk):
    seen = share(ada, "Fox")
    version = ItemRow.get(desk.entry()["id"]).version
    assert ada.change(seen, location="Elsewhere").status == 200
    assert ItemRow.get(desk.entry()["id"]).version == version


def test_the_photo_is_shown_by_a_link_that_is_made_at_each_read_and_never_stored(ada, desk):
    share(ada, photo=jpeg())
    assert "X-Amz-Expires=600" in desk.entry()["image_url"]
    id = desk.entry()["id"]
    assert "X-Amz-Expires=600" in desk.admin.post(f"/admin/api/inbox/{id}/archive").json["image_url"]
    assert desk.admin.get("/admin/api/inbox").headers["Cache-Control"] == "no-store"
    exported = desk.admin.get("/admin/api/inbox/export").text
    assert "X-Amz" not in exported
    for name in ("inbox", "items", "media", "sightings"):
        assert "X-Amz" not in json.dumps(raw.dynamodb("Scan", {"TableName": tables.name(name)})["Items"])


def test_the_list_costs_two_requests_more_with_photos_and_none_without(ada, desk, monkeypatch):
    asked = []
    find = media.find_shown
    monkeypatch.setattr(media, "find_shown", lambda ids: asked.append(list(ids)) or find(ids))
    desk.entries()
    assert asked == []
    for number in range(5):
        share(ada, f"Fox {number}")
    desk.entries()
    assert len(asked) == 1


# Composing


def test_in_a_draft_it_has_a_public_copy_of_its_photo(ada, desk, http):
    share(ada, "Red Fox", photo=jpeg(), shown_location="Elm Town", credit="A. L.")
    assert not [row for row in copy_store.CopyRow.scan() if row.state == "public"]
    made = desk.compose(desk.entry()["id"])
    assert made.status == 201
    (item,) = desk.items(made.json["id"])
    assert (item.title, item.source, item.excerpt, item.kind) == ("Red Fox", "A. L.", "Elm Town", "sighting")
    assert (item.link, item.problems) == ("", [])
    assert made.json["warnings"] == []
    assert is_public(item.picture)
    served = http.get(item.picture.removeprefix("https://news.example.org"))
    assert (served.status, served.headers["Content-Type"]) == (200, "image/jpeg")
    assert "X-Amz" not in made.text


def test_without_a_photo_there_is_no_picture(ada, desk):
    share(ada)
    (item,) = desk.items(desk.draft(desk.entry()["id"]))
    assert item.picture == ""


def test_a_photo_that_is_being_prepared_is_a_warning(ada, desk):
    seen = ada.see(upload_id=ada.upload())
    ada.share(seen)
    id = desk.entry()["id"]
    made = desk.compose(id)
    problem = "Its photo is still being prepared, and is not in the draft"
    assert made.json["warnings"] == [{"id": id, "title": "Red Fox", "used_in": [], "problem": problem}]
    assert desk.items(made.json["id"])[0].picture == ""


def test_one_that_was_used_before_is_a_warning_too(ada, desk, ses):
    share(ada)
    id, campaign = desk.entry()["id"], desk.draft(desk.entry()["id"])
    (warning,) = desk.compose(id).json["warnings"]
    assert warning == {
        "id": id,
        "title": "Red Fox",
        "used_in": [{"campaign_id": campaign, "subject": "Issue 1", "sent_at": None}],
    }
    found = desk.admin.get(f"/admin/api/campaigns/{campaign}/preflight").json
    assert "already_used" in [finding["code"] for finding in found["findings"]]


def test_two_animals_of_one_name_are_not_the_same_title(ada, desk, ses):
    for _ in range(2):
        share(ada, "Great Crested Grebe")
    first, second = [entry["id"] for entry in desk.entries()]
    desk.draft(first)
    found = desk.admin.get(f"/admin/api/campaigns/{desk.draft(second)}/preflight").json
    codes = {finding["code"] for finding in found["findings"]}
    assert not codes & {"similar_title", "incomplete_item", "already_used"}


def test_more_than_ten_photos_at_once_are_refused_and_none_is_public(ada, desk):
    for number in range(11):
        share(ada, f"Fox {number}", photo=png(6 + number))
    ids = [entry["id"] for entry in desk.entries()]
    answer = desk.compose(*ids)
    assert (answer.status, answer.json["error"]) == (
        400,
        "At most 10 sightings with a photo can be added at once",
    )
    assert not [row for row in copy_store.CopyRow.scan() if row.state == "public"]
    assert desk.compose(*ids[:10]).status == 201


def test_nothing_is_public_for_a_campaign_that_cannot_be_added_to(ada, desk):
    share(ada, photo=jpeg())
    made = desk.admin.post("/admin/api/campaigns", json={"subject": "s", "body": "<p>x</p>", "format": "html"}).json
    assert desk.compose(desk.entry()["id"], campaign_id=made["id"]).status == 409
    assert desk.compose(desk.entry()["id"], campaign_id="0" * 32).status == 404
    assert not [row for row in copy_store.CopyRow.scan() if row.state == "public"]


def test_one_photo_in_two_drafts_is_one_copy(ada, desk):
    share(ada, photo=jpeg())
    pictures = {desk.items(desk.draft(desk.entry()["id"]))[0].picture for _ in range(2)}
    assert len(pictures) == 1


def test_a_photo_is_public_no_longer_than_its_drafts(ada, desk, later):
    share(ada, photo=jpeg())
    drafts = [desk.draft(desk.entry()["id"]) for _ in range(2)]
    picture = desk.items(drafts[0])[0].picture
    for id, stays in zip(drafts, (True, False), strict=True):
        assert desk.admin.delete(f"/admin/api/campaigns/{id}").status == 204
        later(hours=26)
        media_jobs.clean_up(lambda: True)
        assert is_public(picture) is stays
    again = desk.draft(desk.entry()["id"])
    assert desk.items(again)[0].picture == picture
    assert is_public(picture)


def test_a_block_that_is_removed_takes_its_photo_along(ada, desk, later):
    share(ada, photo=jpeg())
    id = desk.draft(desk.entry()["id"])
    picture = desk.items(id)[0].picture
    assert desk.admin.patch(f"/admin/api/campaigns/{id}", json={"body": "Hello."}).status == 200
    later(hours=26)
    media_jobs.clean_up(lambda: True)
    assert not is_public(picture)


def test_withdrawn_after_its_draft_was_deleted_the_photo_is_gone_at_once(ada, desk):
    seen = share(ada, photo=jpeg())
    id = desk.draft(desk.entry()["id"])
    picture = desk.items(id)[0].picture
    desk.admin.delete(f"/admin/api/campaigns/{id}")
    assert is_public(picture)
    ada.withdraw(seen)
    assert not is_public(picture)


def test_a_picture_that_an_editor_put_into_another_campaign_stays_there(ada, desk):
    seen = share(ada, photo=jpeg())
    picture = desk.items(desk.draft(desk.entry()["id"]))[0].picture
    draft = {"subject": "Mine", "body": f"![A fox]({picture})", "format": "markdown"}
    assert desk.admin.post("/admin/api/campaigns", json=draft).status == 201
    ada.withdraw(seen)
    assert is_public(picture)


def test_the_same_photo_of_two_sightings_stays_for_the_one_that_is_left(ada, desk):
    content = jpeg()
    one, _ = share(ada, "Fox", photo=content), share(ada, "Owl", photo=content)
    ids = {entry["title"]: entry["id"] for entry in desk.entries()}
    (picture,) = {desk.items(desk.draft(ids[name]))[0].picture for name in ids}
    ada.withdraw(one)
    assert is_public(picture)


def test_what_is_in_a_draft_stays_as_it_was_when_the_sighting_changes(ada, desk):
    seen = share(ada, "Fox", photo=png())
    campaign = desk.draft(desk.entry()["id"])
    (before,) = desk.items(campaign)
    ada.change(seen, animal_name="Vixen", upload_id=ada.upload(jpeg()))
    prepare_photos()
    assert desk.items(campaign) == (before,)
    assert is_public(before.picture)


# Taking it back


def delete(person, seen):
    assert person.delete(seen).status == 204


def withdraw(person, seen):
    assert person.withdraw(seen).status == 204


@pytest.fixture(params=[withdraw, delete])
def take_back(request):
    """Each of the two ways in turn."""
    return request.param


@pytest.mark.parametrize("state", ["inbox", "bookmark", "archive"])
def test_it_leaves_the_desk_whatever_its_state(ada, desk, take_back, state):
    seen = share(ada, photo=jpeg(), credit="A. L.")
    id = desk.entry()["id"]
    if state != "inbox":
        desk.admin.post(f"/admin/api/inbox/{id}/{state}")
    desk.admin.request("PATCH", f"/admin/api/inbox/{id}", json={"note": "Lovely"})
    take_back(ada, seen)
    assert desk.everywhere() == []
    assert states() == {}
    assert item_store.find(id) is None
    assert not [row for row in ShownRow.scan() if row.id.startswith("shown as")]


def test_what_was_dismissed_can_no_longer_be_found(ada, desk, take_back):
    seen = share(ada, "Red Fox")
    id = desk.entry()["id"]
    desk.admin.delete(f"/admin/api/inbox/{id}")
    take_back(ada, seen)
    assert desk.everywhere() == []
    rows = json.dumps(raw.dynamodb("Scan", {"TableName": tables.name("inbox")})["Items"])
    assert "fox" not in rows
    assert states() == ({} if take_back is delete else {id: None})


def test_shared_once_more_it_arrives_anew(ada, desk):
    seen = share(ada)
    first = desk.entry()["id"]
    ada.withdraw(seen)
    ada.share(seen, credit="A.")
    assert (desk.entry()["id"], desk.entry()["creator"]) == (first, "A.")
    assert desk.compose(first).status == 201
    assert len(events()) == 2


def test_it_leaves_drafts_and_the_editor_is_told(ada, desk, take_back):
    seen, other = share(ada, "Fox", photo=jpeg()), share(ada, "Owl")
    ids = {entry["title"]: entry["id"] for entry in desk.entries()}
    campaigns_with_it = [desk.draft(ids["Fox"], ids["Owl"]), desk.draft(ids["Owl"], ids["Fox"])]
    picture = next(item.picture for item in desk.items(campaigns_with_it[0]) if item.picture)
    take_back(ada, seen)
    for id in campaigns_with_it:
        found = desk.campaign(id)
        assert [item.title for item in desk.items(id)] == ["Owl"]
        assert found["body"].startswith("Hello.")
        assert (found["notice"], found["state"]) == (NOTICE, "draft")
    assert not is_public(picture)
    assert not media.find_copies([picture.rpartition("/")[2]])
    assert use_store.find(ids["Fox"]) == use_store.Used(is_withdrawn=True)
    assert other["id"]


def test_a_scheduled_campaign_stays_scheduled_without_it(ada, desk, take_back):
    seen = share(ada)
    id = desk.draft(desk.entry()["id"])
    desk.schedule(id)
    take_back(ada, seen)
    found = desk.campaign(id)
    assert (found["state"], found["notice"]) == ("scheduled", NOTICE)
    assert desk.items(id) == ()


def test_with_nothing_left_it_is_held_back(ada, desk, ses, configure):
    configure(ADMIN_EMAIL="ed@example.org")
    seen = share(ada, "Fox")
    made = desk.compose(desk.entry()["id"]).json
    desk.admin.patch(f"/admin/api/campaigns/{made['id']}", json={"subject": "Issue 2"})
    desk.schedule(made["id"])
    ada.withdraw(seen)
    found = desk.campaign(made["id"])
    assert (found["state"], found["scheduled_at"], found["subject"]) == ("draft", None, "Issue 2")
    assert found["notice"].startswith("Held back: a sighting was withdrawn by the member who shared it")
    assert len(ses.mails(to="ed@example.org")) == 1
    work_off_recalls()
    assert len(ses.mails(to="ed@example.org")) == 1


def test_one_that_was_named_after_it_gets_another_name_and_is_held_back(ada, desk):
    seen, _ = share(ada, "Fox"), share(ada, "Owl")
    ids = {entry["title"]: entry["id"] for entry in desk.entries()}
    named = desk.compose(ids["Fox"], ids["Owl"]).json
    alone = desk.compose(ids["Fox"]).json
    assert named["subject"] == alone["subject"] == "Fox"
    desk.schedule(named["id"])
    ada.withdraw(seen)
    found = desk.campaign(named["id"])
    assert (found["subject"], found["state"]) == ("Owl", "draft")
    assert "Fox" not in json.dumps(found)
    assert desk.campaign(alone["id"])["subject"] == "Untitled"


def test_what_was_sent_stays_with_its_photo(ada, desk, ses, take_back):
    seen = share(ada, photo=jpeg())
    id = desk.entry()["id"]
    sent, draft = desk.draft(id), desk.draft(id)
    (item,) = desk.items(sent)
    assert desk.send(sent).status == 200
    take_back(ada, seen)
    assert desk.items(sent) == (item,)
    assert desk.campaign(sent)["notice"] is None
    assert desk.items(draft) == ()
    assert is_public(item.picture)
    assert use_store.find(id).campaigns == {sent}


def stored_contents():
    """Whatever is in the table, as text."""
    rows = [*tables.scan(ContentRow)]
    packed = [one for row in rows for one in (row.body, row.text, row.campaign, row.versions) if one]
    return " ".join(zlib.decompress(one).decode() for one in packed)


def test_older_versions_lose_it_as_well(ada, desk, take_back):
    seen, _ = share(ada, "Fox"), share(ada, "Owl")
    ids = {entry["title"]: entry["id"] for entry in desk.entries()}
    made = desk.compose(ids["Fox"], ids["Owl"]).json
    url = f"/admin/api/campaigns/{made['id']}"
    without = removal.without(made["body"], [ids["Fox"]])
    for changes in ({"preheader": "Psst"}, {"body": without}, {"subject": "Two"}, {"body": made["body"]}):
        assert desk.admin.patch(url, json=changes).status == 200
    take_back(ada, seen)
    found = desk.admin.get(f"{url}/versions").json["items"]
    assert [(one["version"], one["subject"], one["current"]) for one in found] == [
        (6, "Two", True),
        (4, "Two", False),
    ]
    assert desk.admin.get(f"{url}/versions/4").json["body"] == without
    assert "Fox" not in stored_contents()
    assert versions.list_versions(made["id"]).withdrawn == 3


def test_older_versions_lose_it_although_the_draft_has_not_had_it_for_long(ada, desk, take_back):
    seen = share(ada, "Fox")
    id = desk.draft(desk.entry()["id"])
    url = f"/admin/api/campaigns/{id}"
    assert desk.admin.patch(url, json={"body": "Nothing of it."}).status == 200
    take_back(ada, seen)
    assert [one["version"] for one in desk.admin.get(f"{url}/versions").json["items"]] == [3, 1]
    found = desk.campaign(id)
    assert (found["version"], found["notice"], found["body"]) == (4, None, "Nothing of it.")
    assert "Fox" not in stored_contents()
    assert use_store.find(next(iter(recalled()))) == use_store.Used(is_withdrawn=True)


def test_what_is_still_named_after_it_is_not_kept(ada, desk, take_back):
    seen = share(ada, "Fox")
    made = desk.compose(desk.entry()["id"]).json
    assert made["subject"] == "Fox"
    url = f"/admin/api/campaigns/{made['id']}"
    for changes in ({"body": "Nothing of it."}, {"subject": "Two"}, {"subject": "Fox"}):
        assert desk.admin.patch(url, json=changes).status == 200
    take_back(ada, seen)
    found = desk.campaign(made["id"])
    assert (found["subject"], found["body"], found["notice"]) == (removal.UNTITLED, "Nothing of it.", NOTICE)
    assert "Fox" not in stored_contents()


def test_the_list_of_versions_forgets_the_name_of_one_whose_row_has_expired(ada, desk, take_back, monkeypatch):
    monkeypatch.setattr(history, "KEPT", timedelta(0))
    seen = share(ada, "Fox")
    made = desk.compose(desk.entry()["id"]).json
    changes = {"subject": "Two", "body": "Nothing of it."}
    assert desk.admin.patch(f"/admin/api/campaigns/{made['id']}", json=changes).status == 200
    for row in [row for row in tables.scan(ContentRow) if row.expires_at]:
        tables.delete(row)
    assert "Fox" in stored_contents()
    take_back(ada, seen)
    assert "Fox" not in stored_contents()


def test_many_large_versions_lose_it_in_transactions_that_hold_them(ada, desk, monkeypatch):
    seen = share(ada, "Fox")
    made = desk.compose(desk.entry()["id"]).json
    for number in range(20):
        changed = desk.admin.patch(f"/admin/api/campaigns/{made['id']}", json={"preheader": str(number)})
        assert changed.status == 200
    real, sizes = tables.transact, []

    def transact(*writes):
        sizes.append(sum(isinstance(one.row, ContentRow) for one in writes))
        if sum(map(bool, sizes)) == 2:
            raise Unavailable
        real(*writes)

    with monkeypatch.context() as dying:
        dying.setattr(tables, "transact", transact)
        ada.withdraw(seen)
    found = versions.list_versions(made["id"])
    missing = [one for one in found.items[1:] if snapshots.find(made["id"], one.saved) is None]
    assert (len(missing), max(sizes)) == (removal._TOGETHER, removal._TOGETHER)
    work_off_recalls()
    assert "Fox" not in stored_contents()
    assert [one.is_current for one in versions.list_versions(made["id"]).items] == [True]


def test_older_versions_of_what_was_sent_lose_it(ada, desk, ses, take_back):
    seen = share(ada, "Fox")
    entry = desk.entry()["id"]
    sent, without = desk.draft(entry), desk.draft(entry)
    desk.admin.patch(f"/admin/api/campaigns/{sent}", json={"subject": "Two"})
    desk.admin.patch(f"/admin/api/campaigns/{without}", json={"body": "Nothing of it."})
    for id in (sent, without):
        assert desk.send(id).status == 200
    take_back(ada, seen)
    listed = {id: desk.admin.get(f"/admin/api/campaigns/{id}/versions").json["items"] for id in (sent, without)}
    assert {id: [one["version"] for one in found] for id, found in listed.items()} == {sent: [3, 1], without: [3, 1]}
    assert [item.title for item in desk.items(sent)] == ["Fox"]
    assert desk.campaign(without)["state"] == "publishing"
    assert stored_contents().count("title: Fox") == 1


def test_what_a_crash_left_of_a_deleted_draft_goes_when_it_is_withdrawn(ada, desk, monkeypatch):
    seen = share(ada, "Fox")
    id = desk.draft(desk.entry()["id"])
    desk.admin.patch(f"/admin/api/campaigns/{id}", json={"subject": "Two"})
    with monkeypatch.context() as crashing:
        crashing.setattr(snapshots, "delete_all", lambda *given: None)
        desk.admin.delete(f"/admin/api/campaigns/{id}")
    assert "Fox" in stored_contents()
    ada.withdraw(seen)
    assert stored_contents() == ""


def test_bringing_back_a_version_leaves_out_what_was_withdrawn_meanwhile(ada, desk, monkeypatch):
    seen = share(ada, "Fox")
    id = desk.draft(desk.entry()["id"])
    url = f"/admin/api/campaigns/{id}"
    desk.admin.patch(url, json={"body": "Nothing of it."})
    monkeypatch.setattr(recalls, "recall", lambda _: (_ for _ in ()).throw(Unavailable()))
    ada.withdraw(seen)
    restored = desk.admin.post(f"{url}/versions/2/restore", json={})
    assert (restored.status, restored.json["notice"]) == (200, NOTICE)
    assert restored.json["body"].startswith("Hello.")
    assert desk.items(id) == ()
    monkeypatch.undo()


def recalled():
    return {row.item_id for row in use_store.UseRow.scan() if row.owner == use_store.USES and row.withdrawn}


def test_a_duplicate_of_what_was_sent_leaves_it_out(ada, desk, ses):
    seen = share(ada)
    sent = desk.draft(desk.entry()["id"])
    desk.send(sent)
    ada.withdraw(seen)
    copy = desk.admin.post(f"/admin/api/campaigns/{sent}/duplicate")
    assert copy.status == 201
    assert copy.json["notice"] == NOTICE
    assert desk.items(copy.json["id"]) == ()
    assert copy.json["body"].startswith("Hello.")


def test_nobody_can_put_it_back(ada, desk):
    seen = share(ada)
    id = desk.draft(desk.entry()["id"])
    body = desk.campaign(id)["body"]
    ada.withdraw(seen)
    answer = desk.admin.patch(f"/admin/api/campaigns/{id}", json={"body": body})
    assert (answer.status, answer.json["error"]) == (
        409,
        "A sighting in it was withdrawn by the member who shared it",
    )
    draft = {"subject": "s", "body": body, "format": "markdown"}
    assert desk.admin.post("/admin/api/campaigns", json=draft).status == 409
    assert desk.items(id) == ()


def test_withdrawn_while_it_is_composed_nothing_is_made(ada, desk, monkeypatch):
    seen = share(ada, photo=jpeg())
    create = campaigns.create

    def withdraw_first(*given, **named):
        ada.withdraw(seen)
        return create(*given, **named)

    monkeypatch.setattr(campaigns, "create", withdraw_first)
    answer = desk.compose(desk.entry()["id"])
    assert (answer.status, answer.json["error"]) == (404, "Entry not found")
    assert desk.admin.get("/admin/api/campaigns").json["total"] == 0
    assert not [row for row in copy_store.CopyRow.scan() if row.state == "public"]


def test_withdrawn_while_its_photo_is_copied_nothing_is_public(ada, desk, monkeypatch):
    seen = share(ada, photo=jpeg())
    publish = media.publish_photo

    def withdraw_first(id):
        found = publish(id)
        ada.withdraw(seen)
        return found

    monkeypatch.setattr(media, "publish_photo", withdraw_first)
    assert desk.compose(desk.entry()["id"]).status == 404
    assert not [row for row in copy_store.CopyRow.scan() if row.state == "public"]


def test_one_that_is_withdrawn_is_not_sent_even_before_it_is_taken_out(ada, desk, ses, monkeypatch):
    seen = share(ada)
    id = desk.draft(desk.entry()["id"])
    desk.schedule(id)
    monkeypatch.setattr(recalls, "recall", lambda _: (_ for _ in ()).throw(Unavailable()))
    ada.withdraw(seen)
    answer = desk.send(id)
    assert (answer.status, answer.json["error"]) == (
        409,
        "A sighting in it was withdrawn by the member who shared it",
    )
    assert campaigns.start_due(clock.parse("2030-01-01T00:01:00Z")) == []
    assert desk.campaign(id)["state"] == "scheduled"
    monkeypatch.undo()


def test_after_a_crash_a_message_takes_it_out(ada, desk, monkeypatch):
    seen = share(ada, photo=jpeg())
    id = desk.draft(desk.entry()["id"])
    (item,) = desk.items(id)
    with monkeypatch.context() as dying:
        dying.setattr(offers, "recall", lambda _: (_ for _ in ()).throw(RuntimeError))
        assert ada.withdraw(seen).status == 500
    assert len(desk.items(id)) == 1
    work_off_recalls()
    assert desk.items(id) == ()
    assert desk.campaign(id)["notice"] == NOTICE
    assert not is_public(item.picture)


def test_a_message_about_something_that_is_still_shared_does_nothing(ada, desk):
    share(ada, photo=jpeg())
    id = desk.entry()["id"]
    campaign = desk.draft(id)
    offers.recall_later([id])
    work_off_recalls()
    (item,) = desk.items(campaign)
    assert is_public(item.picture)
    assert desk.campaign(campaign)["notice"] is None


def test_a_campaign_that_is_busy_does_not_keep_anybody_from_withdrawing(ada, desk, monkeypatch):
    seen = share(ada)
    id = desk.draft(desk.entry()["id"])
    with monkeypatch.context() as busy:
        busy.setattr(recalls, "recall", lambda _: (_ for _ in ()).throw(Unavailable()))
        assert ada.withdraw(seen).status == 204
    assert desk.entries() == []
    work_off_recalls()
    assert desk.items(id) == ()


def test_a_notice_that_was_there_stays(ada, desk):
    seen, other = share(ada, "Fox"), share(ada, "Owl")
    id = desk.draft(*(entry["id"] for entry in desk.entries()))
    desk.schedule(id)
    campaigns.start_due(clock.parse("2030-02-01T00:00:00Z"))
    ada.withdraw(seen)
    ada.withdraw(other)
    notice = desk.campaign(id)["notice"]
    assert notice.startswith("Held back: its scheduled time was missed")
    assert notice.count(NOTICE) == 1


# What was shared before


def without_inbox(sighting):
    """As an earlier version left it."""
    (found,) = [row for row in store.SightingRow.scan() if row.shelf]
    id = offers.item_id(service.model.shown_id(found.id))
    for row in (EntryRow(DESK, id), ItemRow(id)):
        row.delete()
    return sighting


def test_what_was_shared_before_there_was_an_inbox_is_made_up_for(ada, desk):
    without_inbox(share(ada, "Fox", photo=jpeg(), credit="A."))
    share(ada, "Owl")
    jobs.clean_up(lambda: True)
    assert {(entry["title"], entry["creator"]) for entry in desk.entries()} == {("Fox", "A."), ("Owl", None)}
    assert len(events()) == 3
    jobs.clean_up(lambda: True)
    assert offers.are_complete()
    assert len(desk.entries()) == 2


def test_once_all_is_made_up_for_nobody_looks_again(ada, monkeypatch):
    share(ada)
    jobs.clean_up(lambda: True)
    assert offers.are_complete()
    monkeypatch.setattr(offers, "find_missing", lambda ids: pytest.fail("looked"))
    jobs.clean_up(lambda: True)


@pytest.mark.parametrize("act", ["change", "withdraw", "delete", "share"])
def test_until_then_everything_can_be_done_with_it(ada, desk, act):
    seen = without_inbox(share(ada, "Fox"))
    done = {
        "change": lambda: ada.change(seen, animal_name="Vixen"),
        "withdraw": lambda: ada.withdraw(seen),
        "delete": lambda: ada.delete(seen),
        "share": lambda: ada.share(seen, credit="A."),
    }[act]()
    assert done.status in (200, 204)
    assert [entry["title"] for entry in desk.entries()] == {"change": ["Vixen"], "share": ["Fox"]}.get(act, [])


def test_without_time_it_goes_on_later(ada, desk):
    without_inbox(share(ada, "Fox"))
    jobs.clean_up(lambda: False)
    assert not offers.are_complete()
    assert desk.entries() == []


def test_the_pages_show_the_photo_by_a_signed_link(ada, desk, admin):
    share(ada, photo=jpeg())
    prepare_photos()
    [entry] = admin.get("/admin/api/inbox").json["items"]
    for path in ("/admin/inbox", f"/admin/inbox/{entry['id']}", f"/admin/inbox/compose?ids={entry['id']}"):
        answer = admin.get(path)
        assert media.origin() in answer.headers["Content-Security-Policy"], path
        assert f'src="{media.origin()}/' in answer.text, path

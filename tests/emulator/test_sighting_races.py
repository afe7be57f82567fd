"""Two things at once to one sighting, one upload, one member: one of them wins, and nothing is left over."""

from collections import Counter

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.events.store import EventRow
from chalicelib.inbox import offers
from chalicelib.inbox import service as inbox
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK
from chalicelib.kernel import ids
from chalicelib.kernel.aws import objects, session
from chalicelib.kernel.errors import Unauthenticated
from chalicelib.media import places
from chalicelib.media import service as media
from chalicelib.media.copy_store import CopyRow
from chalicelib.media.shown_store import ShownRow
from chalicelib.media.store import PictureRow
from chalicelib.members import service as members
from chalicelib.sightings import departures, jobs, model, service, store
from chalicelib.sightings.model import Changes
from chalicelib.sightings.store import SightingRow
from tests.conftest import received
from tests.fixtures.emitters import all_emitters
from tests.rooms.inbox.sharing import Editor
from tests.rooms.sightings.person import Person, has_files

TURNS = range(4)


@pytest.fixture
def ada(http, configure, media_bucket):
    configure(MEMBERS="open")
    session.client("s3")
    return Person(http, "ada")


@pytest.fixture
def media_bucket(emulator):
    """The emulator's own, from the template, or one that is made now."""
    from chalicelib.kernel import settings

    client, name = session.client("s3"), settings.current().media_bucket
    if name not in [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]:
        client.create_bucket(Bucket=name)
    return name


def statuses(answers):
    return sorted(getattr(answer, "status", type(answer).__name__) for answer in answers)


def consistent(person):
    """What must be true after any race: counts, the desk's index, and no picture without a sighting."""
    rows = list(SightingRow.scan(consistent_read=True))
    visible = [row for row in rows if row.owner == person.id]
    deleted = [row for row in rows if row.owner == f"{person.id} deleted"]
    assert len(visible) + len(deleted) == len(rows)
    assert not {row.id for row in visible} & {row.id for row in deleted}
    assert not [row for row in deleted if row.picture_id or row.shelf or row.shared_at]
    pictures = {row.id: row.state for row in PictureRow.scan(consistent_read=True)}
    used = Counter(row.picture_id for row in visible if row.picture_id)
    assert all(count == 1 for count in used.values())
    assert {id for id, state in pictures.items() if state in ("processing", "ready", "refused")} == set(used)
    _check_desk([row for row in visible if row.shelf == "desk"])
    if members.find(person.id):
        assert person.counts() == (len(visible), sum(row.shelf == "desk" for row in visible))
    return visible


def _check_desk(shared):
    """The publication's inbox has what is shared, as it is now, and nothing else; nor has any unsent campaign."""
    wanted = {offers.item_id(model.shown_id(row.id)): row for row in shared}
    items = {row.id: row for row in ItemRow.scan(consistent_read=True)}
    assert set(items) == set(wanted)
    for id, row in wanted.items():
        chosen = (row.animal_name, row.shown_location, row.credit)
        assert (items[id].title, items[id].excerpt, items[id].creator) == chosen
    entries = {row.item_id for row in EntryRow.scan(consistent_read=True) if row.owner == DESK and row.shelf}
    assert entries == set(wanted)
    pictures = {row.id.removeprefix("shown as "): row.picture_id for row in _shown()}
    assert pictures == {id: row.picture_id for id, row in wanted.items() if row.picture_id}
    for campaign in campaigns.list_page(None, 1, 100).items:
        if campaign.state in ("draft", "scheduled"):
            body = campaigns.view(campaign.id).content.body
            assert {item.entry for item in blocks.items(body)} <= set(wanted)


def _shown():
    return [row for row in ShownRow.scan(consistent_read=True) if row.id.startswith("shown as ")]


@pytest.mark.parametrize("turn", TURNS)
def test_of_two_edits_of_one_version_one_is_refused(ada, together, turn):
    seen = ada.see()
    answers = together(*(lambda name=name: ada.change(seen, animal_name=name) for name in ("One", "Two")))
    assert statuses(answers) == [200, 409]
    won = next(answer.json for answer in answers if answer.status == 200)
    assert ada.read(seen) == won
    assert won["updated_at"] > seen["updated_at"]


def test_of_eight_edits_one_wins(ada, together):
    seen = ada.see()
    answers = together(*(lambda n=n: ada.change(seen, location=f"Place {n}") for n in range(8)))
    assert statuses(answers) == [200] + [409] * 7


@pytest.mark.parametrize("turn", TURNS)
def test_an_edit_and_a_deletion(ada, together, turn):
    seen = ada.see()
    edited, deleted = together(lambda: ada.change(seen, animal_name="Edited"), lambda: ada.delete(seen))
    assert deleted.status == 204
    assert edited.status in (200, 404)
    assert consistent(ada) == []
    (row,) = SightingRow.scan(consistent_read=True)
    assert row.animal_name == ("Edited" if edited.status == 200 else seen["animal_name"])


@pytest.mark.parametrize("turn", TURNS)
def test_of_two_deletions_both_find_it_gone_and_it_is_counted_once(ada, together, turn):
    seen, _ = ada.see(), ada.see()
    assert statuses(together(*[lambda: ada.delete(seen)] * 4)) == [204, 404, 404, 404]
    assert len(consistent(ada)) == 1


@pytest.mark.parametrize("turn", TURNS)
def test_of_two_sightings_with_one_upload_one_gets_it(ada, together, turn):
    body = {"animal_name": "Fox", "location": "Park", "upload_id": ada.upload()}
    answers = together(*[lambda: ada.post(json=body)] * 2)
    assert statuses(answers) == [201, 400]
    assert [answer.json for answer in answers if answer.status == 400] == [{"error": "Upload already used"}]
    assert len(consistent(ada)) == 1


@pytest.mark.parametrize("turn", TURNS)
def test_a_form_sent_four_times_at_once_writes_down_one_sighting(ada, together, turn):
    upload_id, form = ada.upload(), ids.new()
    results = together(*[lambda: service.create(ada.id, "Fox", "Park", upload_id, form)] * 4)
    assert len({seen.sighting.id for seen in results}) == 1
    assert ada.counts() == (1, 0)


@pytest.mark.parametrize("turn", TURNS)
def test_a_form_sent_with_and_without_a_photo_at_once_keeps_the_photo(ada, together, work, turn):
    upload_id, form = ada.upload(), ids.new()
    sent = [upload_id, None, upload_id, None]
    results = together(*(lambda id=id: service.create(ada.id, "Fox", "Park", id, form) for id in sent))
    assert len({seen.sighting.id for seen in results}) == 1
    work("media")
    (seen,) = service.list_page(ada.id, 20).items
    assert (seen.sighting.picture_id, seen.photo_state) == (upload_id, "ready")
    assert ada.counts() == (1, 0)


@pytest.mark.parametrize("turn", TURNS)
def test_a_form_sent_twice_at_once_with_a_photo_each_keeps_one(ada, together, work, turn):
    """As a double click without scripts does."""
    uploads, form = [ada.upload(), ada.upload()], ids.new()
    results = together(*(lambda id=id: service.create(ada.id, "Fox", "Park", id, form) for id in uploads))
    assert len({seen.sighting.id for seen in results}) == 1
    work("media")
    (seen,) = service.list_page(ada.id, 20).items
    assert seen.photo_state == "ready"
    (lost,) = {*uploads} - {seen.sighting.picture_id}
    assert media.find_many([lost])[lost].state == "deleted"
    assert not has_files(lost)


@pytest.mark.parametrize("turn", TURNS)
def test_an_upload_attached_by_an_edit_and_by_a_new_sighting(ada, together, turn):
    seen, upload_id = ada.see(), ada.upload()
    body = {"animal_name": "Fox", "location": "Park", "upload_id": upload_id}
    edited, created = together(lambda: ada.change(seen, upload_id=upload_id), lambda: ada.post(json=body))
    assert (edited.status, created.status) in ((200, 400), (400, 201))
    assert ada.read(seen)["updated_at"] > seen["updated_at"] or edited.status == 400
    consistent(ada)


@pytest.mark.parametrize("turn", TURNS)
def test_two_new_photos_for_one_sighting(ada, together, work, turn):
    seen = ada.see(upload_id=ada.upload())
    work("media")
    uploads = [ada.upload(), ada.upload()]
    answers = together(*(lambda id=id: ada.change(seen, upload_id=id) for id in uploads))
    assert statuses(answers) == [200, 409]
    work("media")
    consistent(ada)
    assert ada.read(seen)["photo_state"] == "ready"
    states = Counter(row.state for row in PictureRow.scan(consistent_read=True))
    assert states == {"ready": 1, "deleted": 1, "waiting": 1}  # the one that lost can still be used


@pytest.mark.parametrize("turn", TURNS)
def test_a_new_photo_and_a_deletion_leave_no_file(ada, together, work, turn):
    seen = ada.see(upload_id=ada.upload())
    work("media")
    upload_id = ada.upload()
    changed, deleted = together(lambda: ada.change(seen, upload_id=upload_id), lambda: ada.delete(seen))
    assert deleted.status == 204
    assert changed.status in (200, 404)
    work("media")
    assert consistent(ada) == []
    left = [row.id for row in PictureRow.scan(consistent_read=True) if row.state != "deleted"]
    assert left == ([] if changed.status == 200 else [upload_id])
    for row in PictureRow.scan(consistent_read=True):
        if row.state == "deleted":
            assert not objects.get(places.incoming(row.id), 1)
            assert not objects.get(places.photo(row.id), 1)


@pytest.mark.parametrize("turn", TURNS)
def test_a_photo_that_is_being_prepared_and_a_deletion(ada, together, work, turn):
    seen = ada.see(upload_id=ada.upload())
    _, deleted = together(lambda: work("media"), lambda: ada.delete(seen))
    assert deleted.status == 204
    work("media")
    assert consistent(ada) == []
    (row,) = PictureRow.scan(consistent_read=True)
    assert row.state == "deleted"
    assert not objects.get(places.incoming(row.id), 1)
    assert not objects.get(places.photo(row.id), 1)


@pytest.mark.parametrize("turn", TURNS)
def test_sharing_and_deleting(ada, together, turn):
    seen = ada.see()
    shared, deleted = together(lambda: ada.share(seen, credit="A."), lambda: ada.delete(seen))
    assert deleted.status == 204
    assert shared.status in (200, 404)
    assert consistent(ada) == []
    assert service.list_shared(20).items == ()


@pytest.mark.parametrize("turn", TURNS)
def test_sharing_withdrawing_and_editing_at_once_lose_nothing(ada, together, turn):
    seen = ada.see()
    answers = together(
        lambda: ada.share(seen, credit="One"),
        lambda: ada.share(seen, credit="Two"),
        lambda: ada.withdraw(seen),
        lambda: ada.change(seen, animal_name="Edited"),
    )
    assert statuses(answers) == [200, 200, 200, 204]
    assert ada.read(seen)["animal_name"] == "Edited"
    consistent(ada)


def test_sharing_four_times_at_once_counts_once(ada, together):
    seen = ada.see()
    assert statuses(together(*(lambda n=n: ada.share(seen, credit=str(n)) for n in range(4)))) == [200] * 4
    consistent(ada)
    assert ada.counts() == (1, 1)


@pytest.fixture
def editor(ada, admin, monkeypatch):
    """Messages that make up for a crash come at once, and may come too early."""
    monkeypatch.setattr(offers, "_SURELY_COMMITTED", 0)
    return Editor(admin)


@pytest.mark.parametrize("turn", TURNS)
def test_a_photo_changed_shared_and_withdrawn_at_once(ada, editor, together, work, turn):
    seen = ada.see(upload_id=ada.upload())
    work("media")
    upload_id = ada.upload()
    answers = together(
        lambda: ada.share(seen, credit="One"),
        lambda: ada.change(seen, upload_id=upload_id),
        lambda: ada.withdraw(seen),
    )
    assert statuses(answers) == [200, 200, 204]
    work()
    consistent(ada)


@pytest.mark.parametrize("turn", TURNS)
def test_what_the_desk_does_while_it_is_shared_again_and_withdrawn(ada, editor, together, turn):
    seen = ada.see()
    ada.share(seen)
    id = editor.entry()["id"]
    together(
        lambda: ada.share(seen, credit="Two"),
        lambda: inbox.bookmark(DESK, id),
        lambda: ada.withdraw(seen),
        lambda: inbox.set_note(DESK, id, "Lovely"),
    )
    consistent(ada)


@pytest.mark.parametrize("turn", TURNS)
def test_composed_and_withdrawn_at_once_it_is_in_no_draft(ada, editor, together, work, turn):
    seen = ada.see(upload_id=ada.upload())
    ada.share(seen)
    work("media")
    id, draft = editor.entry()["id"], _draft(editor)
    composed, appended, withdrawn = together(
        lambda: editor.compose(id), lambda: editor.compose(id, campaign_id=draft), lambda: ada.withdraw(seen)
    )
    assert withdrawn.status == 204
    assert composed.status in (201, 404, 503)
    assert appended.status in (200, 404, 503)
    received("feed")  # nobody has died: the messages are not needed
    assert consistent(ada)
    assert [row.id for row in CopyRow.scan(consistent_read=True) if row.state == "public" and row.uses] == []
    assert editor.entries() == []


@pytest.mark.parametrize("turn", TURNS)
def test_sent_and_withdrawn_at_once_it_is_sent_or_taken_out(ada, editor, together, work, ses, turn):
    seen = ada.see()
    ada.share(seen)
    id = _draft(editor)
    editor.compose(editor.entry()["id"], campaign_id=id)
    sent, withdrawn = together(lambda: editor.send(id), lambda: ada.withdraw(seen))
    assert withdrawn.status == 204
    assert sent.status in (200, 409)
    had_it = "Red Fox" in campaigns.view(id).content.body
    work()
    found = campaigns.view(id)
    if found.campaign.state == "draft":
        assert sent.status == 409
        assert "Red Fox" not in found.content.body
        assert found.campaign.notice
    elif "Red Fox" in found.content.body:
        assert had_it
    consistent(ada)


@pytest.mark.parametrize("turn", TURNS)
def test_everything_at_once_leaves_nothing_of_what_is_withdrawn(ada, editor, together, work, ses, turn):
    seen, other = ada.see("Fox", upload_id=ada.upload()), ada.see("Owl", upload_id=ada.upload())
    ada.share(seen), ada.share(other)
    work("media")
    ids = [entry["id"] for entry in editor.entries()]
    drafts = [_draft(editor), _draft(editor)]
    together(
        lambda: ada.withdraw(seen),
        lambda: ada.share(seen, credit="Again"),
        lambda: ada.delete(other),
        lambda: editor.compose(*ids, campaign_id=drafts[0]),
        lambda: editor.compose(*ids, campaign_id=drafts[1]),
        lambda: editor.send(drafts[1]),
    )
    work()
    consistent(ada)


@pytest.mark.parametrize("turn", TURNS)
def test_a_departure_while_a_draft_is_composed(ada, editor, together, work, turn):
    for number in range(20):
        ada.share(ada.see(f"Fox {number}"))
    ids = [entry["id"] for entry in editor.entries()]

    def go():
        members.close(ada.id)
        return departures.forget(ada.id, lambda: True)

    together(go, lambda: editor.compose(*ids[:5]), lambda: editor.compose(*ids[10:]), lambda: editor.compose(ids[7]))
    assert departures.forget(ada.id, lambda: True) is True
    work()
    assert consistent(ada) == []
    assert editor.everywhere() == []


def test_two_clean_ups_make_up_for_what_was_shared_before(ada, editor, together):
    for number in range(12):
        ada.share(ada.see(f"Fox {number}"))
    for row in (*ItemRow.scan(), *(row for row in EntryRow.scan() if row.owner == DESK), *EventRow.scan()):
        row.delete()
    together(*[lambda: jobs.clean_up(lambda: True)] * 3, lambda: ada.see("Owl"))
    jobs.clean_up(lambda: True)
    consistent(ada)
    assert len([row for row in EventRow.scan() if row.type == "ITEM_RECEIVED"]) == 12


def _draft(editor):
    draft = {"subject": "Issue 1", "body": "Hello.", "format": "markdown"}
    return editor.admin.post("/admin/api/campaigns", json=draft).json["id"]


def test_many_new_ones_at_once_are_counted(ada, together):
    answers = together(
        *(lambda n=n: ada.post(json={"animal_name": f"Fox {n}", "location": "Park"}) for n in range(8))
    )
    done = [answer for answer in answers if answer.status == 201]
    assert {answer.status for answer in answers} <= {201, 503}
    assert len(consistent(ada)) == len(done)


@pytest.mark.parametrize("turn", TURNS)
def test_a_departure_and_new_sightings_leave_none_behind(ada, together, turn):
    """Also for requests that had passed the session's check before."""
    ada.see(upload_id=ada.upload())
    uploads = [ada.upload(), ada.upload()]

    def go():
        members.close(ada.id)
        return departures.forget(ada.id, lambda: True)

    *created, gone = together(*(lambda id=id: service.create(ada.id, "Fox", "Park", id) for id in uploads), go)
    assert gone is True
    assert all(isinstance(result, Unauthenticated) or hasattr(result, "sighting") for result in created)
    assert consistent(ada) == []


@pytest.mark.parametrize("turn", TURNS)
def test_a_departure_and_an_edit(ada, together, turn):
    seen = ada.see(upload_id=ada.upload())
    (row,) = SightingRow.scan(consistent_read=True)
    upload_id = ada.upload()
    members.close(ada.id)
    together(
        lambda: service.change(ada.id, row.id, Changes(seen["updated_at"], "Late", upload_id=upload_id)),
        lambda: departures.forget(ada.id, lambda: True),
    )
    assert departures.forget(ada.id, lambda: True) is True
    assert consistent(ada) == []


def test_two_workers_finish_one_departure(ada, together):
    for number in range(30):
        ada.see(f"Fox {number}")
    members.close(ada.id)
    together(*[lambda: departures.forget(ada.id, lambda: True)] * 3)
    assert departures.forget(ada.id, lambda: True) is True
    assert list(store.list_all(ada.id)) == []
    assert len(list(store.list_deleted(ada.id))) == 30


def test_a_list_of_twenty_costs_the_session_a_query_and_the_photos(ada, work):
    for number in range(22):
        ada.see(f"Fox {number}", upload_id=ada.upload() if number % 7 == 0 else None)
    work("media")
    made = []

    def note(model, **_):
        made.append(model.name)

    for emitter in all_emitters():
        emitter.register("before-call", note)
    page = ada.get("?limit=20").json
    for emitter in all_emitters():
        emitter.unregister("before-call", note)
    assert made == ["TransactGetItems", "Query", "BatchGetItem"]
    assert [item["photo_state"] for item in page["items"]].count("ready") == 3

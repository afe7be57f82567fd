"""A form that is sent twice writes down one sighting."""

import pytest

from chalicelib.kernel import ids
from chalicelib.kernel.errors import Invalid
from chalicelib.sightings import form_store, jobs, photos, service
from chalicelib.sightings.form_store import FormRow
from chalicelib.sightings.model import Changes
from chalicelib.sightings.store import SightingRow
from tests.rooms.sightings.person import has_files, png, prepare_photos

FORM = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"


def send(person, animal_name="Fox", upload_id=None, form=FORM):
    return service.create(person.id, animal_name, "Park", upload_id, form)


def test_the_second_finds_what_the_first_wrote_down(ada):
    upload_id = ada.upload()
    first = send(ada, upload_id=upload_id)
    assert send(ada, upload_id=upload_id).sighting.id == first.sighting.id
    assert send(ada).sighting.id == first.sighting.id
    assert ada.counts() == (1, 0)


def test_a_photo_that_comes_only_the_second_time_is_attached(ada):
    first = send(ada)
    upload_id = ada.upload()
    second = send(ada, upload_id=upload_id)
    assert (second.sighting.id, second.photo_state) == (first.sighting.id, "processing")
    assert send(ada).sighting == second.sighting
    prepare_photos()
    assert [item["photo_state"] for item in ada.get().json["items"]] == ["ready"]
    assert ada.counts() == (1, 0)


def test_another_photo_the_second_time_replaces_the_first(ada):
    uploads = [ada.upload(), ada.upload(png(8, 8))]
    seen = [send(ada, upload_id=upload_id) for upload_id in uploads]
    assert seen[0].sighting.id == seen[1].sighting.id
    prepare_photos()
    (left,) = service.list_page(ada.id, 20).items
    assert (left.picture.id, left.picture.width, left.photo_state) == (uploads[1], 8, "ready")
    assert not has_files(uploads[0])
    assert ada.counts() == (1, 0)
    assert send(ada, upload_id=uploads[0]) == left, "a browser repeats the first, whose answer was lost"


def test_a_bad_photo_the_second_time_is_refused_and_not_forgotten(ada):
    send(ada)
    for upload_id in ("nothing", ids.new(), ada.upload_signed(b"GIF89a")):
        with pytest.raises(Invalid):
            send(ada, upload_id=upload_id)
    assert ada.counts() == (1, 0)


def test_a_bad_photo_beside_a_twin_without_one_is_refused(ada, monkeypatch):
    check, twins = photos.check, iter([True])

    def after_a_twin(*args):
        for _ in twins:
            send(ada)
        return check(*args)

    monkeypatch.setattr(photos, "check", after_a_twin)
    with pytest.raises(Invalid, match="Upload not found"):
        send(ada, upload_id="nothing")
    assert ada.counts() == (1, 0)


def test_a_photo_that_a_twin_attaches_to_it_at_this_moment(ada, monkeypatch):
    first, upload_id = send(ada), ada.upload()
    check, twins = photos.check, iter([True])

    def after_a_twin(*args):
        for _ in twins:
            send(ada, upload_id=upload_id)
        return check(*args)

    monkeypatch.setattr(photos, "check", after_a_twin)
    seen = send(ada, upload_id=upload_id)
    assert (seen.sighting.id, seen.sighting.picture_id) == (first.sighting.id, upload_id)
    assert ada.counts() == (1, 0)


def test_a_photo_and_an_edit_at_this_moment(ada, monkeypatch):
    """The edit makes another sighting of it, so the form writes down its own."""
    first, check, edits = send(ada).sighting, photos.check, iter([True])

    def after_an_edit(*args):
        for _ in edits:
            service.change(ada.id, first.id, Changes(first.updated_at, animal_name="Vixen"))
        return check(*args)

    monkeypatch.setattr(photos, "check", after_an_edit)
    seen = send(ada, upload_id=ada.upload())
    assert (seen.sighting.animal_name, seen.photo_state) == ("Fox", "processing")
    assert seen.sighting.id != first.id


def test_its_id_is_of_the_moment_it_was_written_down(ada):
    """A form may be open for hours; the list is sorted by ids."""
    old = ids.new()
    between = ada.see("Owl")
    late = send(ada, form=old).sighting.id
    assert [item["id"] for item in ada.get().json["items"]] == [late.replace("-", ""), between["id"]]


def test_other_words_in_it_mean_another_sighting(ada):
    fox, owl = send(ada, "Fox").sighting.id, send(ada, "Owl").sighting.id
    assert fox != owl
    assert send(ada, "Owl").sighting.id == owl
    assert ada.counts() == (2, 0)


def test_after_deleting_it_can_be_written_down_again(ada):
    first = send(ada).sighting
    service.delete(ada.id, first.id)
    again = send(ada).sighting
    assert again.id != first.id
    assert send(ada).sighting.id == again.id
    assert ada.counts() == (1, 0)
    assert {row.owner for row in SightingRow.scan(SightingRow.animal_name.exists())} == {ada.id, f"{ada.id} deleted"}


def test_a_form_is_its_members_own(ada, bob):
    assert send(ada).sighting.owner == ada.id
    assert send(bob).sighting.owner == bob.id
    assert ada.counts() == bob.counts() == (1, 0)


def test_a_refused_one_can_be_sent_again(ada):
    with pytest.raises(Invalid, match="Upload not found"):
        send(ada, upload_id="nothing")
    send(ada)
    assert ada.counts() == (1, 0)


def test_the_twin_that_attached_the_upload_first_is_found(ada, monkeypatch):
    """It is written down after this one looked for it, and before this one looks at the upload."""
    upload_id, check, twins = ada.upload(), photos.check, iter([True])

    def after_a_twin(*args):
        for _ in twins:
            send(ada, upload_id=upload_id)
        return check(*args)

    monkeypatch.setattr(photos, "check", after_a_twin)
    seen = send(ada, upload_id=upload_id)
    assert seen.photo_state == "processing"
    assert ada.counts() == (1, 0)


def test_the_twin_that_committed_first_is_found(ada, monkeypatch):
    remember, twins = form_store.remember_write, iter([True])

    def after_a_twin(*args):
        for _ in twins:
            send(ada)
        return remember(*args)

    monkeypatch.setattr(form_store, "remember_write", after_a_twin)
    send(ada)
    assert ada.counts() == (1, 0)


def test_forms_are_forgotten_after_a_day_and_are_in_no_list(ada, later):
    send(ada)
    assert len(ada.get().json["items"]) == 1
    later(hours=23)
    jobs.clean_up(lambda: True)
    assert form_store.find_sighting(ada.id, FORM)
    later(hours=1)
    jobs.clean_up(lambda: False)
    jobs.clean_up(lambda: True)
    jobs.clean_up(lambda: True)
    assert form_store.find_sighting(ada.id, FORM) is None
    assert len(list(FormRow.query(f"{ada.id} forms"))) == 0
    assert len(ada.get().json["items"]) == 1
    assert not form_store.forget(form_store.Key(ada.id, FORM))

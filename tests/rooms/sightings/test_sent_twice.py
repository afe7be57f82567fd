"""A form that is sent twice writes down one sighting."""

import pytest

from chalicelib.kernel import ids
from chalicelib.kernel.errors import Invalid
from chalicelib.sightings import form_store, jobs, photos, service
from chalicelib.sightings.form_store import FormRow
from chalicelib.sightings.store import SightingRow

FORM = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"


def send(person, animal_name="Fox", upload_id=None, form=FORM):
    return service.create(person.id, animal_name, "Park", upload_id, form)


def test_the_second_finds_what_the_first_wrote_down(ada):
    upload_id = ada.upload()
    first = send(ada, upload_id=upload_id)
    assert send(ada, upload_id=upload_id).sighting.id == first.sighting.id
    assert send(ada, upload_id=ada.upload()).sighting.id == first.sighting.id
    assert ada.counts() == (1, 0)


def test_its_id_is_of_the_moment_it_was_written_down(ada):
    """A form may be open for hours; the list is sorted by ids."""
    old = ids.new()
    between = ada.see("Owl")
    late = send(ada, form=old).sighting.id
    assert [item["id"] for item in ada.get().json["items"]] == [late.replace("-", ""), between["id"]]


def test_other_words_in_it_mean_another_sighting(ada):
    assert send(ada, "Fox").sighting.id != send(ada, "Owl").sighting.id
    assert ada.counts() == (2, 0)


def test_after_deleting_it_can_be_written_down_again(ada):
    first = send(ada).sighting
    service.delete(ada.id, first.id)
    again = send(ada).sighting
    assert again.id != first.id
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

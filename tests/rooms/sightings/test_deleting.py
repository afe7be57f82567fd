"""Deleting: gone for everybody at once, the text after thirty days; ids and times stay."""

import json

import pytest

from chalicelib.kernel import clock, sweeping
from chalicelib.sightings import form_store, jobs, service, store
from chalicelib.sightings.store import SightingRow

FORM = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"
NOT_FOUND = (404, {"error": "No such sighting"})


def kept(sighting):
    """The row of a deleted sighting."""
    (row,) = [row for row in SightingRow.scan() if row.id.replace("-", "") == sighting["id"]]
    return row


def test_it_is_gone_everywhere(ada, desk):
    seen, other = ada.see("Fox"), ada.see("Badger")
    ada.share(seen)
    answer = ada.delete(seen)
    assert (answer.status, answer.body) == (204, b"")
    for again in (ada.get(f"/{seen['id']}"), ada.change(seen, animal_name="x"), ada.delete(seen)):
        assert (again.status, again.json) == NOT_FOUND
    assert ada.share(seen).status == ada.withdraw(seen).status == 404
    assert [item["id"] for item in ada.get().json["items"]] == [other["id"]]
    assert ada.get("?q=fox").json["items"] == []
    assert desk().json["items"] == []
    assert ada.counts() == (1, 0)


def test_deleting_needs_no_version(ada):
    seen = ada.see()
    ada.change(seen, animal_name="Badger")
    assert ada.delete(seen).status == 204


def test_the_row_is_kept_apart_with_its_text_and_without_photo_or_sharing(ada, still):
    seen = ada.see("Fox", "Park", upload_id=ada.upload())
    ada.share(seen, shown_location="Town", credit="A.")
    ada.delete(seen)
    row = kept(seen)
    assert row.owner == f"{ada.id} deleted"
    assert (row.animal_name, row.location) == ("Fox", "Park")
    assert (row.picture_id, row.shelf, row.shared_at, row.shown_location, row.credit) == (None,) * 5
    assert row.deleted_at == clock.text(clock.now())
    assert clock.epoch(clock.parse(row.created_at)) == seen["created_at"]


def test_the_text_is_gone_after_thirty_days_and_ids_and_times_stay(ada, later):
    seen = ada.see("Fox", "Park")
    ada.delete(seen)
    before = kept(seen)
    later(days=29, hours=23)
    jobs.clean_up(lambda: True)
    assert kept(seen).animal_name == "Fox"
    later(hours=1)
    jobs.clean_up(lambda: True)
    row = kept(seen)
    assert (row.animal_name, row.location, row.folded, row.todo, row.due_at) == (None,) * 5
    for name in ("owner", "id", "sighted_at", "created_at", "updated_at", "deleted_at"):
        assert getattr(row, name) == getattr(before, name)


def test_a_clean_up_touches_no_others_and_may_be_repeated(ada, later, capsys):
    visible, gone, fresh = ada.see("Badger"), ada.see("Fox"), ada.see("Owl")
    ada.delete(gone)
    later(days=1)
    ada.delete(fresh)
    later(days=29)
    jobs.clean_up(lambda: True)
    jobs.clean_up(lambda: True)
    assert [kept(seen).animal_name for seen in (visible, gone, fresh)] == ["Badger", None, "Owl"]
    said = capsys.readouterr().out
    assert [json.loads(line)["scrubbed"] for line in said.splitlines() if "cleaned_up" in line] == [1, 0]
    assert "Fox" not in said


def test_a_clean_up_that_is_cut_short_goes_on_the_next_time(ada, later):
    gone = [ada.see(f"Fox {number}") for number in range(3)]
    for seen in gone:
        ada.delete(seen)
    later(days=31)
    turns = iter([True])
    jobs.clean_up(lambda: next(turns, False))
    assert sum(kept(seen).animal_name is None for seen in gone) == 1
    jobs.clean_up(lambda: True)
    assert sum(kept(seen).animal_name is None for seen in gone) == 3


def test_one_that_cannot_be_cleaned_up_does_not_stop_the_others(ada, later, capsys, monkeypatch):
    gone = [ada.see(f"Fox {number}") for number in range(3)]
    for seen in gone:
        ada.delete(seen)
    form = service.create(ada.id, "Owl", "Park", None, FORM)
    later(days=31)
    scrub, bad = store.scrub, kept(gone[0]).id
    monkeypatch.setattr(store, "scrub", lambda key: 1 / 0 if key.id == bad else scrub(key))
    with pytest.raises(sweeping.Unfinished):
        jobs.clean_up(lambda: True)
    assert [kept(seen).animal_name for seen in gone] == ["Fox 0", None, None]
    assert form_store.find_sighting(ada.id, FORM) is None
    assert store.find(ada.id, form.sighting.id)
    said = capsys.readouterr().out
    assert said.count("sightings.not_cleaned_up") == 1
    assert "Fox" not in said
    monkeypatch.setattr(store, "scrub", scrub)
    jobs.clean_up(lambda: True)
    assert kept(gone[0]).animal_name is None


def test_an_index_that_lags_does_no_harm(ada, later):
    seen = ada.see()
    ada.delete(seen)
    row = kept(seen)
    key = store.Key(row.owner, row.id)
    later(days=31)
    assert [store.scrub(key), store.scrub(key)] == [True, False]
    assert not store.scrub(store.Key(ada.id, "nothing"))
    assert len(list(SightingRow.scan())) == 1


def test_nobody_reaches_a_deleted_one_by_its_key(ada):
    """The partition of deleted rows is no member's id."""
    seen = ada.see()
    ada.delete(seen)
    assert store.find(ada.id, kept(seen).id) is None


@pytest.mark.parametrize("shared", [True, False])
def test_counts_are_exact_whatever_is_done(ada, shared):
    sightings = [ada.see() for _ in range(4)]
    for seen in sightings[:3]:
        ada.share(seen)
        ada.share(seen)
    ada.withdraw(sightings[0])
    ada.change(sightings[1], animal_name="x")
    assert ada.counts() == (4, 2)
    for seen in sightings:
        if not shared:
            ada.withdraw(seen)
        ada.delete(seen)
        ada.delete(seen)
    assert ada.counts() == (0, 0)

"""Editors who change the publication at once: one is refused or both changes hold, and the history has each."""

from datetime import timedelta

import pytest

from chalicelib.kernel import clock, publication
from chalicelib.kernel.errors import Conflict
from chalicelib.site import service

EDITORS = range(6)


def _name(number):
    return lambda: service.change({"name": f"Name {number}"}, f"editor{number}@example.org", 0)


def test_of_editors_who_saw_the_same_version_one_wins(http, together):
    results = together(*(_name(number) for number in EDITORS))
    refused = [result for result in results if isinstance(result, Conflict)]
    assert len(refused) == len(EDITORS) - 1
    assert service.view().publication.version == 1
    (entry,) = service.list_history()
    assert service.view().publication.name == entry.changes[0].after


def test_changes_of_different_fields_without_a_version_all_hold(http, together):
    changes = {"name": "One", "tagline": "Two", "footer": "Three"}
    together(
        *(lambda field=field: service.change({field: changes[field]}, "editor@example.org") for field in changes)
    )
    shown = service.view().publication
    assert (shown.name, shown.tagline, shown.footer, shown.version) == ("One", "Two", "Three", 3)
    entries = service.list_history()
    assert [entry.version for entry in entries] == [3, 2, 1]
    assert sorted(change.field for entry in entries for change in entry.changes) == ["footer", "name", "tagline"]


def test_a_change_made_elsewhere_is_at_work_within_a_minute(http, monkeypatch):
    """Another process, which has it in its memory, is one whose memory is put back after the change."""
    assert "The Daily Test" in http.get("/subscribe").text
    remembered = publication._kept
    service.change({"name": "Renamed"}, "editor@example.org")
    publication._kept = remembered
    assert "The Daily Test" in http.get("/subscribe").text
    later = clock.now() + timedelta(seconds=59)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert "Renamed" in http.get("/subscribe").text


@pytest.mark.parametrize("version", [0, None])
def test_twice_the_same_change_is_one_version(http, together, version):
    together(*[lambda: service.change({"name": "Once"}, "editor@example.org", version)] * 2)
    assert service.view().publication.version == 1
    assert len(service.list_history()) == 1

"""The page of segments and tags without scripts: saving, editing, deleting, changing tags; the editor’s buttons."""

import html
import re

import pytest

from chalicelib.admin.pages import segments as page
from chalicelib.audience.tags import jobs
from chalicelib.audience.tags import service as tags
from chalicelib.campaigns import segments
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.kernel import clock
from tests.conftest import received
from tests.rooms.admin.conftest import text
from tests.rooms.campaigns.api import UNKNOWN
from tests.rooms.campaigns.crowd import gather

HERE = "/admin/segments"
TEA = Targeting(tags=Terms(any=("tea",)))


def test_a_segment_is_saved_listed_edited_and_deleted(dashboard):
    assert "No segments yet" in text(dashboard.get(HERE))
    gather(2, tags={"tea"}, activated_at=clock.now())
    made = dashboard.post(
        HERE, action="create", audience="some", name="Tea", tags_any="Tea, chai", joined_after="2026-01-31"
    )
    assert (made.status, made.headers["Location"]) == (303, f"{HERE}?notice=segment-saved")
    (segment,) = segments.list_by_name()
    shown = text(dashboard.get(HERE))
    assert "Tea any of the tags tea, chai; joined on or after 31 Jan 2026 2 Write to them" in shown
    edited = dashboard.get(f"{HERE}?edit={segment.id}")
    assert 'value="tea, chai"' in edited.text
    assert 'value="2026-01-31"' in edited.text
    fields = {"action": "save", "audience": "some", "segment": segment.id, "version": "1"}
    dashboard.post(HERE, **fields, name="Drinks", sources_none="fair")
    assert segments.view(segment.id).targeting == Targeting(sources=Terms(none=("fair",)))
    conflict = dashboard.post(HERE, **fields, name="Other")
    assert (conflict.status, "reload and try again" in conflict.text) == (400, True)
    assert "Delete “Drinks”?" in text(dashboard.get(f"{HERE}?delete={segment.id}"))
    assert dashboard.post(HERE, action="delete", segment=segment.id).status == 303
    assert segments.list_by_name() == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": ""}, "Name must be 1–64 characters"),
        ({"name": "x" * 65}, "Name must be 1–64 characters"),
        ({"name": "TEA"}, "Another segment has this name"),
        ({"name": "x", "joined_after": "31.1.2026"}, "Aim joined_after must be a day"),
        ({"name": "x", "joined_after": "2026-02-01", "joined_before": "2026-01-01"}, "earlier than joined_before"),
        ({"name": "x", "tags_any": "t" * 65}, "Aim tags any must contain texts"),
    ],
)
def test_what_cannot_be_saved_stays_in_the_form(dashboard, fields, problem):
    segments.create("Tea", TEA)
    answer = dashboard.post(HERE, action="create", audience="some", sources_any="blog", **fields)
    assert answer.status == 400
    assert problem in text(answer)
    assert 'value="blog"' in answer.text
    assert len(segments.list_by_name()) == 1


def test_what_is_not_there_is_not_found(dashboard):
    for query in (f"?edit={UNKNOWN}", "?edit=x", f"?delete={UNKNOWN}", "?delete=../x"):
        assert dashboard.get(f"{HERE}{query}").status == 404
    assert dashboard.get(f"/admin/campaigns/new?segment={UNKNOWN}").status == 404
    assert dashboard.post(HERE, action="delete", segment=UNKNOWN).status == 404
    assert dashboard.post(HERE, action="save", segment="", name="x").status == 404


def test_a_tag_is_renamed_after_a_confirmation(dashboard):
    gather(3, tags={"tea", "x"})
    gather(1, tags={"tea"}, paused_at=clock.text(clock.now()))
    assert "tea 4" in text(dashboard.get(HERE))
    asked = dashboard.post(HERE, action="merge", tag="tea", to="Chai ")
    assert (asked.status, tags.list_recent()) == (200, [])
    assert "Rename “tea” to “chai”? This concerns 4 people" in text(asked)
    started = dashboard.post(HERE, action="change", change="rename", tags="tea", to="chai")
    assert started.headers["Location"] == f"{HERE}?notice=tags-changing"
    running = dashboard.get(HERE)
    assert "Renaming “tea” to “chai”: 0 of" in text(running)
    assert 'http-equiv="refresh"' in running.text
    assert 'name="tag"' not in running.text
    refused = dashboard.post(HERE, action="change", change="remove", tags="x", to="")
    assert (refused.status, "already" in refused.text) == (400, True)
    for message in received("feed"):
        jobs.work(message["job_id"], lambda: True)
    assert "Last changes Renaming “tea” to “chai”: 4 people." in text(dashboard.get(HERE))


def test_tags_are_merged_and_removed_after_a_confirmation(dashboard):
    gather(1, tags={"tea", "x, y"})
    asked = dashboard.post(HERE, action="merge", tag="x, y", others="tea, ", to="z")
    assert "Merge “tea”, “x, y” into “z”? This concerns 1 person" in text(asked)
    hidden = html.unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", asked.text, re.S)[1])
    dashboard.post(HERE, action="change", change="merge", tags=hidden.replace("\n", "\r\n"), to="z")
    (job,) = tags.list_recent()
    assert job.change.tags == ("tea", "x, y")
    asked = dashboard.post(HERE, action="remove", tag="tea", to="")
    assert "Remove “tea” from everybody?" in text(asked)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"action": "merge", "to": "x"}, "Choose at least one tag"),
        ({"action": "merge", "tag": "tea", "to": " "}, "Say what the tag is called"),
        ({"action": "merge", "tag": "tea", "to": "TEA"}, "to must be another tag"),
        ({"action": "merge", "tag": "tea", "to": "x" * 65}, "1–64 characters"),
        ({"action": "remove"}, "Choose at least one tag"),
        ({"action": "change", "change": "burn", "tags": "tea", "to": "x"}, "action must be one of"),
        ({"action": "change"}, "Choose at least one tag"),
    ],
)
def test_a_change_that_makes_no_sense_is_explained(dashboard, fields, problem):
    gather(1, tags={"tea"})
    answer = dashboard.post(HERE, **fields)
    assert answer.status == 400
    assert problem in text(answer)
    assert tags.list_recent() == []


def test_a_large_audience_is_counted_when_somebody_asks(dashboard, monkeypatch):
    monkeypatch.setattr(page, "_COUNTED_AT_ONCE", -1)
    gather(2, tags={"tea"})
    segments.create("Tea", TEA)
    shown = text(dashboard.get(HERE))
    assert "any of the tags tea – Write to them" in shown
    assert "count now" in shown
    assert "any of the tags tea 2 Write to them" in text(dashboard.get(f"{HERE}?count=yes"))


NEW = "/admin/campaigns/new"
WRITTEN = {"subject": "Hello", "body": "Not saved yet", "format": "markdown"}


def test_a_campaign_is_started_with_a_segment(dashboard):
    segment = segments.create("Tea", TEA)
    shown = dashboard.get(f"{NEW}?segment={segment.id}").text
    assert re.search(r'value="some" checked', shown)
    assert 'name="tags_any" value="tea"' in shown
    assert f'<option value="{segment.id}">Tea</option>' in shown


def test_a_segment_too_long_for_the_page_is_kept(dashboard):
    words = tuple(f"{number:02}{'&' * 62}" for number in range(40))
    long = Targeting(Terms(words), Terms(words, none=words))
    segment = segments.create("Long", long)
    shown = dashboard.get(f"{NEW}?segment={segment.id}").text
    assert "too long for the page" in shown
    kept = dict(re.findall(r'name="(kept_\w+|from_segment)" value="([^"]+)"', shown))
    shorter = {
        name: html.unescape(value)
        for name, value in re.findall(r'name="((?:sources|tags)_any)" value="([^"]*)"', shown)
    }
    made = dashboard.post(NEW, **WRITTEN, **kept, **shorter, audience="some", next="save")
    (campaign_id,) = re.findall("[0-9a-f-]{36}", made.headers["Location"])
    assert campaigns.view(campaign_id).campaign.targeting == long
    segments.delete(segment.id)
    gone = dashboard.post(NEW, **WRITTEN, **kept, audience="some", next="save")
    assert (gone.status, "Not saved yet" in gone.text, "was deleted" in gone.text) == (400, True, True)


def test_without_scripts_a_button_fills_the_fields_and_saves_nothing(dashboard):
    segment = segments.create("Tea", TEA)
    used = dashboard.post(NEW, **WRITTEN, audience="everybody", next="segment", segment=segment.id)
    assert used.status == 200
    assert re.search(r'value="some" checked', used.text)
    assert 'name="tags_any" value="tea"' in used.text
    assert "Not saved yet" in used.text
    assert campaigns.list_page(None, 1, 10).total == 0
    gone = dashboard.post(NEW, **WRITTEN, next="segment", segment=UNKNOWN)
    assert (gone.status, "Not saved yet" in gone.text) == (400, True)


def test_return_in_a_field_saves(dashboard):
    """It presses the first button of the form, which has no segment then."""
    assert dashboard.post(NEW, **WRITTEN, next="segment", segment="").status == 303
    assert campaigns.list_page(None, 1, 10).total == 1


def test_what_is_chosen_is_saved_as_a_segment_and_the_campaign_is_not(dashboard):
    draft = campaigns.create(campaigns.Draft("Before", "<p>x</p>")).campaign
    url = f"/admin/campaigns/{draft.id}"
    fields = {**WRITTEN, "audience": "some", "tags_any": "tea", "version": "1"}
    saved = dashboard.post(url, **fields, next="save-segment", segment_name="Tea")
    assert (saved.status, "Segment saved. The campaign is not saved yet." in text(saved)) == (200, True)
    assert "Not saved yet" in saved.text
    assert segments.list_by_name()[0].targeting == TEA
    assert campaigns.view(draft.id).campaign.version == 1
    again = dashboard.post(url, **fields, next="save-segment", segment_name="TEA")
    assert (again.status, "Another segment has this name" in again.text) == (400, True)


def test_the_editor_keeps_the_version_that_was_opened(dashboard):
    """Somebody else has saved it meanwhile: using a segment must not make our form overwrite theirs."""
    segment = segments.create("Tea", TEA)
    draft = campaigns.create(campaigns.Draft("Before", "<p>x</p>")).campaign
    campaigns.update(draft.id, {"subject": "Theirs"}, {})
    shown = dashboard.post(f"/admin/campaigns/{draft.id}", **WRITTEN, version="1", next="segment", segment=segment.id)
    assert 'name="version" value="1"' in shown.text

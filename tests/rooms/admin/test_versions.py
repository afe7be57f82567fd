"""The history of a campaign in the dashboard: listed, compared, brought back."""

import pytest

from chalicelib.campaigns import fields, removal, service, versions
from chalicelib.campaigns.history import Saver
from chalicelib.campaigns.model import Format, Targeting, Terms
from chalicelib.campaigns.service import Draft
from tests.rooms.admin.conftest import text
from tests.rooms.admin.test_page_size import _AMP as AMP
from tests.rooms.admin.test_page_size import _OLD as OLD
from tests.rooms.admin.test_page_size import LARGEST
from tests.rooms.campaigns.api import UNKNOWN
from tests.rooms.campaigns.examples import soon

ADA = Saver("ada@example.org")


@pytest.fixture
def id(dashboard) -> str:
    return service.create(Draft("Hello", "One\n\nTwo\n", format=Format.MARKDOWN), by=ADA.by).campaign.id


def page(id: str) -> str:
    return f"/admin/campaigns/{id}/versions"


def save(id: str, body: str, saver: Saver = ADA, **edits) -> None:
    service.update(id, edits, {"body": body}, saver=saver)


def test_the_editor_and_the_report_lead_to_it(dashboard, id):
    assert f'href="{page(id)}">History</a>' in dashboard.get(f"/admin/campaigns/{id}").text
    service.send_now(id)
    assert f'href="{page(id)}">History</a>' in dashboard.get(f"/admin/campaigns/{id}").text


def test_a_campaign_that_was_never_changed_has_no_older_versions(dashboard, id):
    seen = dashboard.see(page(id))
    assert "No older versions" in seen
    assert "There is no older version to compare it with." in dashboard.see(f"{page(id)}?version=1")


def test_the_list_says_who_saved_what(dashboard, id):
    save(id, "One two three four", Saver("ben@example.org", autosave=True), subject="Bye")
    save(id, "One two three")
    seen = dashboard.see(page(id))
    assert "ada@example.org Bye 3 words −1 Current" in seen
    assert "ben@example.org Bye 4 words +2 Autosaved" in seen
    assert "ada@example.org Hello 2 words" in seen


def test_a_version_shows_what_changed_in_it_and_against_now(dashboard, id):
    save(id, "One\n\nTwo <b>& a half</b>\n", subject="Bye", preheader="Psst")
    save(id, "One\n\nThree\n")
    shown = dashboard.get(f"{page(id)}?version=2").text
    assert "<del>Hello</del> <ins>Bye</ins>" in shown
    assert '<p class="same">Two<ins> &lt;b&gt;&amp; a half&lt;/b&gt;</ins></p>' in shown
    assert f'src="/admin/campaigns/{id}/preview?version=2&amp;look=desktop"' in shown
    against = dashboard.get(f"{page(id)}?version=2&compare=current").text
    assert "What bringing it back would change." in against
    assert '<p class="removed"><del>Three</del></p>' in against
    assert "What bringing it back would change." in dashboard.get(f"{page(id)}?version=1").text


def test_other_fields_are_named(dashboard, id):
    service.update(id, {}, {"text": "Plain"}, saver=ADA)
    seen = dashboard.see(f"{page(id)}?version=2")
    assert "The custom plain text changed. The body is the same." in seen


def test_the_preview_is_that_of_the_version(dashboard, id):
    save(id, "Three")
    assert "Two" in dashboard.get(f"/admin/campaigns/{id}/preview?version=1").text
    assert "Three" in dashboard.get(f"/admin/campaigns/{id}/preview?version=2").text
    assert "Two" in dashboard.get(f"/admin/campaigns/{id}/preview?version=1&look=text").text
    assert dashboard.get(f"/admin/campaigns/{id}/preview?version=9").status == 404


def test_bringing_one_back(dashboard, id):
    save(id, "Three")
    seen = dashboard.follow(page(id), restore="1", version="2")
    assert "Brought back. What was there before is in the history." in seen
    assert service.view(id).content.body == "One\n\nTwo\n"
    [current, *_] = versions.list_versions(id).items
    assert (current.saved.number, current.saved.by) == (3, "dev@localhost")


def test_over_somebody_elses_save_nothing_is_brought_back(dashboard, id):
    save(id, "Three")
    save(id, "Theirs", Saver("ben@example.org"))
    answer = dashboard.post(page(id), restore="1", version="2")
    assert answer.status == 409
    assert "Someone else has saved this campaign since you opened this page" in text(answer)
    assert "ben@example.org" in text(answer)
    assert service.view(id).content.body == "Theirs"


def test_of_what_was_sent_nothing_is_brought_back(dashboard, id):
    save(id, "Three")
    service.send_now(id)
    assert "Bring back" not in dashboard.see(f"{page(id)}?version=1")
    assert "From the current version to this one." in dashboard.see(f"{page(id)}?version=1&compare=current")
    answer = dashboard.post(page(id), restore="1", version="3")
    assert answer.status == 409
    assert "is already being sent" in text(answer)
    assert service.view(id).content.body == "Three"


def test_a_scheduled_campaign_says_what_bringing_back_means(dashboard, id):
    save(id, "Three")
    service.schedule(id, soon())
    assert "What you bring back is what will be sent." in dashboard.see(f"{page(id)}?version=1")
    assert "Bring back" not in dashboard.see(f"{page(id)}?version=2")


def test_what_there_is_none_of(dashboard, id):
    for path in (
        page(UNKNOWN),
        page("x"),
        f"{page(id)}?version=7",
        f"{page(id)}?version=x",
        f"{page(id)}?version=-1",
    ):
        assert dashboard.get(path).status == 404, path
    assert dashboard.post(page(id), restore="7", version="1").status == 404
    for sent in ({}, {"restore": "x", "version": "1"}, {"restore": "1"}, {"restore": "1", "version": "1" * 12}):
        assert dashboard.post(page(id), **sent).status == 400
    assert service.view(id).campaign.version == 1


def test_versions_that_were_dropped_are_said(dashboard, id):
    entry = "1" * 32
    save(id, f":::item\ntitle: Fox\nentry: {entry}\n:::\n")
    save(id, "Three")
    removal.take_out(id, entry)
    seen = dashboard.see(page(id))
    assert "One older version was deleted, because a member withdrew a sighting that was in it." in seen
    assert "Fox" not in seen


def test_a_stale_form_says_that_the_other_version_stays(dashboard, id):
    save(id, "Theirs", Saver("ben@example.org"))
    sent = {"subject": "Hello", "body": "Mine", "format": "markdown", "version": "1"}
    answer = dashboard.post(f"/admin/campaigns/{id}", **sent)
    assert answer.status == 409
    assert "saving now replaces theirs, which stays in the history" in text(answer)
    assert "Mine" in answer.text


def test_no_page_is_too_large_whatever_the_versions_are(dashboard, id):
    """Fifty of them with the longest subjects and editors, and two long texts that have nothing in common."""
    editor = f"{AMP * 63}@{'x' * 60}.{'y' * 60}.{'z' * 50}.example.net"
    for number in range(50):
        subject = f"{number:02}{AMP * (fields.LONGEST_LINE - 2)}"
        save(id, f"Text {number}", Saver(editor), subject=subject, preheader=AMP * fields.LONGEST_LINE)
    words = tuple(f"{number:02}{OLD * 62}" for number in range(fields.MOST_WORDS))
    aim = Targeting(Terms(words, words, words), Terms(words, words, words))
    save(id, f"{AMP}\n\n" * 80_000, Saver(editor), targeting=aim, format=Format.HTML)
    save(id, f"{AMP * 80} {OLD}\n\n" * 5_000, Saver(editor), targeting=Targeting(), subject=AMP * fields.LONGEST_LINE)
    assert len(versions.list_versions(id).items) == 50
    paths = [
        page(id),
        *(f"{page(id)}?version={number}{more}" for number in (52, 53) for more in ("", "&compare=current")),
    ]
    sizes = {path: len(dashboard.get(path).body) for path in paths}
    assert {path: size for path, size in sizes.items() if size > LARGEST} == {}, sizes
    late = dashboard.post(page(id), restore="51", version="1")
    assert (late.status, len(late.body) <= LARGEST) == (409, True)

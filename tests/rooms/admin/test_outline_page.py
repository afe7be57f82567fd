"""The outline of every issue as a page without scripts: it is saved, and opens the next issue once."""

import json
import re

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.inbox import issues, outline_store
from chalicelib.inbox.outline import Every, Outline, Section
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Unavailable

OUTLINE = "/admin/inbox/outline"
WEEKLY = Outline("{date}", (Section("Watching"),), Every.WEEK, 4)


def shown_version(dashboard):
    return re.search(r'name="version" value="(\d+)"', dashboard.get(OUTLINE).text)[1]


def press(dashboard, shown=None):
    """On a page that showed this version of the outline, or on a page opened now."""
    return dashboard.post(OUTLINE, open="yes", version=shown or shown_version(dashboard))


def opened(answer):
    assert answer.status == 303, answer.text
    return campaigns.view(re.search(r"/admin/campaigns/([\w-]+)", answer.headers["Location"])[1]).campaign


def count():
    return campaigns.list_page(None, 1, 10).total


def test_an_outline_is_saved_and_opens_the_next_issue(dashboard):
    fields = {"heading": ["Watching", "", "Reading"], "wanted": ["2", "", "3"], "subject": "The Slow Garden, {date}"}
    fields |= {"every": "week", "week_day": "4", "month_day": "1"}
    assert "Saved." in dashboard.follow(OUTLINE, **fields)
    found, day = issues.read_outline()
    assert found.sections == (Section("Watching", 2), Section("Reading", 3))
    assert (found.every, found.day) == (Every.WEEK, 4)
    issue = opened(press(dashboard))
    assert issue.subject == f"The Slow Garden, {day.day} {day:%B %Y}"
    assert [one.text for one in blocks.parse(campaigns.view(issue.id).content.body)][1:] == ["Watching", "Reading"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"subject": ""},
        {"wanted": ["x", "", ""]},
        {"wanted": [""]},
        {"heading": ["Same", "same", ""]},
        {"every": "year"},
        {"week_day": "7"},
    ],
)
def test_an_outline_that_makes_no_sense_is_not_saved(dashboard, wrong):
    fields = {"heading": ["A", "", ""], "wanted": ["", "", ""], "subject": "x", "every": "week", "week_day": "0"}
    answer = dashboard.post(OUTLINE, **fields | wrong)
    assert (answer.status, 'role="alert"' in answer.text) == (400, True)
    assert issues.read_outline()[0] == Outline()


@pytest.mark.parametrize("outline", [None, Outline(sections=(Section("Watching"),)), WEEKLY])
def test_a_second_press_leads_to_the_issue_that_the_first_one_opened(dashboard, outline, capsys):
    if outline:
        issues.save_outline(outline)
    shown = shown_version(dashboard)
    first = opened(press(dashboard, shown))
    next_day = issues.read_outline()[1]
    again = press(dashboard, shown)
    assert opened(again).id == first.id
    assert "The next issue is open" in dashboard.see(again.headers["Location"])
    assert (count(), issues.read_outline()[1]) == (1, next_day)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"inbox.issue"' in line]
    assert [line["campaign_id"] for line in lines] == [first.id]


def test_a_page_opened_since_says_which_issue_is_open(dashboard):
    assert "Open the next issue" in dashboard.see(OUTLINE)
    issue = opened(press(dashboard))
    page = dashboard.get(OUTLINE).text
    assert f'<a href="/admin/campaigns/{issue.id}">{issue.subject}</a>' in page
    assert "Open one more issue" in page
    campaigns.send_now(issue.id)
    assert "Open the next issue" in dashboard.see(OUTLINE)


def test_an_outline_saved_in_between_opens_no_second_issue(dashboard):
    shown = shown_version(dashboard)
    first = opened(press(dashboard, shown))
    issues.save_outline(WEEKLY)
    assert opened(press(dashboard, shown)).id == first.id
    assert opened(press(dashboard)).id != first.id, "on a page that was opened since"


def test_an_old_page_opens_the_next_issue_once_the_last_one_is_sent_or_deleted(dashboard):
    issues.save_outline(WEEKLY)
    shown = shown_version(dashboard)
    first = opened(press(dashboard, shown))
    campaigns.delete(first.id)
    second = opened(press(dashboard, shown))
    assert second.id != first.id
    campaigns.send_now(second.id)
    assert opened(press(dashboard, shown)).id not in (first.id, second.id)


def test_two_editors_who_press_at_once_get_one_issue(dashboard, monkeypatch):
    """The second reads the outline before the first has written it."""
    issues.save_outline(WEEKLY)
    shown, find, theirs = int(shown_version(dashboard)), outline_store.find, []

    def find_before_the_other_writes():
        found = find()
        monkeypatch.setattr(outline_store, "find", find)
        theirs.append(issues.open_shown(shown))
        return found

    monkeypatch.setattr(outline_store, "find", find_before_the_other_writes)
    mine, is_new = issues.open_shown(shown)
    [(first, was_new)] = theirs
    assert (was_new, is_new, mine.id) == (True, False, first.id)
    assert count() == 1


def test_an_issue_that_could_not_be_opened_takes_no_day(dashboard, monkeypatch):
    issues.save_outline(WEEKLY)
    shown, day = shown_version(dashboard), issues.read_outline()[1]

    def fail(*writes):
        raise Unavailable("The database is busy")

    with monkeypatch.context() as broken:
        broken.setattr(tables, "transact", fail)
        assert press(dashboard, shown).status == 503
    assert issues.read_outline()[1] == day
    assert opened(press(dashboard, shown)).subject == f"{day.day} {day:%B %Y}"


def test_a_press_without_a_version_opens_nothing(dashboard):
    for version in ("", "x", "-1", "9" * 10):
        assert dashboard.post(OUTLINE, open="yes", version=version).status == 400
    assert count() == 0


def test_every_call_of_the_api_opens_an_issue(dashboard, admin):
    issues.save_outline(WEEKLY)
    found = [admin.post("/admin/api/inbox/issues").json for _ in range(2)]
    assert found[0]["subject"] != found[1]["subject"]

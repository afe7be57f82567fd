"""The outline of the issues, and the day of the next one."""

from datetime import date

import pytest

from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Heading
from chalicelib.inbox.outline import Every, Outline, next_date

OUTLINE = "/admin/api/inbox/outline"
TUESDAY = date(2026, 11, 17)


@pytest.mark.parametrize(
    ("every", "day", "last", "expected"),
    [
        (None, 0, None, None),
        (Every.WEEK, 0, None, "2026-11-23"),
        (Every.WEEK, 1, None, "2026-11-24"),
        (Every.WEEK, 2, None, "2026-11-18"),
        (Every.WEEK, 2, "2026-11-18", "2026-11-25"),
        (Every.WEEK, 2, "2026-10-01", "2026-11-18"),
        (Every.FORTNIGHT, 2, None, "2026-11-18"),
        (Every.FORTNIGHT, 2, "2026-11-11", "2026-11-25"),
        (Every.FORTNIGHT, 2, "2026-11-18", "2026-12-02"),
        (Every.FORTNIGHT, 2, "2026-08-05", "2026-11-18"),
        (Every.MONTH, 1, None, "2026-12-01"),
        (Every.MONTH, 28, None, "2026-11-28"),
        (Every.MONTH, 17, None, "2026-12-17"),
        (Every.MONTH, 28, "2026-12-28", "2027-01-28"),
        (Every.MONTH, 0, None, "2026-12-01"),
    ],
)
def test_the_next_day(every, day, last, expected):
    outline = Outline(every=every, day=day, last_date=date.fromisoformat(last) if last else None)
    found = next_date(outline, TUESDAY)
    assert (found.isoformat() if found else None) == expected


def test_an_issue_opens_with_the_sections_and_its_day(admin):
    wanted = {
        "subject": "Slow news, {date}",
        "sections": [{"heading": "Watch", "wanted": 3}, {"heading": "Read"}],
        "every": "week",
        "day": 0,
    }
    saved = admin.patch(OUTLINE, json=wanted)
    assert saved.status == 200
    assert admin.get(OUTLINE).json == saved.json
    assert saved.json["sections"] == [{"heading": "Watch", "wanted": 3}, {"heading": "Read", "wanted": 0}]
    day = date.fromisoformat(saved.json["next_date"])
    issue = admin.post("/admin/api/inbox/issues")
    assert issue.status == 201
    assert issue.json["subject"] == f"Slow news, {day.day} {day:%B %Y}"
    headings = [block.text for block in blocks.parse(issue.json["body"]) if isinstance(block, Heading)]
    assert headings == ["Watch", "Read"]
    assert date.fromisoformat(admin.get(OUTLINE).json["next_date"]).toordinal() == day.toordinal() + 7


def test_a_change_of_the_outline_changes_no_draft(admin):
    admin.patch(OUTLINE, json={"sections": [{"heading": "Watch"}]})
    issue = admin.post("/admin/api/inbox/issues").json
    admin.patch(OUTLINE, json={"sections": [{"heading": "Listen"}]})
    assert admin.get(f"/admin/api/campaigns/{issue['id']}").json["body"] == issue["body"]


def test_without_an_outline_an_issue_is_an_empty_draft_of_today(admin):
    assert admin.get(OUTLINE).json == {
        "subject": "{date}",
        "sections": [],
        "every": None,
        "day": 0,
        "next_date": None,
    }
    assert admin.post("/admin/api/inbox/issues").status == 201


@pytest.mark.parametrize(
    "body",
    [
        {"subject": ""},
        {"subject": 1},
        {"subject": "x" * 151},
        {"sections": "x"},
        {"sections": [1]},
        {"sections": [{"heading": ""}]},
        {"sections": [{"heading": "a", "wanted": -1}]},
        {"sections": [{"heading": "a", "wanted": True}]},
        {"sections": [{"heading": "a"}, {"heading": "A"}]},
        {"every": "day"},
        {"every": "week", "day": 7},
        {"day": 29},
        {"day": "1"},
    ],
)
def test_nonsense_is_refused(admin, body):
    assert admin.patch(OUTLINE, json=body).status == 400

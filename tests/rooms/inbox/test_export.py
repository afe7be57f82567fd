"""Everything that is kept can be taken away: as JSON, as CSV or as Markdown, small or large."""

import csv
import io
import json

import pytest

from chalicelib.inbox import export, service
from chalicelib.kernel import deadlines, spreadsheets
from chalicelib.kernel.aws import files
from chalicelib.web import downloads
from tests.rooms.inbox.things import NOON, article, video

NEXT_DAY = NOON.replace(day=17)


@pytest.fixture
def kept(box):
    """One of each state, the archived one a day later, and one that was dismissed."""
    box.receive(video("inbox"), video("marked"), video("gone"))
    box.act(video("marked").id, "bookmark")
    box.write(video("marked").id, {"note": "For *Friday*,\nor later"})
    box.dismiss(video("gone").id)
    box.receive(article("filed"), at=NEXT_DAY)
    box.act(article("filed").id, "archive")
    return [article("filed").id, video("marked").id, video("inbox").id]


def exported(box, query=""):
    answer = box.get(f"/export{query}")
    assert answer.status == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return answer


def test_json_has_what_the_lists_have(box, kept):
    answer = exported(box)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="inbox.json"'
    assert [entry["id"] for entry in answer.json["items"]] == kept
    listed = [*box.entries("?state=ARCHIVED"), *box.entries("?state=BOOKMARKED"), *box.entries()]
    assert answer.json == exported(box, "?format=json&state=").json == {"items": listed}


def test_csv_has_a_row_for_each(box, kept):
    answer = exported(box, "?format=csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.text.startswith(spreadsheets.BOM)
    header, *rows = csv.reader(io.StringIO(answer.text.removeprefix(spreadsheets.BOM)))
    assert tuple(header) == export.COLUMNS
    assert [row[0] for row in rows] == kept
    assert dict(zip(header, rows[1], strict=True)) == {
        "id": video("marked").id,
        "state": "BOOKMARKED",
        "provider": "YOUTUBE",
        "content_type": "VIDEO",
        "title": "The marked video",
        "creator": "The Channel",
        "canonical_url": "https://www.youtube.com/watch?v=marked",
        "excerpt": "What it is about.",
        "duration_seconds": "754",
        "published_at": "2026-11-16T11:00:00.000Z",
        "received_at": "2026-11-16T12:00:01.000Z",
        "note": "For *Friday*,\nor later",
        "suggestion": "",
        "used_in": "",
    }
    assert rows[0][8:10] == ["", ""]


@pytest.mark.parametrize("title", ['=HYPERLINK("http://evil.example")', "+1", "-1", "@SUM(1)", "\t=1", "＝1", "x;=1"])
def test_nothing_in_a_table_is_taken_for_a_formula(box, title):
    box.receive(video(title=title, creator=title, excerpt=title))
    box.write(video().id, {"note": f"x\n{title.strip()}"})
    _, row = csv.reader(io.StringIO(exported(box, "?format=csv").text.removeprefix(spreadsheets.BOM)))
    assert "'" in row[4]
    assert all(spreadsheets.escape(cell) == cell for cell in row)


def test_markdown_is_a_list_by_day(box, kept):
    answer = exported(box, "?format=markdown")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="inbox.md"'
    assert answer.text == (
        "# Inbox, bookmarks and archive\n"
        "\n## 17 November 2026\n\n"
        "- [The filed](<https://blog.example.org/filed>) · archived\n"
        "\n## 16 November 2026\n\n"
        "- [The marked video](<https://www.youtube.com/watch?v=marked>) · The Channel · bookmarked\n"
        "  > For *Friday*,\n"
        "  > or later\n"
        "- [The inbox video](<https://www.youtube.com/watch?v=inbox>) · The Channel\n"
    )


def test_a_title_is_text_whatever_is_in_it(box):
    box.receive(video(title="[x](javascript:alert(1)) <b>*bold*</b> # `code`\nline", creator=""))
    line = exported(box, "?format=markdown").text.splitlines()[-1]
    assert line.startswith(r"- [\[x\](javascript:alert(1)) \<b\>\*bold\*\</b\> \# \`code\` line](<https://")


@pytest.mark.parametrize(
    ("title", "shown"), [("1. x", r"1\. x"), ("- x", r"\- x"), ("2) x", r"2\) x"), ("+ 1.5 &amp;", r"\+ 1.5 \&amp;")]
)
def test_a_title_without_a_link_does_not_begin_a_list(box, title, shown):
    box.receive(video(title=title, creator="", canonical_url=""))
    assert exported(box, "?format=markdown").text.endswith(f"\n- {shown}\n")


@pytest.mark.parametrize(("state", "place"), [("ARCHIVED", 0), ("BOOKMARKED", 1), ("INBOX", 2)])
def test_one_state_alone(box, kept, state, place):
    assert [entry["id"] for entry in exported(box, f"?state={state}").json["items"]] == [kept[place]]


def test_nothing_kept(box):
    assert exported(box).json == {"items": []}
    assert exported(box, "?format=markdown").text == "# Inbox, bookmarks and archive\n"
    assert len(exported(box, "?format=csv").text.splitlines()) == 1


def test_only_one_s_own(desk, ada, bob):
    ada.receive(video("hers"))
    bob.receive(video("his"))
    desk.receive(video("theirs"))
    assert [entry["title"] for entry in exported(ada).json["items"]] == ["The hers video"]
    assert [entry["title"] for entry in exported(desk).json["items"]] == ["The theirs video"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("format=xml", "format must be one of: json, csv, markdown"),
        ("state=ALL", "state must be one of: INBOX, BOOKMARKED, ARCHIVED"),
        ("state=DISMISSED", "state must be one of: INBOX, BOOKMARKED, ARCHIVED"),
    ],
)
def test_what_cannot_be_exported(box, query, reason):
    answer = box.get(f"/export?{query}")
    assert (answer.status, answer.json) == (400, {"error": reason})


def test_many_are_read_piece_by_piece_and_stay_in_order(box, monkeypatch):
    monkeypatch.setattr(export, "_TOGETHER", 3)
    ids = box.receive(*(video(f"number {number}") for number in range(11)))
    for id in ids[::3]:
        box.act(id, "archive")
    assert [entry["id"] for entry in exported(box).json["items"]] == ids[::-1]


@pytest.mark.parametrize("format", ["json", "csv", "markdown"])
def test_a_large_one_is_fetched_by_a_link(ada, monkeypatch, format):
    monkeypatch.setattr(downloads, "LARGEST_ANSWER", 1_000)
    put = {}

    def publish(chunks, kind, name):
        put[name] = b"".join(chunks)
        return "https://bucket.example/signed"

    monkeypatch.setattr(files, "publish", publish)
    ada.receive(*(video(f"number {number}") for number in range(20)))
    answer = ada.get(f"/export?format={format}")
    assert (answer.status, answer.headers["Location"]) == (303, "https://bucket.example/signed")
    (content,) = put.values()
    assert content.count(b"The number ") == 20
    if format == "json":
        assert len(json.loads(content)["items"]) == 20


def test_one_that_would_take_too_long_says_what_to_do(ada, monkeypatch):
    ada.receive(video())
    monkeypatch.setattr(deadlines, "seconds_left", lambda seconds: lambda: False)
    answer = ada.get("/export")
    assert (answer.status, answer.json["error"]) == (
        503,
        "There is too much for one file: export one state at a time",
    )


def test_an_export_of_the_desk_is_in_the_audit_log(desk, ada, capsys):
    desk.get("/export")
    assert '"action": "inbox.export"' in capsys.readouterr().out
    ada.get("/export")
    assert "inbox.export" not in capsys.readouterr().out


def test_the_desk_is_told_where_items_were_used_and_members_are_not(desk, ada):
    for owner in (desk, ada):
        owner.receive(video())
    made = desk.ask("POST", "/admin/api/inbox/compose", json={"sections": [{"ids": [video().id]}]})
    assert made.status == 201, made.text
    used = [{"campaign_id": made.json["id"], "subject": made.json["subject"], "sent_at": None}]
    assert desk.entries()[0]["used_in"] == desk.act(video().id, "archive").json["used_in"] == used
    assert desk.entries("?state=ALL")[0]["used_in"] == exported(desk).json["items"][0]["used_in"] == used
    assert exported(desk, "?format=csv").text.rstrip().endswith(made.json["subject"])
    assert ada.entries()[0]["used_in"] == []
    assert service.find_uses(ada.owner, [video().id]) == {}

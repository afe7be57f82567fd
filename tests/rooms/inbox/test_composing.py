"""From entries to a draft, and what is remembered of it."""

from contextlib import contextmanager
from html import unescape

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chalicelib.campaigns import changes, store
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns import uses as campaign_uses
from chalicelib.campaigns.content import blocks, renderer
from chalicelib.campaigns.content.blocks import Heading, Item
from chalicelib.campaigns.model import Format
from chalicelib.campaigns.service import Draft
from chalicelib.events.store import EventRow
from chalicelib.inbox import composing, service, uses
from chalicelib.inbox.model import DESK, Entry, EntryDetail, Provider, State
from chalicelib.kernel.aws import tables
from tests.fixtures.emitters import all_emitters
from tests.rooms.inbox.things import FOLLOW, NOON, article, to, video

COMPOSE = "/admin/api/inbox/compose"


@contextmanager
def recorded_calls():
    """Every call to AWS, by name."""
    calls, emitters = [], all_emitters()

    def record(event_name, **_):
        calls.append(event_name.rpartition(".")[2])

    for emitter in emitters:
        emitter.register_first("before-send", record)
    yield calls
    for emitter in emitters:
        emitter.unregister("before-send", record)


@pytest.fixture
def received(aws):
    """Three entries of the desk, by name."""
    items = {name: make(name) for name, make in (("first", video), ("second", video), ("post", article))}
    for item in items.values():
        service.deliver(item, to(DESK), NOON)
    return {name: item.id for name, item in items.items()}


def compose(admin, *sections, **more):
    return admin.post(COMPOSE, json={"sections": list(sections), **more})


def body_of(answer):
    return blocks.parse(answer.json["body"])


def titles(answer):
    return [block.title for block in body_of(answer) if isinstance(block, Item)]


def used(*ids):
    return {id: [use.campaign_id for use in found] for id, found in uses.find_uses(ids).items()}


def test_a_draft_has_the_items_in_that_order_under_their_headings(admin, received):
    answer = compose(
        admin,
        {"heading": "Watch", "ids": [received["second"], received["first"]]},
        {"heading": "Read", "ids": [received["post"]]},
    )
    assert answer.status == 201
    assert answer.json["state"] == "draft"
    assert answer.json["subject"] == "The second video"
    assert answer.json["warnings"] == []
    first, *_ = items = [block for block in body_of(answer) if isinstance(block, Item)]
    assert [block.text for block in body_of(answer) if isinstance(block, Heading)] == ["Watch", "Read"]
    assert [item.title for item in items] == ["The second video", "The first video", "The post"]
    assert (first.source, first.kind, first.duration, first.entry) == (
        "The Channel",
        "video",
        754,
        received["second"],
    )
    assert admin.get(f"/admin/api/campaigns/{answer.json['id']}").json == {
        name: value for name, value in answer.json.items() if name != "warnings"
    }


def test_more_is_added_to_the_section_with_the_same_heading(admin, received):
    made = compose(
        admin, {"heading": "Watch", "ids": [received["first"]]}, {"heading": "Read", "ids": [received["post"]]}
    )
    answer = compose(admin, {"heading": "watch", "ids": [received["second"]]}, campaign_id=made.json["id"])
    assert answer.status == 200
    assert titles(answer) == ["The first video", "The second video", "The post"]


def test_the_editor_s_note_comes_along_and_a_later_change_at_the_source_does_not(admin, received):
    service.set_note(DESK, received["first"], "The *best* one.")
    made = compose(admin, {"ids": [received["first"]]})
    service.deliver(video("first", title="Another title"), to(DESK), NOON)
    [item] = blocks.items(campaigns.view(made.json["id"]).content.body)
    assert (item.title, item.note) == ("The first video", "The *best* one.")


def test_entries_keep_their_state(admin, received):
    compose(admin, {"ids": [received["first"]]})
    assert len(service.list_page(DESK, service.State.INBOX, None, None, 10, None).entries) == 3


@pytest.mark.parametrize("unknown", ["0" * 32, "no id", ""])
def test_an_unknown_entry_makes_nothing(admin, received, unknown):
    assert compose(admin, {"ids": [received["first"], unknown]}).status == 404
    assert admin.get("/admin/api/campaigns").json["total"] == 0
    assert used(received["first"]) == {}


def test_only_a_draft_in_markdown_can_be_added_to(admin, received):
    made = admin.post("/admin/api/campaigns", json={"subject": "s", "body": "<p>x</p>", "format": "html"}).json
    assert compose(admin, {"ids": [received["first"]]}, campaign_id=made["id"]).status == 409
    sent = compose(admin, {"ids": [received["first"]]}).json
    admin.post(f"/admin/api/campaigns/{sent['id']}/send")
    assert compose(admin, {"ids": [received["second"]]}, campaign_id=sent["id"]).status == 409
    assert compose(admin, {"ids": [received["second"]]}, campaign_id="0" * 32).status == 404


def test_an_item_knows_where_it_was_used_until_the_draft_is_deleted(admin, received):
    made = compose(admin, {"ids": [received["first"]]}).json
    assert used(received["first"]) == {received["first"]: [made["id"]]}
    again = compose(admin, {"ids": [received["first"]]})
    assert again.json["warnings"] == [
        {
            "id": received["first"],
            "title": "The first video",
            "used_in": [{"campaign_id": made["id"], "subject": "The first video", "sent_at": None}],
        }
    ]
    admin.delete(f"/admin/api/campaigns/{made['id']}")
    assert used(received["first"]) == {received["first"]: [again.json["id"]]}
    admin.patch(f"/admin/api/campaigns/{again.json['id']}", json={"body": "Without it."})
    assert used(received["first"]) == {}


def test_every_use_is_an_event(admin, received):
    compose(admin, {"ids": [received["first"], received["post"]]})
    told = [row for row in tables.scan(EventRow) if row.type == "ITEM_USED"]
    assert {row.aggregate_id for row in told} == {received["first"], received["post"]}


def test_the_review_says_what_was_used_before_by_page_and_by_title(admin, received, ses):
    made = compose(admin, {"ids": [received["first"]]}).json
    other = blocks.write(
        [
            Item("Something else", "https://youtu.be/first?si=1", entry=received["first"]),
            Item("the FIRST video, the — | My Site", "https://elsewhere.example/a", entry="f" * 32),
        ]
    )
    draft = admin.post("/admin/api/campaigns", json={"subject": "s", "body": other, "format": "markdown"}).json
    found = {finding.code: finding.message for finding in campaign_uses.findings(campaigns.view(draft["id"]))}
    assert found["already_used"] == "“Something else” is already in “The first video”, not sent yet."
    assert found["similar_title"].endswith("is nearly the same as a title in “The first video”, not sent yet.")
    [of_the_first] = campaign_uses.findings(campaigns.view(made["id"]))
    assert of_the_first.message == "“The first video” is already in “s”, not sent yet."


def test_braces_of_a_source_are_not_filled_in(admin, aws):
    item = video("braces", title="{{nickname}} in templates")
    service.deliver(item, to(DESK), NOON)
    made = compose(admin, {"ids": [item.id]})
    assert made.status == 201
    report = admin.get(f"/admin/api/campaigns/{made.json['id']}/preflight")
    assert "unknown_placeholder" not in report.text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sections": []},
        {"sections": "x"},
        {"sections": [1]},
        {"sections": [{"ids": "x"}]},
        {"sections": [{"ids": [1]}]},
        {"sections": [{"ids": []}]},
        {"sections": [{"ids": ["a", "a"]}]},
        {"sections": [{"heading": "x" * 201, "ids": ["a"]}]},
        {"sections": [{"heading": 1, "ids": ["a"]}]},
        {"sections": [{"ids": [f"{n:032x}" for n in range(41)]}]},
        {"sections": [{"ids": ["a"]}], "campaign_id": 1},
    ],
)
def test_nonsense_is_refused(admin, aws, body):
    assert admin.post(COMPOSE, json=body).status == 400


def test_disconnecting_keeps_what_is_used_in_a_campaign_with_title_and_link(admin, received):
    compose(admin, {"ids": [received["first"]]})
    service.strip_follow(DESK, FOLLOW, lambda: True)
    page = service.list_page(DESK, State.INBOX, None, None, 10, None)
    [kept] = [detail.item for detail in page.entries if detail.entry.provider is Provider.YOUTUBE]
    assert (kept.id, kept.title, kept.excerpt) == (received["first"], "The first video", "")


def test_thirty_items_are_composed_with_five_requests(admin, aws):
    ids = []
    for number in range(30):
        item = video(f"number {number}")
        service.deliver(item, to(DESK), NOON)
        ids.append(item.id)
    admin.get("/admin/api/inbox")  # whatever a first request looks up
    with recorded_calls() as calls:
        assert compose(admin, {"heading": "Watch", "ids": ids}).status == 201
    assert len([call for call in calls if call != "SendMessage"]) <= 5, calls


def test_items_that_a_draft_has_are_named_and_not_added_again(admin, received):
    made = compose(admin, {"heading": "Watch", "ids": [received["first"]]}).json
    use = {"campaign_id": made["id"], "subject": "The first video", "sent_at": None}
    answer = compose(
        admin,
        {"heading": "Again", "ids": [received["first"]]},
        {"heading": "Watch", "ids": [received["second"]]},
        campaign_id=made["id"],
    )
    assert answer.status == 200
    assert titles(answer) == ["The first video", "The second video"]
    assert [block.text for block in body_of(answer) if isinstance(block, Heading)] == ["Watch"]
    assert answer.json["warnings"] == [{"id": received["first"], "title": "The first video", "used_in": [use]}]


def test_a_draft_that_has_all_of_them_stays_as_it_is(admin, received):
    ids = [received["first"], received["post"]]
    made = compose(admin, {"ids": ids}).json
    answer = compose(admin, {"ids": ids[::-1]}, campaign_id=made["id"])
    assert answer.status == 200
    assert {name: value for name, value in answer.json.items() if name != "warnings"} == admin.get(
        f"/admin/api/campaigns/{made['id']}"
    ).json
    assert (answer.json["body"], answer.json["version"]) == (made["body"], made["version"])
    assert [warning["id"] for warning in answer.json["warnings"]] == ids[::-1]


def test_what_somebody_adds_at_the_same_moment_is_not_added_twice(admin, received, monkeypatch):
    made = compose(admin, {"ids": [received["post"]]}).json
    read, raced = store.find_detail, []

    def read_late(campaign_id):
        found = read(campaign_id)
        if not raced:
            raced.append(True)
            compose(admin, {"ids": [received["first"]]}, campaign_id=made["id"])
        return found

    monkeypatch.setattr(changes.store, "find_detail", read_late)
    answer = compose(admin, {"ids": [received["first"], received["second"]]}, campaign_id=made["id"])
    assert titles(answer) == ["The post", "The first video", "The second video"]
    assert [warning["id"] for warning in answer.json["warnings"]] == [received["first"]]


@pytest.mark.parametrize("nothing", ["", None])
def test_without_a_campaign_s_id_a_draft_is_new(admin, received, nothing):
    assert compose(admin, {"ids": [received["first"]]}, campaign_id=nothing).status == 201
    assert admin.get("/admin/api/campaigns").json["total"] == 1


@pytest.mark.parametrize("title", ["word " * 59, "{{ " * 99, "x" * 199 + "{{nickname}}", "{{" * 150])
def test_a_long_title_is_cut_at_a_word_to_be_the_subject(admin, aws, title):
    item = video(title=title.strip())
    service.deliver(item, to(DESK), NOON)
    made = compose(admin, {"ids": [item.id]}).json
    shown = mailed(made["id"]).subject
    assert shown.endswith("…")
    assert len(shown) <= 200
    assert item.title.startswith(shown[:-1])


def mailed(campaign_id):
    return renderer.render(campaigns.view(campaign_id)).message("ana@example.org", "ANA", "token")


def test_braces_of_a_source_are_shown_as_they_are(admin, aws):
    item = video(title="{{nickname}}", creator="{{greeting}}", excerpt="{{nickname|friend}}")
    service.deliver(item, to(DESK), NOON)
    detail = campaigns.view(compose(admin, {"ids": [item.id]}).json["id"])
    message = renderer.render(detail).message("ana@example.org", "ANA", "token")
    assert message.subject == "{{nickname}}"
    for part in (unescape(message.html), message.text, unescape(renderer.render(detail).archived())):
        assert all(text in part for text in (item.title, item.creator, item.excerpt))
        assert "\\" not in part.partition('class="body"')[2]
        assert "ANA" not in part


HIDDEN = st.text(
    st.sampled_from("{}|n \\\ufdd0\ufdd1\ufdef\ufffe\uffff\x00\x01\x0e\x1c\x7f\x85\x9f\u200b\U0001ffff"), max_size=6
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(HIDDEN | st.sampled_from(["{{", "}}", "{", "nickname", "greeting", "|Dear"]), max_size=12).map("".join)
)
@example("Win {\ufdd0{greeting|Dear}}")
@example("{\ufdd0{\ufdd1nickname}\ufdd0}")
def test_nothing_that_a_source_says_is_filled_in(configure, text):
    item = video(title=f"x{text}", creator=text, excerpt=text)
    entry = Entry(DESK, item.id, State.INBOX, NOON, item.provider, item.content_type)
    block = composing._block(EntryDetail(entry, item), None)
    subject = composing.name_after(item)
    draft = Draft(subject=subject, body=blocks.write([block]), format=Format.MARKDOWN)
    mailing = renderer.render(campaigns.preview_detail(draft))
    message = mailing.message("ana@example.org", "ANA", "token")
    assert not [part for part in (message.subject, message.html, message.text) if "ANA" in part or "Hi" in part]
    assert mailing.unknown == ()

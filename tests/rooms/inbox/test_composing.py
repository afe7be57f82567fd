"""From entries to a draft, and what is remembered of it."""

from contextlib import contextmanager

import pytest

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns import uses as campaign_uses
from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Heading, Item
from chalicelib.events.store import EventRow
from chalicelib.inbox import service, uses
from chalicelib.inbox.model import DESK, Provider, State
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

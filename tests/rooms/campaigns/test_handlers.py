"""The JSON API, every answer of it: each state, each permission, each refusal."""

from typing import Any

import pytest

from chalicelib.kernel import ids
from tests.rooms.campaigns.api import API, UNKNOWN, created, in_state
from tests.rooms.campaigns.examples import soon

REFUSED = {"error": "Operation not allowed in current state"}


def test_a_campaign_is_created_as_a_draft_and_shown_with_its_delivery(admin):
    made = created(admin, text="Hi", preheader="Psst", format="markdown", aim={"tags": {"any": ["VIP"]}})
    read = admin.get(f"{API}/{made['id']}")
    assert read.status == 200
    assert read.json | {"removed": []} == made
    assert {name: made[name] for name in ("subject", "state", "format", "text", "preheader", "scheduled_at")} == {
        "subject": "Hello",
        "state": "draft",
        "format": "markdown",
        "text": "Hi",
        "preheader": "Psst",
        "scheduled_at": None,
    }
    assert made["aim"]["tags"] == {"any": ["vip"], "all": [], "none": []}
    assert made["permitted"] == ["update", "delete", "send", "schedule"]
    [delivery] = made["deliveries"]
    assert (delivery["channel_type"], delivery["state"], delivery["sent_count"]) == ("email", "pending", 0)


BAD = [
    ({"body": "x"}, "Subject is required"),
    ({"subject": " ", "body": "x"}, "Subject is required"),
    ({"subject": "x"}, "Body is required"),
    ({"subject": "x", "body": ""}, "Body is required"),
    ({"subject": "x" * 251, "body": "x"}, "Subject must be at most 250 characters"),
    ({"subject": "a\nb", "body": "x"}, "Subject must not contain control characters"),
    ({"subject": 5, "body": "x"}, "Subject must be text"),
    ({"subject": "x", "body": ["x"]}, "Body must be text"),
    ({"subject": "x", "body": "x" * 500_001}, "Body must be at most 500 KB"),
    ({"subject": "x", "body": "x", "text": 5}, "Text must be text"),
    ({"subject": "x", "body": "x", "preheader": "x" * 251}, "Preheader must be at most 250 characters"),
    ({"subject": "x", "body": "x", "format": "word"}, "format must be one of: html, markdown"),
    ({"subject": "x", "body": "x", "format": {}}, "format must be one of: html, markdown"),
    ({"subject": "x", "body": "x", "design": "loud"}, "design must be one of: plain, letter, magazine"),
    ({"subject": "x", "body": "x", "design": ["plain"]}, "design must be one of: plain, letter, magazine"),
    (
        {"subject": "x", "body": "x", "aim": []},
        "Aim must be an object with joined_after, joined_before, sources, tags",
    ),
    ({"subject": "x", "body": "x", "scheduled_at": "2999-01-01T00:00:00Z"}, "A campaign starts as a draft"),
]


def test_what_cannot_be_created(admin):
    for fields, reason in BAD:
        answer = admin.post(API, json=fields)
        assert answer.status == 400, fields
        assert answer.json["error"].startswith(reason)
    assert admin.get(API).json["total"] == 0


def test_a_campaign_has_a_design_of_its_own_or_the_publications(admin):
    assert created(admin)["design"] is None
    made = created(admin, design="magazine")
    url = f"{API}/{made['id']}"
    assert admin.get(url).json["design"] == "magazine"
    assert admin.patch(url, json={"subject": "Other"}).json["design"] == "magazine"
    assert admin.post(f"{url}/duplicate", json={}).json["design"] == "magazine"
    assert admin.patch(url, json={"design": "letter"}).json["design"] == "letter"
    assert admin.patch(url, json={"design": "loud"}).status == 400
    assert admin.patch(url, json={"design": None}).json["design"] is None
    assert admin.get(url).json["design"] is None


def test_the_answer_says_what_was_removed(admin):
    made = created(admin, body="<p>a</p><script>b</script>")
    assert made["removed"] == ["<script> (1×)"]
    changed = admin.patch(f"{API}/{made['id']}", json={"body": '<p onclick="x">a</p>'}).json
    assert changed["removed"] == ["onclick on <p>"]


def test_an_unknown_campaign_is_404_everywhere(admin):
    answers = []
    for url in (f"{API}/{id}" for id in ("nonsense", UNKNOWN, "%00", "a%2Fb")):
        answers += [
            admin.get(url),
            admin.patch(url, json={"subject": "x"}),
            admin.delete(url),
            admin.get(f"{url}/preview"),
            *(admin.post(f"{url}/{verb}", json={}) for verb in ("send", "cancel", "duplicate")),
            admin.post(f"{url}/schedule", json={"scheduled_at": soon()}),
            admin.post(f"{url}/test", json={"email": "a@example.org"}),
            *(admin.post(f"{url}/deliveries/{ids.new()}/{verb}", json={}) for verb in ("retry", "stop")),
        ]
    assert {(answer.status, answer.json["error"]) for answer in answers} == {(404, "Campaign not found")}


# Every cell of the table: what may be done in which state, and what is answered when it may not.
@pytest.mark.parametrize(
    ("verb", "allowed"),
    [
        ("update", {"draft", "scheduled"}),
        ("delete", {"draft"}),
        ("send", {"draft", "scheduled"}),
        ("schedule", {"draft", "scheduled"}),
        ("cancel", {"scheduled"}),
        ("retry", {"failed"}),
        ("stop", {"publishing"}),
    ],
)
def test_the_table_of_permissions(admin, verb, allowed):
    for state in ("draft", "scheduled", "publishing", "published", "failed"):
        campaign = in_state(admin, state)
        answer = _ask(admin, campaign, verb)
        if state in allowed:
            assert answer.status in (200, 204), state
        else:
            assert (answer.status, answer.json) == (409, REFUSED), state
            assert admin.get(f"{API}/{campaign['id']}").json == campaign


def _ask(admin: Any, campaign: dict[str, Any], verb: str) -> Any:
    url = f"{API}/{campaign['id']}"
    match verb:
        case "update":
            return admin.patch(url, json={"subject": "Other"})
        case "delete":
            return admin.delete(url)
        case "schedule":
            return admin.post(f"{url}/schedule", json={"scheduled_at": soon()})
        case "retry" | "stop":
            return admin.post(f"{url}/deliveries/{campaign['deliveries'][0]['id']}/{verb}", json={})
    return admin.post(f"{url}/{verb}", json={})


def test_send_answers_the_campaign_on_its_way(admin):
    sent = in_state(admin, "publishing")
    assert (sent["state"], sent["deliveries"][0]["state"], sent["permitted"]) == ("publishing", "sending", [])


def test_send_refuses_a_version_that_is_not_the_current_one(admin):
    url = f"{API}/{created(admin)['id']}"
    assert admin.patch(url, json={"subject": "Edited"}).json["version"] == 2
    for version in ("2", 2.5, True, [2], {}):
        answer = admin.post(f"{url}/send", json={"version": version})
        assert (answer.status, answer.json) == (400, {"error": "version must be a whole number"})
    refused = admin.post(f"{url}/send", json={"version": 1})
    assert (refused.status, refused.json) == (409, {"error": "The campaign has changed since you reviewed it"})
    assert admin.get(url).json["state"] == "draft"
    assert admin.post(f"{url}/send", json={"version": 2}).json["state"] == "publishing"


@pytest.mark.parametrize("body", [{}, {"version": None}, None])
def test_send_needs_no_version(admin, body):
    url = f"{API}/{created(admin)['id']}"
    assert admin.post(f"{url}/send", json=body).json["state"] == "publishing"


def test_a_time_in_the_past_is_400(admin):
    url = f"{API}/{created(admin)['id']}"
    for fields in ({"scheduled_at": "2020-01-01T00:00:00Z"}, {"scheduled_at": soon(seconds=-1)}):
        answer = admin.post(f"{url}/schedule", json=fields)
        assert (answer.status, answer.json) == (400, {"error": "Scheduled time must be in the future"})
        assert admin.patch(url, json=fields).status == 400
    assert admin.get(url).json["state"] == "draft"


@pytest.mark.parametrize(
    "fields", [{}, {"scheduled_at": 5}, {"scheduled_at": "soon"}, {"scheduled_at": "2999-01-01"}]
)
def test_a_time_that_is_none_is_400(admin, fields):
    assert admin.post(f"{API}/{created(admin)['id']}/schedule", json=fields).status == 400


def test_a_time_is_taken_in_any_zone_and_answered_in_utc(admin):
    url = f"{API}/{created(admin)['id']}"
    answer = admin.post(f"{url}/schedule", json={"scheduled_at": "2030-07-01T09:00:00+09:00"})
    assert answer.json["scheduled_at"] == "2030-07-01T00:00:00.000Z"
    local = {"scheduled_at": "2030-07-01T09:00", "time_zone": "Europe/Berlin"}
    answer = admin.post(f"{url}/schedule", json=local)
    assert (answer.json["scheduled_at"], answer.json["time_zone"]) == ("2030-07-01T07:00:00.000Z", "Europe/Berlin")
    assert admin.post(f"{url}/schedule", json=local | {"time_zone": "Mars/Olympus"}).status == 400


def test_a_scheduled_campaign_can_be_edited_moved_and_made_a_draft_again(admin):
    campaign = in_state(admin, "scheduled")
    url = f"{API}/{campaign['id']}"
    edited = admin.patch(url, json={"subject": "Better", "scheduled_at": soon(days=2)}).json
    assert (edited["subject"], edited["state"]) == ("Better", "scheduled")
    assert edited["scheduled_at"] > campaign["scheduled_at"]
    assert admin.patch(url, json={"scheduled_at": None}).json["state"] == "draft"


def test_a_patch_changes_only_what_it_names(admin):
    made = created(admin, text="Own text", preheader="Psst")
    url = f"{API}/{made['id']}"
    changed = admin.patch(url, json={"body": "<p>New</p>"}).json
    assert (changed["subject"], changed["text"], changed["preheader"]) == ("Hello", "Own text", "Psst")
    assert admin.patch(url, json={"text": None}).json["text"] is None
    for bad in ({"subject": ""}, {"body": None}, {"format": "x"}, {"aim": 5}, {"time_zone": "x"}, {"version": "1"}):
        assert admin.patch(url, json=bad).status == 400
    assert admin.patch(url, json={"subject": "x", "version": 1}).status == 409


def test_the_list_has_pages_totals_states_and_summaries(admin):
    for _ in range(3):
        created(admin)
    in_state(admin, "failed")
    first = admin.get(f"{API}?per_page=2").json
    assert (first["page"], first["per_page"], first["total"], len(first["items"])) == (1, 2, 4, 2)
    assert first["items"][0]["delivery"] == {
        "state": "failed",
        "recipients": 3,
        "sent_count": 1,
        "failure_count": 0,
        "unknown_count": 0,
    }
    assert "body" not in first["items"][0]
    assert admin.get(API).json["per_page"] == 20
    assert admin.get(f"{API}?state=published").json["total"] == 1
    assert admin.get(f"{API}?state=scheduled").json["items"] == []


def test_a_list_that_cannot_be_asked_for(admin):
    for query in ["page=0", "page=x", "per_page=101", "per_page=0", "per_page=-1", "state=sent"]:
        assert admin.get(f"{API}?{query}").status == 400


def test_a_duplicate_is_a_draft(admin):
    old = in_state(admin, "published")
    answer = admin.post(f"{API}/{old['id']}/duplicate", json={})
    assert (answer.status, answer.json["state"], answer.json["body"]) == (201, "draft", old["body"])


def test_a_retry_answers_the_delivery(admin):
    campaign = in_state(admin, "failed")
    delivery = campaign["deliveries"][0]
    assert (delivery["state"], delivery["error_detail"]) == ("failed", "Sending is paused in SES")
    answer = admin.post(f"{API}/{campaign['id']}/deliveries/{delivery['id']}/retry", json={})
    assert (answer.status, answer.json["id"], answer.json["state"]) == (200, delivery["id"], "sending")
    assert admin.get(f"{API}/{campaign['id']}").json["state"] == "publishing"
    unknown = admin.post(f"{API}/{campaign['id']}/deliveries/{ids.new()}/retry", json={})
    assert (unknown.status, unknown.json) == (404, {"error": "Delivery not found"})


def test_a_stop_answers_the_delivery_and_can_be_repeated(admin):
    campaign = in_state(admin, "publishing")
    url = f"{API}/{campaign['id']}/deliveries"
    for _ in range(2):
        answer = admin.post(f"{url}/{campaign['deliveries'][0]['id']}/stop", json={})
        assert (answer.status, answer.json["state"]) == (200, "failed")
        assert answer.json["error_detail"] == "Stopped by an editor"
    assert admin.get(f"{API}/{campaign['id']}").json["state"] == "published"
    unknown = admin.post(f"{url}/{ids.new()}/stop", json={})
    assert (unknown.status, unknown.json) == (404, {"error": "Delivery not found"})


def test_a_body_that_is_no_object_is_400_and_never_a_crash(admin):
    for body in [b"", b"[]", b"null", b"{", b'"x"', b"\xff"]:
        assert admin.post(API, body=body, Content_Type="application/json").status == 400

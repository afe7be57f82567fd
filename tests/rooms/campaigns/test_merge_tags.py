"""Placeholders that nobody fills in are found before everybody gets them."""

from datetime import timedelta

import pytest

from chalicelib.campaigns import service, store
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Format, State
from chalicelib.campaigns.review import preflight
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.findings import Level
from chalicelib.mail import account
from chalicelib.mail.account import Account
from tests.rooms.campaigns.examples import new_campaign, soon
from tests.rooms.campaigns.rendering import detail

ORIGIN = "https://news.example.org"
API = "/admin/api/campaigns"
NAME, GREETING = "Write {{nickname|friend}} instead", "Write {{greeting}} instead"


def findings(body: str, **changes: object) -> list[tuple[Level, str]]:
    report = preflight.check_merge_tags(renderer.render(detail(body, **changes)))
    return [(finding.level, finding.text) for finding in report]


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("{{name}}", NAME),
        ("{{first_name}}", NAME),
        ("{{ FNAME }}", NAME),
        ("{{nikname}}", NAME),
        ("{{subscriber.first_name}}", NAME),
        ("{{ contact.firstname | default: 'there' }}", NAME),
        ("{{ .Subscriber.FirstName }}", NAME),
        ("{{greetings}}", GREETING),
        ("{{ email }}", "Only {{nickname|friend}} and {{greeting}} are filled in"),
        ("{{unsubscribe_url}}", "Remove it: the unsubscribe link is added for you"),
        ("{{view_in_browser}}", "Remove it: the link to the web version is added for you"),
        ("{{nickname|default: 'friend'}}", "at most 60 characters and no markup"),
        ("{{nickname|" + "x" * 61 + "}}", "at most 60 characters and no markup"),
        ("{{#if name}}", NAME),
        ("{{{name}}}", NAME),
    ],
)
@pytest.mark.parametrize("format", Format)
def test_an_unknown_placeholder_is_an_error_that_names_it_and_says_what_to_write(typed, advice, format):
    [(level, message)] = findings(f"Hi {typed}!", format=format)
    assert level is Level.ERROR
    assert message.startswith("Unknown placeholder {{" + typed.strip("{} ")[:20])
    assert "in the body" in message
    assert advice in message


def test_every_part_is_searched():
    found = findings("<p>{{a}}</p>", text="{{b}}", subject="{{c}} x", preheader="{{d}}")
    assert [message.partition(":")[0] for _, message in found] == [
        "Unknown placeholder {{c}} in the subject",
        "Unknown placeholder {{d}} in the preheader",
        "Unknown placeholder {{a}} in the body",
        "Unknown placeholder {{b}} in the plain text",
    ]


@pytest.mark.parametrize(
    "body",
    ["{{<b>name</b>}}", "&#123;&#123;name&#125;}", '<a href="https://example.org/?n={{name}}">x</a>', "{{\n name }}"],
)
def test_markup_entities_and_addresses_do_not_hide_it(body):
    assert [message.partition(":")[0] for _, message in findings(body)] == [
        "Unknown placeholder {{name}} in the body"
    ]


@pytest.mark.parametrize(
    "body",
    [
        "\\{{name}}",
        "<code>\\{{#if a}}\\{{/if}}</code>",
        "{{ {{greeting}} }}",
        "{{nickname|a}}{{greeting|b}}",
        "{{",
        "}}",
        "{{}}",
        "50% of 20%",
        "<!-- {{x}} -->",
        "a {x} b",
        "{{Nickname|a}}",
        "<a href='https://e.org/\\{{x}}'>y</a>",
    ],
)
def test_what_is_known_or_escaped_or_only_braces_is_fine(body):
    assert findings(body) == []


@pytest.mark.parametrize(
    ("tag", "advice"),
    [
        ("*|FNAME|*", NAME),
        ("*|IF:FNAME|*", NAME),
        ("*|UNSUB|*", "Remove it: the unsubscribe link"),
        ("%recipient.name%", NAME),
        ("%FIRSTNAME%", NAME),
        ("%%First Name%%", NAME),
        ("[firstname,fallback=there]", NAME),
        ("[%first_name | there%]", NAME),
        ("{$name}", NAME),
        ("{!Contact.FirstName}", NAME),
        ("{% if subscriber %}", "Only {{nickname|friend}}"),
        ('{first_name, "there"}', NAME),
        ("{nickname}", "{{nickname|friend}}"),
    ],
)
@pytest.mark.parametrize("format", Format)
def test_a_tag_of_another_tool_is_a_warning(tag, advice, format):
    [(level, message)] = findings(f"Hi {tag}!", format=format)
    assert level is Level.WARNING
    assert message.startswith(f"{tag} in the body: this looks like a tag of another newsletter tool.")
    assert advice in message


def test_many_are_counted():
    found = findings("".join(f"{{{{x{number}}}}} " for number in range(9)))
    assert len(found) == 6
    assert found[-1][1] == "There are 4 more unknown placeholders."


@pytest.mark.parametrize("format", Format)
def test_a_placeholder_in_an_address_is_a_warning(format):
    body = {
        Format.HTML: '<a href="https://example.org/?n={{nickname}}">x</a>',
        Format.MARKDOWN: "[x](https://example.org/?n={{nickname}})",
    }[format]
    [(level, message)] = findings(body, format=format)
    assert level is Level.WARNING
    assert message.startswith("Placeholders are not filled in inside addresses")


@pytest.fixture
def ses(monkeypatch):
    monkeypatch.setattr(account, "account", lambda: Account(200, 1, 0, False, True, "HEALTHY"))  # moto has none
    monkeypatch.setattr(account, "identity", lambda: None)


def test_it_is_saved_but_neither_sent_nor_scheduled(admin, ses):
    id = admin.post(API, json={"subject": "Hi", "body": "<p>Dear {{name}}</p>"}).json["id"]
    report = admin.get(f"{API}/{id}/preflight").json
    assert (report["ready"], "unknown_placeholder" in {finding["code"] for finding in report["findings"]}) == (
        False,
        True,
    )
    reason = (
        "Unknown placeholder {{name}} in the body: readers would see it as typed. Write {{nickname|friend}} instead"
    )
    for refused in (
        admin.post(f"{API}/{id}/send", json={}),
        admin.post(f"{API}/{id}/schedule", json={"scheduled_at": soon()}),
        admin.patch(f"{API}/{id}", json={"scheduled_at": soon()}),
    ):
        assert (refused.status, refused.json) == (400, {"error": reason})
    assert service.view(id).campaign.state is State.DRAFT
    assert admin.patch(f"{API}/{id}", json={"body": "<p>Dear \\{{name}}</p>"}).status == 200
    assert admin.post(f"{API}/{id}/schedule", json={"scheduled_at": soon()}).status == 200
    refused = admin.patch(f"{API}/{id}", json={"subject": "Hi {{name}}"})
    assert refused.json["error"].startswith("Unknown placeholder {{name}} in the subject")
    assert admin.post(f"{API}/{id}/send", json={}).status == 200


def test_one_that_was_scheduled_before_is_held_with_a_notice(aws, monkeypatch):
    from chalicelib.mail import notices

    notified = []
    monkeypatch.setattr(notices, "notify_admin", lambda subject, text: notified.append(subject))
    at, made = clock.now() + timedelta(minutes=1), new_campaign(body="<p>{{name}}</p>").campaign
    with monkeypatch.context() as before:
        before.setattr(service, "_check_placeholders", lambda detail: None)
        service.schedule(made.id, at.isoformat())
    assert service.start_due(at) == []
    held = service.view(made.id).campaign
    assert (held.state, held.scheduled_at) == (State.DRAFT, None)
    assert "Unknown placeholder {{name}}" in (held.notice or "")
    assert notified == ["A campaign was held back"]


def test_what_a_feed_brings_is_not_refused(aws):
    draft = service.Draft(subject="x", body="<p>{{name}}</p>")
    made, writes = service.create_writes(draft, send=True)
    tables.transact(*writes)
    assert store.find_detail(made.campaign.id).campaign.state is State.PUBLISHING


def test_the_pages_refuse_it_and_say_why(admin, ses):
    made = new_campaign(body="<p>Dear {{name}}</p>").campaign
    assert "To show braces, write <code>\\{{</code>" in admin.get(f"/admin/campaigns/{made.id}").text
    page = admin.get(f"/admin/campaigns/{made.id}/send").text
    assert "Fix the errors above before sending" in page
    assert "Unknown placeholder {{name}} in the body" in page
    form = {"scheduled_at": "2030-01-01T09:00", "time_zone": "UTC", "version": "1"}
    scheduled = admin.post(f"/admin/campaigns/{made.id}/schedule", form=form, Origin=ORIGIN)
    assert (scheduled.status, "Unknown placeholder {{name}} in the body" in scheduled.text) == (400, True)
    assert admin.post(f"/admin/campaigns/{made.id}/send", form=form, Origin=ORIGIN).status == 400
    assert service.view(made.id).campaign.state is State.DRAFT

import pytest

from chalicelib.admin import labels
from chalicelib.audience import recipients
from chalicelib.audience.model import TEST_TOKEN
from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts, Format, Targeting, Terms
from chalicelib.campaigns.sending import deliveries, stopping
from chalicelib.campaigns.service import Draft
from chalicelib.mail import sender
from chalicelib.mail.failures import Rejected
from tests.rooms.admin.clock_changes import CLOCK_CHANGES

FORM = {"subject": "Beans", "body": "Hello *there*", "format": "markdown", "audience": "everybody", "version": ""}


@pytest.fixture
def draft(dashboard):
    return service.create(Draft("Beans", "<p>Seven of them</p>")).campaign.id


def _finished(campaign_id: str, counts: Counts, detail: str | None = None) -> None:
    delivery = service.send_now(campaign_id).deliveries[0]
    deliveries.finish(delivery, counts, detail)


def test_the_list_shows_state_time_and_delivery(dashboard, draft):
    assert "Beans Draft Changed" in dashboard.see("/admin/campaigns")
    _finished(draft, Counts(10, 7, 2, 1))
    seen = dashboard.see("/admin/campaigns")
    assert "Needs attention" in seen
    assert "7 sent so far 2 failed, 1 unknown" in seen


def test_the_list_can_be_filtered_by_state(dashboard, draft):
    service.schedule(service.create(Draft("Later", "x")).campaign.id, "2030-01-01T09:00Z")
    seen = dashboard.see("/admin/campaigns?state=scheduled")
    assert "Later" in seen
    assert "Beans" not in seen
    assert "No campaigns in this state" in dashboard.see("/admin/campaigns?state=publishing")
    assert "The list ends at page 1" in dashboard.see("/admin/campaigns?page=7")


def test_a_campaign_is_written_saved_and_read_back(dashboard):
    answer = dashboard.post("/admin/campaigns/new", **FORM, preheader="Soon", next="save")
    page = dashboard.get(answer.headers["Location"]).text
    assert 'value="Beans"' in page
    assert "Hello *there*</textarea>" in page
    assert "Saved." in page


def test_a_campaign_is_given_a_design_on_its_page(dashboard):
    answer = dashboard.post("/admin/campaigns/new", **FORM, design="letter", next="save")
    path = answer.headers["Location"].partition("?")[0]
    page = dashboard.get(path).text
    assert '<option value="letter" selected>' in page
    assert "As in the settings (Plain)" in page
    assert "Georgia" in dashboard.get(f"{path}/preview").text
    campaign_id = path.rpartition("/")[2]
    version = service.view(campaign_id).campaign.version
    # A page that was opened before there were designs does not send one.
    dashboard.post(path, **{**FORM, "version": str(version)}, next="save")
    assert service.view(campaign_id).campaign.design == "letter"
    for design, stored in (("magazine", "magazine"), ("", None)):
        version = service.view(campaign_id).campaign.version
        dashboard.post(path, **{**FORM, "version": str(version)}, design=design, next="save")
        assert service.view(campaign_id).campaign.design == stored
    refused = dashboard.post("/admin/campaigns/new", **FORM, design="loud", next="save")
    assert refused.status == 400
    assert "Hello *there*</textarea>" in refused.text


def test_the_preview_of_the_form_is_in_the_design_that_is_chosen(dashboard):
    for design, mark in (("", 'class="dot"'), ("letter", "Georgia"), ("magazine", 'class="masthead"')):
        assert mark in dashboard.post("/admin/campaigns/preview", **FORM, design=design, look="phone").text


def test_saving_can_lead_to_the_review(dashboard):
    seen = dashboard.follow("/admin/campaigns/new", **FORM, next="review")
    assert "Checks" in seen


def test_invalid_input_is_shown_again_and_not_lost(dashboard, draft):
    for path in ("/admin/campaigns/new", f"/admin/campaigns/{draft}"):
        answer = dashboard.post(path, **{**FORM, "subject": " "})
        assert answer.status == 400
        assert "Subject is required" in answer.text
        assert "Hello *there*</textarea>" in answer.text


def test_a_change_by_someone_else_is_not_overwritten_silently(dashboard, draft):
    service.update(draft, {"subject": "Theirs"}, {})
    answer = dashboard.post(f"/admin/campaigns/{draft}", **{**FORM, "version": "1"})
    assert answer.status == 409
    assert "while you were editing" in answer.text
    assert 'name="version" value="2"' in answer.text
    assert service.view(draft).campaign.subject == "Theirs"


@pytest.fixture
def long_campaign(dashboard):
    """A campaign too long for one page."""
    return service.create(Draft("Tome", "<p>&amp;</p>" * 9_000, "&" * 9_000)).campaign.id


def test_a_field_too_long_for_the_page_is_kept_unless_overwritten(dashboard, long_campaign):
    page = dashboard.get(f"/admin/campaigns/{long_campaign}").text
    assert len(page) < 60_000
    assert "too long for the page (105 KB)" in page
    assert 'name="kept_body" value="yes"' in page
    assert dashboard.get(f"/admin/campaigns/{long_campaign}/words/body").text == "<p>&amp;</p>" * 9_000
    form = {"subject": "Tome", "format": "html", "audience": "everybody", "kept_body": "yes", "body": "", "text": "x"}
    dashboard.follow(f"/admin/campaigns/{long_campaign}", **form, version="1")
    assert service.view(long_campaign).content.body == "<p>&amp;</p>" * 9_000
    assert service.view(long_campaign).content.text == "x"
    dashboard.follow(f"/admin/campaigns/{long_campaign}", **{**form, "body": "short"}, version="2")
    assert service.view(long_campaign).content.body == "short"


def test_a_field_too_long_for_the_page_is_previewed_but_not_sent_back_with_an_error(dashboard, long_campaign):
    form = {"format": "html", "kept_body": "yes", "body": "", "campaign_id": long_campaign}
    assert dashboard.post("/admin/campaigns/preview", **form).text.count("&amp;") >= 9_000
    refused = dashboard.post(f"/admin/campaigns/{long_campaign}", **form, subject="", version="1")
    assert refused.status == 400
    assert len(refused.text) < 60_000
    assert 'name="kept_body"' in refused.text


def test_an_emptied_body_is_not_mistaken_for_an_unchanged_one(dashboard, long_campaign):
    answer = dashboard.post(f"/admin/campaigns/{long_campaign}", subject="Tome", format="html", body="", version="1")
    assert answer.status == 400
    assert "Body is required" in answer.text


def test_only_fields_of_the_form_can_be_read_as_text(dashboard, long_campaign):
    answer = dashboard.get(f"/admin/campaigns/{long_campaign}/words/text")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert dashboard.get(f"/admin/campaigns/{long_campaign}/words/version").status == 404


def test_a_form_is_stored_as_typed(dashboard):
    boundary = "----x"
    parts = {**FORM, "body": "Grüße 🌱\r\n\r\n  zwei", "next": "save"}
    body = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in parts.items()
    )
    answer = dashboard.http.post(
        "/admin/campaigns/new",
        body=f"{body}--{boundary}--\r\n",
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}", "Origin": "https://news.example.org"},
    )
    kept = service.view(answer.headers["Location"].split("/")[-1].partition("?")[0])
    assert kept.content.body == "Grüße 🌱\n\n  zwei"
    assert kept.campaign.format is Format.MARKDOWN


def test_targeting_by_sources_and_tags_is_saved_and_shown(dashboard, draft):
    form = {**FORM, "audience": "some", "sources_any": "Blog, footer", "tags_none": "vip", "version": "1"}
    dashboard.follow(f"/admin/campaigns/{draft}", **form)
    assert service.view(draft).campaign.targeting == Targeting(Terms(any=("blog", "footer")), Terms(none=("vip",)))
    assert 'value="blog, footer"' in dashboard.get(f"/admin/campaigns/{draft}").text
    assert "any of the sources blog, footer; none of the tags vip" in dashboard.see(
        f"/admin/campaigns/{draft}/review"
    )


def test_the_preview_shows_the_mail_in_the_chosen_colour_scheme(dashboard, draft):
    for ask in (_form_preview(dashboard), _stored_preview(dashboard, draft)):
        light, dark, text = (ask(look) for look in ("desktop", "dark", "text"))
        assert "prefers-color-scheme" not in light.text + dark.text
        assert "@media all" in dark.text
        assert "@media not all" in light.text
        assert "<pre>" in text.text
        assert "frame-ancestors 'self'" in light.headers["Content-Security-Policy"]
        assert "sandbox" in light.headers["Content-Security-Policy"]


def _form_preview(dashboard):
    return lambda look: dashboard.post("/admin/campaigns/preview", **FORM, look=look)


def _stored_preview(dashboard, draft):
    return lambda look: dashboard.get(f"/admin/campaigns/{draft}/preview?look={look}")


@pytest.mark.parametrize("page", ["", "/review"])
def test_review_and_report_offer_every_kind_of_preview(dashboard, draft, page):
    if not page:
        service.send_now(draft)
    seen = dashboard.get(f"/admin/campaigns/{draft}{page}?look=dark&reader=unnamed").text
    assert f'src="/admin/campaigns/{draft}/preview?look=dark&amp;reader=unnamed"' in seen
    assert f'href="/admin/campaigns/{draft}{page}?look=text&amp;reader=unnamed#preview"' in seen
    assert f'href="/admin/campaigns/{draft}{page}?look=dark&amp;reader=named#preview"' in seen


def test_a_preview_is_for_a_reader_with_a_name_or_without(dashboard, draft):
    service.update(draft, {}, {"body": "<p>Dear {{nickname|friend}}</p>"})
    path = f"/admin/campaigns/{draft}/preview"
    assert "Dear Ana" in dashboard.get(f"{path}?reader=named").text
    for query in ("", "?reader=unnamed", "?reader=other", "?look=text"):
        assert "Dear friend" in dashboard.get(path + query).text
    form = {**FORM, "body": "<p>Dear {{nickname|friend}}</p>"}

    def shown(**more):
        return dashboard.post("/admin/campaigns/preview", **form, **more).text

    assert "Dear Zoë" in shown(reader="named", nickname=" Zoë ")
    assert "Dear Ana" in shown(reader="named", nickname=" ")
    assert "Dear friend" in shown(reader="unnamed", nickname="Zoë")
    assert "Dear friend" in shown()
    refused = shown(reader="named", nickname="<b>" * 20)
    assert "Nickname must be" in refused
    assert "<b>" not in refused


def test_the_preview_of_a_deleted_campaign_fits_into_the_frame(dashboard, draft):
    service.delete(draft)
    answer = dashboard.post("/admin/campaigns/preview", **FORM, campaign_id=draft)
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_an_unfinished_campaign_can_be_previewed(dashboard):
    assert (
        "Your text will appear here"
        in dashboard.post("/admin/campaigns/preview", format="html", subject="", body="").text
    )
    assert "at most 250" in dashboard.post("/admin/campaigns/preview", subject="x" * 300, format="html").text


def test_the_review_shows_recipients_cost_and_findings(dashboard, draft, person):
    person("ada@example.net")
    seen = dashboard.see(f"/admin/campaigns/{draft}/review")
    assert "To 1 person (all subscribers)" in seen
    assert "less than $0.01" in seen
    assert "plain text is generated from the body" in seen


def test_a_test_email_is_the_campaign_itself(dashboard, draft, ses):
    assert "Test email sent" in dashboard.follow(f"/admin/campaigns/{draft}/test", email="me@example.org")
    assert ses.mails(to="me@example.org")[0]["subject"] == "[Test] Beans"
    assert "not sent" in dashboard.post(f"/admin/campaigns/{draft}/test", email="nonsense").text
    assert "with the subject “[Test] Beans”" in dashboard.see(f"/admin/campaigns/{draft}/review")


def test_test_emails_go_to_what_was_typed_as_whom_was_chosen(dashboard, person, ses):
    path = f"/admin/campaigns/{service.create(Draft('For {{nickname|you}}', '<p>x</p>')).campaign.id}/test"
    person("bea@example.net", "Bea")
    typed = "One@example.org,\r\ntwo@example.org; three@example.org\r\n\r\n two@EXAMPLE.org"
    assert "Test emails sent." in dashboard.follow(path, emails=typed, reads_as="reader", reader="BEA@example.net")
    assert sorted(mail["subject"] for mail in ses.mails()) == ["[Test] For Bea"] * 3
    for chosen, name in (
        ({"reads_as": "name", "nickname": "Cy"}, "Cy"),
        ({"reads_as": "nobody"}, "you"),
        ({}, "you"),
    ):
        dashboard.post(path, emails="me@example.org", reader="bea@example.net", **{"nickname": "Ana", **chosen})
        assert ses.mails(to="me@example.org")[0]["subject"] == f"[Test] For {name}"
    # The name is the reader's, and the links are a test's.
    assert all(str(TEST_TOKEN) in mail["html"] for mail in ses.mails())


def test_a_test_that_is_refused_keeps_what_was_typed(dashboard, draft, ses):
    path = f"/admin/campaigns/{draft}/test"
    for fields_, reason in (
        ({"emails": ""}, "Type 1 to 5 addresses"),
        ({"emails": "a@example.org " * 6}, "Type 1 to 5 addresses"),
        ({"emails": "a@example.org, nonsense"}, "Address 2: Email address is not valid"),
        ({"emails": "a@example.org", "reads_as": "reader", "reader": "nobody@example.net"}, "Nobody has subscribed"),
        ({"emails": "a@example.org", "reads_as": "reader", "reader": ""}, "Email address is required"),
        ({"emails": "a@example.org", "reads_as": "name", "nickname": "n" * 51}, "ickname"),
    ):
        answer = dashboard.post(path, **fields_)
        assert answer.status == 400
        assert "Test email not sent: " in answer.text
        assert reason in answer.text
        for typed in fields_.values():
            assert typed in answer.text
    assert ses.mails() == []


def test_a_test_that_reached_only_some_says_how_many(dashboard, draft, monkeypatch):
    refused = iter((None, Rejected("SES does not accept the address"), None))

    def send(message):
        if failure := next(refused):
            raise failure
        return "id"

    monkeypatch.setattr(sender, "send", send)
    answer = dashboard.post(f"/admin/campaigns/{draft}/test", emails="a@example.org b@example.org c@example.org")
    assert answer.status == 400
    assert "Sent to 2 of 3. Address 2: SES does not accept the address" in answer.text
    assert "Test email not sent" not in answer.text


def test_a_campaign_is_scheduled_in_the_authors_time_zone_and_cancelled(dashboard, draft):
    when = {"scheduled_at": "2030-07-01T09:00", "time_zone": "Europe/Berlin"}
    seen = dashboard.follow(f"/admin/campaigns/{draft}/schedule", **when)
    assert "Mon 1 Jul 2030, 09:00 , Europe/Berlin (1 Jul 2030, 07:00 UTC)" in seen
    assert "draft again" in dashboard.follow(f"/admin/campaigns/{draft}/cancel")


@pytest.mark.parametrize(("at", "zone", "said"), CLOCK_CHANGES)
def test_a_time_is_read_as_the_page_shows_it_also_around_clock_changes(dashboard, draft, at, zone, said):
    dashboard.follow(f"/admin/campaigns/{draft}/schedule", scheduled_at=at, time_zone=zone)
    assert labels.moment(service.view(draft).campaign.scheduled_at) == said.partition(".")[0]


@pytest.mark.parametrize(
    ("at", "zone", "said"),
    [
        ("2020-01-01T09:00", "UTC", "in the future"),
        ("", "UTC", "Choose a date"),
        ("2030-01-01T09:00", "Mars/X", "IANA name"),
    ],
)
def test_an_invalid_time_is_refused_with_the_reason(dashboard, draft, at, zone, said):
    answer = dashboard.post(f"/admin/campaigns/{draft}/schedule", scheduled_at=at, time_zone=zone)
    assert answer.status == 400
    assert said in answer.text


def test_sending_asks_for_confirmation_and_starts_once(dashboard, draft, person):
    person("ada@example.net")
    page = dashboard.get(f"/admin/campaigns/{draft}/send").text
    assert "Send to 1 person now" in page
    assert dashboard.post(f"/admin/campaigns/{draft}/send", version="99").status == 409
    assert "Sending has started" in dashboard.follow(f"/admin/campaigns/{draft}/send", version="1")
    assert dashboard.post(f"/admin/campaigns/{draft}/send", version="2").status == 409
    assert dashboard.get(f"/admin/campaigns/{draft}/send").status == 409


def test_a_running_delivery_shows_its_progress(dashboard, draft, person):
    person("ada@example.net")
    service.send_now(draft)
    page = dashboard.get(f"/admin/campaigns/{draft}").text
    assert '<progress max="1" value="0"' in page
    assert f'data-progress="/admin/api/campaigns/{draft}/progress"' in page
    assert '<noscript><meta http-equiv="refresh"' in page


def test_recipients_of_a_targeted_delivery_are_counted_once(dashboard, person, monkeypatch):
    person("ada@example.net", source="blog")
    person("bo@example.net", source="footer")
    some = service.create(Draft("Beans", "x", targeting=Targeting(Terms(any=("blog",))))).campaign.id
    service.send_now(some)
    assert '<progress max="1" value="0"' in dashboard.get(f"/admin/campaigns/{some}").text
    monkeypatch.delattr(recipients, "count")
    assert dashboard.get(f"/admin/api/campaigns/{some}/progress").json["expected"] == 1
    deliveries.finish(service.view(some).deliveries[0], Counts(1, 0, 0, 1))
    deliveries.retry(some, service.view(some).deliveries[0].id)
    assert "of about 1" in dashboard.see(f"/admin/campaigns/{some}")


def test_counts_add_up_are_explained_and_can_be_retried(dashboard, draft):
    _finished(draft, Counts(10, 7, 2, 1), "1 mail may or may not have been sent")
    seen = dashboard.see(f"/admin/campaigns/{draft}")
    assert "Sent 7 Failed 2 Unknown 1 Recipients 10" in seen
    assert "Failed means SES did not send the email." in seen
    assert "Unknown means" in seen
    delivery = service.view(draft).deliveries[0].id
    assert "Retrying" in dashboard.follow(f"/admin/campaigns/{draft}/retry", delivery_id=delivery)
    assert dashboard.post(f"/admin/campaigns/{draft}/retry", delivery_id=delivery).status == 409


def test_a_delivery_is_stopped_after_confirmation_and_retried(dashboard, draft):
    delivery = service.send_now(draft).deliveries[0].id
    assert f"/admin/campaigns/{draft}/stop" in dashboard.get(f"/admin/campaigns/{draft}").text
    assert "Stop sending “Beans”? Nobody has been sent it so far." in dashboard.see(f"/admin/campaigns/{draft}/stop")
    seen = dashboard.follow(f"/admin/campaigns/{draft}/stop", delivery_id=delivery)
    assert "Stopped. Retry continues" in seen
    assert "Sent 0 Failed 0 Unknown 0 So far 0" in seen
    assert "Stopped by an editor" in seen
    assert "There is nothing to stop" in dashboard.see(f"/admin/campaigns/{draft}/stop")
    assert "0 sent so far" in dashboard.see("/admin/campaigns")
    assert "0 sent so far" in dashboard.see("/admin")
    dashboard.post(f"/admin/campaigns/{draft}/retry", delivery_id=delivery)
    deliveries.finish(deliveries.get(draft, delivery), Counts(1, 1))
    assert "Nothing to stop" in dashboard.follow(f"/admin/campaigns/{draft}/stop", delivery_id=delivery)


def test_what_is_being_stopped_says_so_and_is_not_offered_to_be_stopped(dashboard, draft):
    delivery = service.send_now(draft).deliveries[0]
    assert "Being sent to all subscribers" in dashboard.see(f"/admin/campaigns/{draft}")
    deliveries.annotate(delivery, stopping.STOPPING)
    assert "For all subscribers. Being stopped" in dashboard.see(f"/admin/campaigns/{draft}")
    assert f"/admin/campaigns/{draft}/stop" not in dashboard.get(f"/admin/campaigns/{draft}").text


def test_a_draft_is_duplicated_and_deleted_after_confirmation(dashboard, draft):
    copy = dashboard.post(f"/admin/campaigns/{draft}/duplicate").headers["Location"].partition("?")[0]
    assert copy != f"/admin/campaigns/{draft}"
    assert "Delete “Beans”?" in dashboard.see(f"{copy}/delete")
    assert "Draft deleted" in dashboard.follow(f"{copy}/delete")
    assert dashboard.get(copy).status == 404

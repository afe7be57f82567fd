import pytest

from chalicelib.admin import labels
from chalicelib.audience import recipients
from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts, Format, Targeting, Terms
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from tests.rooms.admin.clocks import CHANGING_CLOCKS

WORDS = {"subject": "Beans", "body": "Hello *there*", "format": "markdown", "audience": "everybody", "version": ""}


@pytest.fixture
def draft(desk):
    return service.create(Draft("Beans", "<p>Seven of them</p>")).campaign.id


def _finished(campaign_id: str, counts: Counts, detail: str | None = None) -> None:
    delivery = service.send_now(campaign_id).deliveries[0]
    deliveries.finish(delivery, counts, detail)


def test_the_list_shows_state_time_and_what_was_delivered(desk, draft):
    assert "Beans Draft Changed" in desk.see("/admin/campaigns")
    _finished(draft, Counts(10, 7, 2, 1))
    seen = desk.see("/admin/campaigns")
    assert "Needs attention" in seen
    assert "7 of 10 sent 2 refused, 1 unknown" in seen


def test_the_list_can_be_narrowed_to_a_state(desk, draft):
    service.schedule(service.create(Draft("Later", "x")).campaign.id, "2030-01-01T09:00Z")
    seen = desk.see("/admin/campaigns?state=scheduled")
    assert "Later" in seen
    assert "Beans" not in seen
    assert "No campaigns in this state" in desk.see("/admin/campaigns?state=publishing")
    assert "The list ends at page 1" in desk.see("/admin/campaigns?page=7")


def test_a_letter_is_written_kept_and_read_back(desk):
    answer = desk.post("/admin/campaigns/new", **WORDS, preheader="Soon", next="save")
    page = desk.get(answer.headers["Location"]).text
    assert 'value="Beans"' in page
    assert "Hello *there*</textarea>" in page
    assert "Saved." in page


def test_a_letter_goes_on_to_its_review(desk):
    seen = desk.follow("/admin/campaigns/new", **WORDS, next="review")
    assert "Checks" in seen


def test_words_that_cannot_be_kept_are_not_lost(desk, draft):
    for path in ("/admin/campaigns/new", f"/admin/campaigns/{draft}"):
        answer = desk.post(path, **{**WORDS, "subject": " "})
        assert answer.status == 400
        assert "Subject is required" in answer.text
        assert "Hello *there*</textarea>" in answer.text


def test_what_somebody_else_changed_meanwhile_is_not_overwritten_unasked(desk, draft):
    service.update(draft, {"subject": "Theirs"}, {})
    answer = desk.post(f"/admin/campaigns/{draft}", **{**WORDS, "version": "1"})
    assert answer.status == 409
    assert "while you were editing" in answer.text
    assert 'name="version" value="2"' in answer.text
    assert service.view(draft).campaign.subject == "Theirs"


@pytest.fixture
def tome(desk):
    """A letter longer than a page may be."""
    return service.create(Draft("Tome", "<p>&amp;</p>" * 9_000, "&" * 9_000)).campaign.id


def test_words_too_long_for_the_page_are_kept_unless_written_over(desk, tome):
    page = desk.get(f"/admin/campaigns/{tome}").text
    assert len(page) < 60_000
    assert "too long for the page (105 KB)" in page
    assert 'name="kept_body" value="yes"' in page
    assert desk.get(f"/admin/campaigns/{tome}/words/body").text == "<p>&amp;</p>" * 9_000
    form = {"subject": "Tome", "format": "html", "audience": "everybody", "kept_body": "yes", "body": "", "text": "x"}
    desk.follow(f"/admin/campaigns/{tome}", **form, version="1")
    assert service.view(tome).content.body == "<p>&amp;</p>" * 9_000
    assert service.view(tome).content.text == "x"
    desk.follow(f"/admin/campaigns/{tome}", **{**form, "body": "short"}, version="2")
    assert service.view(tome).content.body == "short"


def test_words_too_long_for_the_page_are_still_looked_at_and_never_sent_back_with_a_refusal(desk, tome):
    form = {"format": "html", "kept_body": "yes", "body": "", "campaign_id": tome}
    assert desk.post("/admin/campaigns/preview", **form).text.count("&amp;") >= 9_000
    refused = desk.post(f"/admin/campaigns/{tome}", **form, subject="", version="1")
    assert refused.status == 400
    assert len(refused.text) < 60_000
    assert 'name="kept_body"' in refused.text


def test_an_emptied_letter_is_not_taken_for_one_that_was_left_alone(desk, tome):
    answer = desk.post(f"/admin/campaigns/{tome}", subject="Tome", format="html", body="", version="1")
    assert answer.status == 400
    assert "Body is required" in answer.text


def test_only_what_an_author_wrote_can_be_read_as_text(desk, tome):
    answer = desk.get(f"/admin/campaigns/{tome}/words/text")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert desk.get(f"/admin/campaigns/{tome}/words/version").status == 404


def test_the_words_of_a_form_arrive_as_they_were_typed(desk):
    boundary = "----x"
    parts = {**WORDS, "body": "Grüße 🌱\r\n\r\n  zwei", "next": "save"}
    body = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in parts.items()
    )
    answer = desk.http.post(
        "/admin/campaigns/new",
        body=f"{body}--{boundary}--\r\n",
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}", "Origin": "https://news.example.org"},
    )
    kept = service.view(answer.headers["Location"].split("/")[-1].partition("?")[0])
    assert kept.content.body == "Grüße 🌱\n\n  zwei"
    assert kept.campaign.format is Format.MARKDOWN


def test_an_audience_is_described_by_its_words(desk, draft):
    labels = {**WORDS, "audience": "some", "sources_any": "Blog, footer", "tags_none": "vip", "version": "1"}
    desk.follow(f"/admin/campaigns/{draft}", **labels)
    assert service.view(draft).campaign.targeting == Targeting(Terms(any=("blog", "footer")), Terms(none=("vip",)))
    assert 'value="blog, footer"' in desk.get(f"/admin/campaigns/{draft}").text
    assert "any of the sources blog, footer; none of the tags vip" in desk.see(f"/admin/campaigns/{draft}/review")


def test_the_preview_is_the_mail_in_the_light_that_was_asked_for(desk, draft):
    for ask in (_sketch(desk), _letter(desk, draft)):
        light, dark, text = (ask(look) for look in ("desktop", "dark", "text"))
        assert "prefers-color-scheme" not in light.text + dark.text
        assert "@media all" in dark.text
        assert "@media not all" in light.text
        assert "<pre>" in text.text
        assert "frame-ancestors 'self'" in light.headers["Content-Security-Policy"]
        assert "sandbox" in light.headers["Content-Security-Policy"]


def _sketch(desk):
    return lambda look: desk.post("/admin/campaigns/preview", **WORDS, look=look)


def _letter(desk, draft):
    return lambda look: desk.get(f"/admin/campaigns/{draft}/letter?look={look}")


@pytest.mark.parametrize("page", ["", "/review"])
def test_the_page_of_a_letter_shows_it_in_every_look(desk, draft, page):
    if not page:
        service.send_now(draft)
    seen = desk.get(f"/admin/campaigns/{draft}{page}?look=dark").text
    assert f'src="/admin/campaigns/{draft}/letter?look=dark"' in seen
    assert f'href="/admin/campaigns/{draft}{page}?look=text#letter"' in seen


def test_half_a_letter_can_be_looked_at_already(desk):
    assert (
        "Your text will appear here" in desk.post("/admin/campaigns/preview", format="html", subject="", body="").text
    )
    assert "at most 250" in desk.post("/admin/campaigns/preview", subject="x" * 300, format="html").text


def test_the_review_says_how_many_what_it_costs_and_what_is_wrong(desk, draft, person):
    person("ada@example.net")
    seen = desk.see(f"/admin/campaigns/{draft}/review")
    assert "To 1 person (all subscribers)" in seen
    assert "less than $0.01" in seen
    assert "plain text is generated from the HTML" in seen


def test_a_test_mail_is_the_very_mail(desk, draft, ses):
    assert "Test email sent" in desk.follow(f"/admin/campaigns/{draft}/test", email="me@example.org")
    assert ses.mails(to="me@example.org")[0]["subject"] == "Beans"
    assert "not sent" in desk.post(f"/admin/campaigns/{draft}/test", email="nonsense").text


def test_a_campaign_is_timed_in_the_authors_zone_and_called_off(desk, draft):
    when = {"scheduled_at": "2030-07-01T09:00", "time_zone": "Europe/Berlin"}
    seen = desk.follow(f"/admin/campaigns/{draft}/schedule", **when)
    assert "Mon 1 Jul 2030, 09:00 , Europe/Berlin (1 Jul 2030, 07:00 UTC)" in seen
    assert "draft again" in desk.follow(f"/admin/campaigns/{draft}/cancel")


@pytest.mark.parametrize(("at", "zone", "said"), CHANGING_CLOCKS)
def test_a_time_is_understood_as_the_page_says_also_when_clocks_are_changed(desk, draft, at, zone, said):
    desk.follow(f"/admin/campaigns/{draft}/schedule", scheduled_at=at, time_zone=zone)
    assert labels.moment(service.view(draft).campaign.scheduled_at) == said.partition(".")[0]


@pytest.mark.parametrize(
    ("at", "zone", "said"),
    [
        ("2020-01-01T09:00", "UTC", "in the future"),
        ("", "UTC", "Choose a date"),
        ("2030-01-01T09:00", "Mars/X", "IANA name"),
    ],
)
def test_a_time_that_cannot_be_comes_back_with_the_reason(desk, draft, at, zone, said):
    answer = desk.post(f"/admin/campaigns/{draft}/schedule", scheduled_at=at, time_zone=zone)
    assert answer.status == 400
    assert said in answer.text


def test_sending_asks_first_with_the_number_of_people_and_then_starts_once(desk, draft, person):
    person("ada@example.net")
    page = desk.get(f"/admin/campaigns/{draft}/send").text
    assert "Send to 1 person now" in page
    assert desk.post(f"/admin/campaigns/{draft}/send", version="99").status == 409
    assert "Sending has started" in desk.follow(f"/admin/campaigns/{draft}/send", version="1")
    assert desk.post(f"/admin/campaigns/{draft}/send", version="2").status == 409
    assert desk.get(f"/admin/campaigns/{draft}/send").status == 409


def test_a_delivery_under_way_shows_how_far_it_is(desk, draft, person):
    person("ada@example.net")
    service.send_now(draft)
    page = desk.get(f"/admin/campaigns/{draft}").text
    assert '<progress max="1" value="0"' in page
    assert f'data-progress="/admin/api/campaigns/{draft}/progress"' in page
    assert '<noscript><meta http-equiv="refresh"' in page


def test_a_delivery_to_some_people_knows_how_many_they_are_and_counts_them_once(desk, person, monkeypatch):
    person("ada@example.net", source="blog")
    person("bo@example.net", source="footer")
    some = service.create(Draft("Beans", "x", targeting=Targeting(Terms(any=("blog",))))).campaign.id
    service.send_now(some)
    assert '<progress max="1" value="0"' in desk.get(f"/admin/campaigns/{some}").text
    monkeypatch.delattr(recipients, "count")
    assert desk.get(f"/admin/api/campaigns/{some}/progress").json["expected"] == 1
    deliveries.finish(service.view(some).deliveries[0], Counts(1, 0, 0, 1))
    deliveries.retry(some, service.view(some).deliveries[0].id)
    assert "of about 1" in desk.see(f"/admin/campaigns/{some}")


def test_counts_add_up_and_are_explained_and_can_be_tried_again(desk, draft):
    _finished(draft, Counts(10, 7, 2, 1), "1 mail may or may not have been sent")
    seen = desk.see(f"/admin/campaigns/{draft}")
    assert "Sent 7 Refused 2 Unknown 1 Recipients 10" in seen
    assert "Refused means" in seen
    assert "Unknown means" in seen
    delivery = service.view(draft).deliveries[0].id
    assert "Retrying" in desk.follow(f"/admin/campaigns/{draft}/retry", delivery_id=delivery)
    assert desk.post(f"/admin/campaigns/{draft}/retry", delivery_id=delivery).status == 409


def test_a_draft_is_copied_and_deleted_but_only_when_asked_twice(desk, draft):
    copy = desk.post(f"/admin/campaigns/{draft}/duplicate").headers["Location"].partition("?")[0]
    assert copy != f"/admin/campaigns/{draft}"
    assert "Delete “Beans”?" in desk.see(f"{copy}/delete")
    assert "Draft deleted" in desk.follow(f"{copy}/delete")
    assert desk.get(copy).status == 404

import pytest

from chalicelib.admin import first_run
from chalicelib.audience import erasure, milestones
from chalicelib.audience.imports import jobs
from chalicelib.audience.stores.subscriber_row import SubscriberRow
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail import dns_records
from chalicelib.mail.account import Identity, parse_identity
from tests.rooms.admin.test_page_size import LARGEST


@pytest.fixture
def deployed(configure):
    """As it is deployed: production access, a verified domain, nothing wrong with the settings."""

    def set_up(**more):
        configure(
            POSTAL_ADDRESS="1 Orchard Lane",
            CONFIGURATION_SET="gna",
            CF_ACCESS_TEAM_NAME="garden",
            CF_ACCESS_AUD="a" * 64,
            BEHIND_CLOUDFLARE="true",
            **more,
        )

    return set_up


def _done(editor="editor@example.org", has_sent=False):
    found = first_run.gather(editor, has_sent, again=True)
    return [step.key for step in found.steps if step.done]


def _bring(subscriber_id):
    """As an import marks somebody."""
    tables.update(SubscriberRow(subscriber_id), [SubscriberRow.import_id.set("an import")])


def test_a_new_publication_is_shown_what_to_do(dashboard):
    seen = dashboard.see("/admin")
    assert "Getting started 0 of 6 done" in seen
    for title in ("Make it yours", "Put the form into your site", "Bring your list", "Subscribe yourself"):
        assert title in seen
    for path in ("/admin/settings", "/admin/form", "/admin/imports", "/subscribe", "/admin/campaigns/new"):
        assert f'href="{path}"' in dashboard.get("/admin").text


def test_at_home_nothing_has_to_be_set_up_for_sending(dashboard, configure):
    configure(GNA_LOCAL="true")
    assert "Getting started 0 of 5 done" in dashboard.see("/admin")
    assert "At home every email goes to the local mailbox" in dashboard.see("/admin/start")


def test_a_colour_of_its_own_makes_it_yours(ses, aws, configure):
    assert first_run.BRAND not in _done()
    configure(SITE_COLOR="#884422")
    assert first_run.BRAND in _done()


def test_the_form_is_in_when_somebody_has_signed_up_by_it(ses, aws, person):
    _bring(person("imported@example.net"))
    assert first_run.FORM not in _done()
    pending = person("ada@example.net", pending=True)
    assert first_run.FORM in _done()
    erasure.remove(pending)
    assert first_run.FORM in _done(), "it has worked once, whoever has left since"


def test_a_list_that_came_later_does_not_hide_who_signed_up_before(ses, aws, person):
    person("ada@example.net", days_ago=2)
    assert first_run.FORM in _done()
    for number in range(25):
        _bring(person(f"imported{number}@example.net"))
    assert first_run.FORM in _done()


@pytest.mark.parametrize("joined", ["double", "single"])
def test_somebody_added_by_hand_has_not_used_the_form(ses, dashboard, joined):
    consent = {"joined": joined, "statement": "At my stall"}
    body = {"email": "ada@example.net", "consent": consent}
    assert dashboard.http.post("/admin/api/subscribers", json=body).status == 201
    assert first_run.FORM not in _done()


def test_an_import_that_brought_nobody_is_no_list(ses, dashboard, media_bucket):
    def bring(text):
        file = dashboard.http.post("/admin/api/imports", body=text, Content_Type="text/csv").json
        given = {"consent": {"joined": "double", "statement": "By a link"}, "source": "old", "tags": []}
        assert dashboard.http.post(f"/admin/api/imports/{file['id']}/start", json=given).status == 202
        jobs.work(file["id"], lambda: True)

    bring("email,status\nbob@example.net,bounced\n")
    assert first_run.LIST not in _done()
    bring("email\nada@example.net\n")
    assert first_run.LIST in _done()


def test_ten_readers_are_a_list(ses, aws, person):
    for number in range(9):
        person(f"reader{number}@example.net")
    assert first_run.LIST not in _done()
    person("reader9@example.net")
    assert first_run.LIST in _done()


def test_who_sends_the_first_campaign_has_everybody_they_write_to(ses, aws):
    assert first_run.LIST not in _done()
    assert {first_run.LIST, first_run.CAMPAIGN} <= set(_done(has_sent=True))


@pytest.mark.parametrize("email", ["editor@example.org", "admin@example.org"])
def test_the_editor_or_the_admin_is_subscribed(ses, aws, person, email):
    person("somebody@example.net")
    waiting = person(email, pending=True)
    assert first_run.SELF not in _done()
    erasure.remove(waiting)
    person(email)
    assert first_run.SELF in _done()


@pytest.mark.parametrize("name", ["common-name.access", "", "not an address"])
def test_who_is_signed_in_may_have_no_address(ses, aws, configure, name):
    configure(ADMIN_EMAIL="")
    assert first_run.SELF not in _done(name)


def test_at_home_any_reader_is_the_editor(ses, aws, person, configure):
    configure(GNA_LOCAL="true")
    assert first_run.SELF not in _done("dev@localhost")
    person("me@example.net")
    assert first_run.SELF in _done("dev@localhost")


def test_sending_is_ready_when_doctor_has_nothing_to_say(ses, aws, deployed):
    deployed()
    assert first_run.SENDING in _done()
    ses.tell(production=False)
    assert first_run.SENDING not in _done()


def test_the_list_goes_away_when_all_is_done_and_can_be_seen_again(dashboard, ses, deployed, person):
    deployed(SITE_COLOR="#884422")
    dashboard.see("/admin")
    person("admin@example.org")
    campaigns.send_now(campaigns.create(Draft("Beans", "<p>x</p>")).campaign.id)
    seen = dashboard.see("/admin")
    assert "of 6 done" not in seen
    assert "6 of 6 done" in dashboard.see("/admin/start")
    ses.tell(production=False)
    assert "of 6 done" not in dashboard.see("/admin"), "it has been done"


def test_a_publication_that_has_sent_before_sees_no_beginners_list(dashboard, ses):
    campaigns.send_now(campaigns.create(Draft("Beans", "<p>x</p>")).campaign.id)
    assert "done" not in dashboard.see("/admin")
    assert milestones.list_reached() == {"all"}
    assert 'href="/admin/start"' in dashboard.get("/admin").text


def test_looking_does_not_tick_anything(dashboard):
    for _ in range(2):
        dashboard.see("/admin")
        dashboard.see("/admin/start")
    assert milestones.list_reached() == {"begun"}


def test_when_it_cannot_be_found_out_the_overview_is_shown_without(dashboard, monkeypatch):
    def fail():
        raise Unavailable

    monkeypatch.setattr(milestones, "list_reached", fail)
    assert "Getting started" in dashboard.see("/admin")
    assert "of 6 done" not in dashboard.see("/admin")


def test_dns_records_are_there_to_copy(dashboard, ses):
    ses.tell(dkim="PENDING")
    seen = dashboard.see("/admin/start")
    assert "DKIM CNAME Not found yet Name local1._domainkey.example.org" in seen
    assert "Value local1.dkim.amazonses.com" in seen
    assert "MAIL FROM MX Found Name mail.example.org" in seen
    assert "10 feedback-smtp.eu-west-1.amazonses.com" in seen
    assert '"v=spf1 include:amazonses.com ~all"' in seen
    assert "DMARC TXT checked by make doctor Name _dmarc.example.org" in seen


def test_without_a_domain_in_ses_the_page_says_what_to_do(dashboard, ses):
    ses.tell(identities=["news@example.org"])
    assert "SES knows no domain for the sender yet" in dashboard.see("/admin/start")


def test_when_ses_does_not_answer_that_is_said(dashboard, configure):
    configure(AWS_ENDPOINT_URL_SESV2="http://127.0.0.1:9")
    assert "The SES account could not be checked" in dashboard.see("/admin/start")


def test_a_mail_from_domain_is_suggested_where_there_is_none():
    identity = Identity("example.org", True, True, "SUCCESS", None, "", ("a",), "dkim.eu-west-1.amazonses.com")
    records = {record.purpose: record for record in dns_records.list_records(identity, "eu-west-1")}
    assert records["DKIM"].value == "a.dkim.eu-west-1.amazonses.com"
    assert records["DKIM"].state == dns_records.FOUND
    assert (records["MAIL FROM"].name, records["MAIL FROM"].state) == ("bounce.example.org", dns_records.MISSING)
    assert records["SPF"].name == "bounce.example.org"


def test_own_keys_need_no_names_of_ses():
    answer = {"DkimAttributes": {"SigningAttributesOrigin": "EXTERNAL", "Tokens": ["selector"], "Status": "SUCCESS"}}
    assert parse_identity("example.org", answer).dkim_names == ()


def test_the_pages_are_small(dashboard):
    for path in ("/admin", "/admin/start"):
        assert len(dashboard.get(path).body) <= LARGEST

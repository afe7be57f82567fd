"""The JSON API before anything is sent: preview, test mail, preflight and the size of the audience."""

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.sesv2.models import sesv2_backends

from chalicelib.kernel.errors import Unavailable
from chalicelib.mail import account
from chalicelib.mail.account import Account
from tests.rooms.campaigns.api import API, UNKNOWN, created


def test_the_preview_is_the_test_mail_byte_for_byte(admin):
    boto3.client("sesv2").create_email_identity(EmailIdentity="news@example.org")
    made = created(admin)
    url = f"{API}/{made['id']}"
    preview = admin.get(f"{url}/preview?nickname=Ana")
    assert preview.status == 200
    assert "Hi Ana" in preview.text
    assert "unsafe-inline" in preview.headers["Content-Security-Policy"]
    answer = admin.post(f"{url}/test", json={"email": "me@example.org", "nickname": "Ana"})
    assert (answer.status, answer.json["state"]) == (200, "draft")
    [mail] = sesv2_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].core_backend.sent_messages
    assert mail.body == preview.text
    draft = admin.post(f"{API}/preview", json={"subject": "Hello", "body": made["body"], "nickname": "Ana"})
    assert draft.json["subject"] == "Hello"
    assert draft.json["text"].startswith("Hi Ana\n")


@pytest.mark.parametrize(
    "fields", [{}, {"email": "nonsense"}, {"email": 5}, {"email": "a@example.org", "nickname": 5}]
)
def test_a_test_mail_that_cannot_be_sent(admin, fields):
    assert admin.post(f"{API}/{created(admin)['id']}/test", json=fields).status == 400


def test_the_preflight_reports_problems_and_the_cost(admin, monkeypatch):
    monkeypatch.setattr(account, "account", lambda: Account(200, 1, 0, True, True, "HEALTHY"))  # moto has none
    monkeypatch.setattr(account, "identity", lambda: None)
    made = created(admin, body='<p>Hi {{nickname}} <a href="http://example.org">x</a></p>')
    report = admin.get(f"{API}/{made['id']}/preflight")
    assert report.status == 200
    assert (report.json["recipients"], report.json["cost_usd"]) == (0, 0)
    found = {finding["code"]: finding["level"] for finding in report.json["findings"]}
    assert found["http_links"] == found["no_fallback"] == found["nobody"] == "warning"
    assert found["unverified"] == "error"
    assert report.json["ready"] is False
    assert admin.get(f"{API}/{UNKNOWN}/preflight").status == 404


def test_the_preflight_does_without_ses_when_it_is_silent(admin, monkeypatch):
    def silent() -> Account:
        raise Unavailable("The email service cannot be reached")

    monkeypatch.setattr(account, "account", silent)
    report = admin.get(f"{API}/{created(admin)['id']}/preflight").json
    assert "ses_silent" in {finding["code"] for finding in report["findings"]}
    assert report["finishes_at"] is None


def test_an_audience_is_counted_before_anything_is_sent(admin):
    assert admin.post(f"{API}/audience", json={}).json == {"recipients": 0}
    assert admin.post(f"{API}/audience", json={"aim": {"tags": {"any": 5}}}).status == 400

"""The doctor with an account in moto, a fake DNS and a site on loopback."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest
from moto import mock_aws

from chalicelib.admin import diagnostics
from chalicelib.kernel import settings as app_settings
from chalicelib.kernel.findings import Level
from chalicelib.site import service as site_service
from deploy import doctor, secrets, template
from deploy.checks import account, sending, storage, web
from deploy.stage import Stage

STAGE = Stage("test", {})


class Site:
    """A server with fixed answers by path."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, dict[str, str], str]] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, headers, body = site.answers.get(self.path, (404, {}, "{}"))
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

            do_POST = do_GET  # noqa: N815

            def log_message(self, *ignored: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


class Ses:
    """SES as an account with one domain sees it."""

    class exceptions:  # noqa: N801 - as botocore calls it
        class NotFoundException(Exception):
            pass

    def __init__(self, account: dict[str, Any], **identities: dict[str, Any]) -> None:
        self.account, self.identities = account, identities
        self.sets: dict[str, list[dict[str, Any]]] = {}

    def get_configuration_set_event_destinations(self, ConfigurationSetName: str) -> dict[str, Any]:  # noqa: N803
        if ConfigurationSetName not in self.sets:
            raise self.exceptions.NotFoundException
        return {"EventDestinations": self.sets[ConfigurationSetName]}

    def get_account(self) -> dict[str, Any]:
        return self.account

    def get_email_identity(self, EmailIdentity: str) -> dict[str, Any]:  # noqa: N803
        if EmailIdentity not in self.identities:
            raise self.exceptions.NotFoundException
        return self.identities[EmailIdentity]


GOOD_ACCOUNT = {
    "ProductionAccessEnabled": True,
    "SendingEnabled": True,
    "EnforcementStatus": "HEALTHY",
    "SendQuota": {"Max24HourSend": 50000.0},
}
GOOD_IDENTITY = {
    "VerifiedForSendingStatus": True,
    "DkimAttributes": {"SigningEnabled": True, "Status": "SUCCESS", "Tokens": ["one"]},
    "MailFromAttributes": {"MailFromDomain": "bounce.example.org"},
}
GOOD_NAMES = {
    ("one._domainkey.example.org", "CNAME"): ["one.dkim.amazonses.com."],
    ("bounce.example.org", "TXT"): ["v=spf1 include:amazonses.com ~all"],
    ("_dmarc.example.org", "TXT"): ["v=DMARC1; p=none"],
}


def _messages(findings: Iterator[Any]) -> list[str]:
    return [finding.message for finding in findings]


def test_a_sending_account_in_order_has_no_findings():
    ses = Ses(GOOD_ACCOUNT, **{"example.org": GOOD_IDENTITY})
    assert not _messages(sending.check_account(lambda _: ses))
    assert not _messages(sending.check_identity(lambda _: ses, "Me <me@example.org>"))
    assert not _messages(sending.check_dns(lambda _: ses, "me@example.org", _lookup(GOOD_NAMES)))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"ProductionAccessEnabled": False}, "SES is in the sandbox"),
        ({"SendingEnabled": False}, "SES sending is paused"),
        ({"EnforcementStatus": "PROBATION"}, "The SES account status is probation"),
        ({"SendQuota": {"Max24HourSend": 200.0}}, "SES sends at most 200 emails a day"),
    ],
)
def test_problems_of_the_sending_account_are_found(change, what):
    assert _messages(sending.check_account(lambda _: Ses(GOOD_ACCOUNT | change))) == [what]


@pytest.mark.parametrize(
    ("identities", "what"),
    [
        ({}, "The sender identity was not found in SES"),
        ({"me@example.org": {}}, "only the address is verified"),
        ({"example.org": GOOD_IDENTITY | {"VerifiedForSendingStatus": False}}, "example.org is not verified"),
        (
            {"example.org": GOOD_IDENTITY | {"DkimAttributes": {"Status": "PENDING"}}},
            "DKIM is not set up for example.org",
        ),
        ({"example.org": GOOD_IDENTITY | {"MailFromAttributes": {}}}, "example.org has no MAIL FROM domain"),
    ],
)
def test_problems_of_the_sender_are_found(identities, what):
    ses = Ses(GOOD_ACCOUNT, **identities)
    assert _messages(sending.check_identity(lambda _: ses, "Me <me@example.org>")) == [what]


@pytest.mark.parametrize(
    ("missing", "what"),
    [
        ("one._domainkey.example.org", "the CNAME one._domainkey.example.org is missing"),
        ("bounce.example.org", "the SPF record of bounce.example.org does not include SES"),
        ("_dmarc.example.org", "example.org has no DMARC record"),
    ],
)
def test_a_missing_record_is_named(missing, what):
    ses = Ses(GOOD_ACCOUNT, **{"example.org": GOOD_IDENTITY})
    records = {key: value for key, value in GOOD_NAMES.items() if key[0] != missing}
    assert _messages(sending.check_dns(lambda _: ses, "me@example.org", _lookup(records))) == [what]


def test_an_admin_page_without_authentication_is_an_error(site):
    site.answers["/admin"] = (200, {}, "welcome")
    [finding] = web.check_authentication(site.url)
    assert finding.level is Level.ERROR
    assert "returns 200 without a token" in finding.message


@pytest.mark.parametrize(
    "answer", [(401, {}, ""), (403, {}, ""), (302, {"Location": "https://example.cloudflareaccess.com/login"}, "")]
)
def test_an_admin_page_that_refuses_is_fine(site, answer):
    site.answers["/admin"] = site.answers["/admin/api/subscribers"] = answer
    assert not list(web.check_authentication(site.url))


def test_a_redirect_to_another_page_is_no_refusal(site):
    site.answers["/admin"] = (302, {"Location": "/admin/campaigns"}, "")
    assert len(list(web.check_authentication(site.url))) == 1


def test_a_webhook_behind_a_redirect_is_found(site):
    site.answers["/api/webhooks/feed"] = (302, {"Location": "https://example.cloudflareaccess.com/login"}, "")
    assert _messages(web.check_webhooks(site.url)) == ["/api/webhooks/feed returns a redirect"]
    site.answers["/api/webhooks/feed"] = (401, {}, "{}")
    assert not list(web.check_webhooks(site.url))


def test_a_site_that_fails_or_does_not_respond_is_found(site):
    site.answers["/health"] = (503, {}, "{}")
    assert _messages(web.check_health(site.url)) == ["/health returns 503"]
    assert _messages(web.check_health("http://127.0.0.1:9")) == ["http://127.0.0.1:9 does not respond"]


def test_a_url_without_keys_is_found(site):
    site.answers["/certs"] = (200, {}, json.dumps({"keys": [{"kid": "one"}]}))
    assert not list(web.check_keys(f"{site.url}/certs"))
    assert len(list(web.check_keys(f"{site.url}/nothing"))) == 1


@pytest.fixture
def moto_account() -> Iterator[None]:
    with mock_aws():
        yield


def _paths() -> list[str]:
    return [f"/gna/test/{name}" for name in ("SECRET_KEY", "TOKEN_KEYS", "WEBHOOK_SECRET")]


def test_missing_secrets_are_named_and_created_once(moto_account):
    found = list(account.check_secrets(boto3.client, STAGE))
    assert [finding.message.partition(" ")[0] for finding in found] == (created := _paths())
    assert [finding.why for finding in found if "TOKEN_KEYS" not in finding.message] == [
        "nothing works without it"
    ] * 2
    assert secrets.ensure(boto3.client, STAGE) == created
    first = boto3.client("ssm").get_parameter(Name="/gna/test/SECRET_KEY", WithDecryption=True)["Parameter"]["Value"]
    assert len(first) >= 32
    assert secrets.ensure(boto3.client, STAGE) == []
    again = boto3.client("ssm").get_parameter(Name="/gna/test/SECRET_KEY", WithDecryption=True)["Parameter"]["Value"]
    assert again == first
    assert not list(account.check_secrets(boto3.client, STAGE))


def test_tables_and_queues_that_are_missing_or_differ_are_named(moto_account):
    wanted = template.resources()
    wanted["Resources"] = {name: wanted["Resources"][name] for name in ("LimitsTable", "AudienceQueue")}
    assert _messages(account.check_tables(boto3.client, STAGE, wanted)) == ["the table gna-test-limits is missing"]
    assert _messages(account.check_queues(boto3.client, STAGE, wanted)) == ["the queue gna-test-audience is missing"]

    boto3.client("dynamodb").create_table(
        TableName="gna-test-limits",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
    )
    boto3.client("sqs").create_queue(QueueName="gna-test-audience")
    assert _messages(account.check_tables(boto3.client, STAGE, wanted)) == [
        "the table gna-test-limits does not have the keys in the template",
        "the table gna-test-limits has no deletion protection",
        "the TTL of gna-test-limits does not match the template",
    ]
    assert "the queue gna-test-audience has a different redrive policy" in _messages(
        account.check_queues(boto3.client, STAGE, wanted)
    )


def test_the_bucket_for_pictures_is_there_and_closed(moto_account):
    s3, name = boto3.client("s3"), "gna-test-media-123456789012"
    assert _messages(storage.check_bucket(boto3.client, STAGE)) == [f"the bucket {name} is missing"]
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": s3.meta.region_name})
    assert _messages(storage.check_bucket(boto3.client, STAGE)) == [
        f"the bucket {name} can be made public",
        f"the bucket {name} keeps abandoned uploads",
    ]
    bucket = template.resources()["Resources"]["MediaBucket"]["Properties"]
    s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration=bucket["PublicAccessBlockConfiguration"])
    rule = {"ID": "a", "Status": "Enabled", "Filter": {"Prefix": "incoming/"}, "Expiration": {"Days": 1}}
    s3.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [rule]})
    assert _messages(storage.check_bucket(boto3.client, STAGE)) == []


REPORTED = {"Enabled": True, "MatchingEventTypes": ["BOUNCE", "COMPLAINT", "REJECT"]}


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ({"gna-test": [REPORTED], "gna-test-imported": [REPORTED]}, []),
        ({"gna-test": [REPORTED]}, ["the configuration set gna-test-imported is missing"]),
        (
            {"gna-test": [REPORTED | {"Enabled": False}], "gna-test-imported": [{"Enabled": True}]},
            [
                "the configuration set gna-test does not report bounces and complaints",
                "the configuration set gna-test-imported does not report bounces and complaints",
            ],
        ),
    ],
)
def test_both_configuration_sets_report_bounces_and_complaints(sets, said):
    ses = Ses(GOOD_ACCOUNT)
    ses.sets = sets
    configured = app_settings.load(STAGE.environment)
    names = (configured.configuration_set, configured.validating_configuration_set)
    assert _messages(sending.check_reports(lambda name: ses, names)) == said
    assert _messages(sending.check_reports(lambda name: ses, ("", ""))) == []


def test_backups_are_as_the_template_wants_them(moto_account):
    wanted = template.resources()
    tables = {"LimitsTable": "key", "EmailsTable": "address"}
    wanted["Resources"] = {name: wanted["Resources"][name] for name in tables}
    for name, key in (("gna-test-limits", "key"), ("gna-test-emails", "address")):
        boto3.client("dynamodb").create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
            KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
        )
    boto3.client("dynamodb").update_continuous_backups(
        TableName="gna-test-limits", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    found = [said for said in _messages(account.check_tables(boto3.client, STAGE, wanted)) if "recovery" in said]
    assert found == [
        "the table gna-test-limits has point-in-time recovery",
        "the table gna-test-emails has no point-in-time recovery",
    ]


def test_an_api_that_answers_at_its_own_url_is_noted_once_there_is_a_domain(site):
    site.answers["/health"] = (200, {}, "{}")
    [open_] = web.check_endpoint(site.url, disabled=False)
    [not_closed] = web.check_endpoint(site.url, disabled=True)
    assert (open_.level, not_closed.level) == (Level.NOTE, Level.ERROR)
    assert "DISABLE_EXECUTE_API=true" in open_.text
    site.answers["/health"] = (403, {}, '{"message":"Forbidden"}')
    assert not list(web.check_endpoint(site.url, disabled=True))
    assert not list(web.check_endpoint("http://127.0.0.1:9", disabled=True))


def test_messages_in_a_dead_letter_queue_are_found(moto_account):
    wanted = template.resources()
    wanted["Resources"] = {"AudienceDeadLetters": wanted["Resources"]["AudienceDeadLetters"]}
    url = boto3.client("sqs").create_queue(QueueName="gna-test-audience-dead")["QueueUrl"]
    assert not list(account.check_queues(boto3.client, STAGE, wanted))
    boto3.client("sqs").send_message(QueueUrl=url, MessageBody="{}")
    assert _messages(account.check_queues(boto3.client, STAGE, wanted)) == [
        "1 message is waiting in gna-test-audience-dead"
    ]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"SITE_URL": "nonsense"}, "SITE_URL must be an http(s) URL"),
        ({"SITE_ULR": "https://news.example.org"}, "unknown in test.env: SITE_ULR"),
        ({"DISABLE_AUTH": "true"}, "DISABLE_AUTH is for local use only"),
        ({"SECRET_KEY": "written down"}, "unknown in test.env: SECRET_KEY"),
        ({"TOKEN_KEYS": "1:written"}, "unknown in test.env: TOKEN_KEYS"),
        ({"YOUTUBE_API_KEY": "written"}, "--type SecureString --name /gna/test/YOUTUBE_API_KEY"),
        ({"YOUTUBE_ORIGIN": "https://other.example.org"}, "unknown in test.env: YOUTUBE_ORIGIN"),
    ],
)
def test_invalid_settings_end_the_examination(settings, said):
    [finding] = doctor.examine(Stage("test", settings), boto3.client)
    assert finding.level is Level.ERROR
    assert said in finding.why


def _lookup(records: dict[tuple[str, str], list[str]]) -> sending.Lookup:
    return lambda name, kind: records.get((name, kind), [])


def test_a_finding_is_one_line_with_what_why_and_how():
    findings = diagnostics.check(
        app_settings.load({"SITE_URL": "https://news.example.org", "FROM_EMAIL": "me@example.org"})
    )
    assert "ERROR ADMIN_EMAIL is not set: nobody is notified of a failing feed or of alarms. Set ADMIN_EMAIL." in [
        doctor.line(finding) for finding in findings
    ]


def test_what_editors_have_changed_counts_for_the_doctor_too(http):
    configured = app_settings.load({"SITE_URL": "https://news.example.org", "GNA_PREFIX": STAGE.prefix})
    assert doctor._shown(STAGE, configured, boto3.client).postal_address == ""
    site_service.change({"postal_address": "1 Orchard Lane"}, "ada@example.org")
    assert doctor._shown(STAGE, configured, boto3.client).postal_address == "1 Orchard Lane"


def test_before_the_first_deployment_the_doctor_knows_the_settings_alone(moto_account):
    configured = app_settings.load({"SITE_URL": "https://news.example.org", "POSTAL_ADDRESS": "2 Orchard Lane"})
    assert doctor._shown(STAGE, configured, boto3.client).postal_address == "2 Orchard Lane"

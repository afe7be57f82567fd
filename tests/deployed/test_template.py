"""The deployed template, read as CloudFormation reads it: checks that the emulator cannot make."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chalicelib.bounces import model as bounces
from deploy import functions

ROOT = Path(__file__).parent.parent.parent
FUNCTION = "AWS::Serverless::Function"
QUEUE = "AWS::SQS::Queue"
TABLE = "AWS::DynamoDB::Table"
ALARM = "AWS::CloudWatch::Alarm"


def test_the_lint_finds_nothing(packaged):
    lint = Path(sys.executable).parent / "cfn-lint"
    run = subprocess.run([lint, packaged.folder / "template.json"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_every_table_is_protected_and_can_be_restored(packaged):
    for name, table in packaged.resources(TABLE).items():
        assert table["DeletionProtectionEnabled"], name
        backed_up = table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
        # The rows of one may not outlive their day, and ended sessions and deleted tokens may not come back.
        assert backed_up == (name not in ("LimitsTable", "SessionsTable", "ConnectionsTable")), name
        assert table["BillingMode"] == "PAY_PER_REQUEST", name
        resource = packaged.template["Resources"][name]
        assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"


def test_every_bucket_refuses_what_does_not_come_over_tls(packaged):
    policies = {
        policy["Bucket"]["Ref"]: policy["PolicyDocument"]["Statement"]
        for policy in packaged.resources("AWS::S3::BucketPolicy").values()
    }
    for name in packaged.resources("AWS::S3::Bucket"):
        [statement] = policies[name]
        assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        assert statement["Resource"] == [{"Fn::GetAtt": [name, "Arn"]}, {"Fn::Sub": f"${{{name}.Arn}}/*"}]


def test_every_table_with_expiring_rows_has_a_ttl(packaged):
    """A row class with `expires_at` belongs to a table with that time to live."""
    expiring = set()
    for file in (ROOT / "chalicelib").rglob("*.py"):
        for body in re.split(r"^class ", file.read_text(), flags=re.MULTILINE)[1:]:
            if "expires_at = " in body and (name := re.search(r'table_name = tables\.name\("(\w+)"\)', body)):
                expiring.add(name[1])
    tables = {t["TableName"]["Fn::Sub"].removeprefix("${Prefix}-"): t for t in packaged.resources(TABLE).values()}
    assert {"limits", "locks"} <= expiring
    for name in expiring:
        assert tables[name]["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}, name


def test_the_feed_is_checked_as_often_as_the_stage_says(packaged):
    assert packaged.resources(FUNCTION)["CheckFeed"]["Events"] == {
        "CheckFeedEvent": {
            "Type": "Schedule",
            "Properties": {"Schedule": {"Fn::Sub": "rate(${FeedEvery} minutes)"}},
        }
    }


def test_every_dead_letter_queue_has_an_alarm(packaged):
    queues = packaged.resources(QUEUE)
    dead = {
        queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        for queue in queues.values()
        if "RedrivePolicy" in queue
    }
    watched = {
        alarm["Dimensions"][0]["Value"]["Fn::GetAtt"][0]
        for alarm in packaged.resources(ALARM).values()
        if alarm["Namespace"] == "AWS/SQS"
    }
    assert set(queues) - dead == {name for name, queue in queues.items() if "RedrivePolicy" in queue}
    assert dead == watched
    assert {queues[name]["MessageRetentionPeriod"] for name in dead - {"MailEventsDeadLetters"}} == {1209600}
    assert queues["MailEventsDeadLetters"]["MessageRetentionPeriod"] == bounces.KEPT.total_seconds()


def test_queues_hide_a_message_longer_than_its_function_may_run(packaged):
    queues = packaged.resources(QUEUE)
    for name, function in packaged.resources(FUNCTION).items():
        for event in function.get("Events", {}).values():
            if event["Type"] == "SQS":
                queue = queues[event["Properties"]["Queue"]["Fn::GetAtt"][0]]
                assert queue["VisibilityTimeout"] >= function["Timeout"], name
                assert event["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_every_function_has_a_role_of_its_own(packaged):
    roles = [function["Role"]["Fn::GetAtt"][0] for function in packaged.resources(FUNCTION).values()]
    assert len(roles) == len(set(roles))
    assert set(roles) == set(packaged.resources("AWS::IAM::Role"))


def test_no_role_may_do_everything_or_touch_everything(packaged):
    for name, role in packaged.resources("AWS::IAM::Role").items():
        assert "ManagedPolicyArns" not in role
        for statement in _statements(role):
            assert not [action for action in statement["Action"] if "*" in action], name
            if statement["Resource"] == "*":
                assert statement["Action"] == ["ses:GetAccount"], name


def test_rights_name_only_tables_and_queues_that_exist(packaged):
    tables = {_plain(t["TableName"]) for t in packaged.resources(TABLE).values()}
    queues = {_plain(q["QueueName"]) for q in packaged.resources(QUEUE).values()}
    for function in functions.load():
        assert {*function.read, *function.write} <= tables, function.name
        assert {*function.send, *function.consume} <= queues, function.name


def test_every_table_and_queue_is_used_by_a_function(packaged):
    listed = functions.load()
    tables = {_plain(t["TableName"]) for t in packaged.resources(TABLE).values()}
    queues = {_plain(q["QueueName"]) for q in packaged.resources(QUEUE).values() if "RedrivePolicy" in q}
    assert tables == {name for function in listed for name in (*function.read, *function.write)}
    assert queues == {name for function in listed for name in function.consume}


def test_a_function_may_consume_the_queue_it_listens_to(packaged):
    rights = {function.logical_id: function for function in functions.load()}
    queues = packaged.resources(QUEUE)
    for name, function in packaged.resources(FUNCTION).items():
        heard = {
            _plain(queues[event["Properties"]["Queue"]["Fn::GetAtt"][0]]["QueueName"])
            for event in function.get("Events", {}).values()
            if event["Type"] == "SQS"
        }
        assert heard == set(rights[name].consume)


def test_every_function_keeps_its_log_for_a_month_and_no_longer(packaged):
    groups = packaged.resources("AWS::Logs::LogGroup")
    logged = {re.search(r"\$\{(\w+)\}", group["LogGroupName"]["Fn::Sub"])[1] for group in groups.values()}
    assert logged == set(packaged.resources(FUNCTION))
    assert {group["RetentionInDays"] for group in groups.values()} == {30}


def test_every_admin_method_has_the_authorizer_before_it(packaged):
    definition = _api(packaged)
    for path, methods in definition["paths"].items():
        if path == "/admin" or path.startswith("/admin/"):
            for method, operation in methods.items():
                assert operation.get("security") == [{"authorizer": []}], f"{method} {path}"


def test_the_authorizer_reads_the_access_header_and_caches_no_result(packaged):
    for name, scheme in _api(packaged).get("securityDefinitions", {}).items():
        assert (name, scheme["name"], scheme["in"]) == ("authorizer", "Cf-Access-Jwt-Assertion", "header")
        assert scheme["x-amazon-apigateway-authorizer"]["authorizerResultTtlInSeconds"] == 0


def test_the_authorizer_has_its_own_entry_point_and_no_permissions(packaged):
    assert packaged.resources(FUNCTION)["Authorizer"]["Handler"] == "chalicelib.access.authorizer.handle"
    statements = _statements(packaged.resources("AWS::IAM::Role")["AuthorizerRole"])
    assert {action.split(":")[0] for statement in statements for action in statement["Action"]} == {"logs"}


@pytest.mark.parametrize(
    ("kind", "status", "body"),
    [
        ("UNAUTHORIZED", "401", {"error": "Authentication required"}),
        ("ACCESS_DENIED", "403", {"error": "$context.authorizer.reason"}),
        ("AUTHORIZER_CONFIGURATION_ERROR", "500", {"error": "Server misconfiguration"}),
        ("AUTHORIZER_FAILURE", "503", {"error": "Service unavailable"}),
        ("INTEGRATION_FAILURE", "503", {"error": "Service unavailable"}),
        ("MISSING_AUTHENTICATION_TOKEN", "404", {"error": "Not found"}),
    ],
)
def test_gateway_responses_have_our_form(packaged, kind, status, body):
    answer = _api(packaged)["x-amazon-apigateway-gateway-responses"][kind]
    assert answer["statusCode"] == status
    assert json.loads(answer["responseTemplates"]["application/json"]) == body


def test_the_defaults_leave_the_statuses_of_the_others_alone(packaged):
    answers = _api(packaged)["x-amazon-apigateway-gateway-responses"]
    assert "statusCode" not in answers["DEFAULT_4XX"]
    assert "statusCode" not in answers["DEFAULT_5XX"]


def test_downloads_are_private_and_expire_soon(packaged):
    bucket = packaged.resources("AWS::S3::Bucket")["DownloadsBucket"]
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["LifecycleConfiguration"]["Rules"][0]["ExpirationInDays"] == 1


def test_only_ses_of_this_account_may_publish_mail_events(packaged):
    [statement] = packaged.resources("AWS::SNS::TopicPolicy")["MailEventsTopicPolicy"]["PolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "ses.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"AWS:SourceAccount": {"Ref": "AWS::AccountId"}}}
    destinations = packaged.resources("AWS::SES::ConfigurationSetEventDestination").values()
    assert len(destinations) == len(packaged.resources("AWS::SES::ConfigurationSet")) == 2
    for destination in destinations:
        matching = set(destination["EventDestination"]["MatchingEventTypes"])
        assert {"bounce", "complaint", "renderingFailure"} <= matching


def test_the_api_is_throttled_and_keeps_no_access_log(packaged):
    api = packaged.resources("AWS::Serverless::Api")["RestAPI"]
    assert api["MethodSettings"][0]["ThrottlingRateLimit"] > 0
    assert "AccessLogSetting" not in api


def test_every_setting_is_a_parameter_except_secrets_and_disable_auth(packaged):
    code = (ROOT / "chalicelib" / "kernel" / "settings.py").read_text()
    settings = set(re.findall(r'read\.\w+\(\s*"([A-Z_]+)"', code))
    given = set(packaged.template["Globals"]["Function"]["Environment"]["Variables"])
    assert settings - given == {"DISABLE_AUTH", "GNA_LOCAL", "YOUTUBE_ORIGIN", "SPOTIFY_ORIGIN"}
    secrets = {"SECRET_KEY", "WEBHOOK_SECRET", "TOKEN_KEYS", "YOUTUBE_CLIENT_SECRET", "YOUTUBE_API_KEY"}
    assert not given & secrets
    assert "DISABLE_AUTH" not in (packaged.folder / "template.json").read_text()


def test_alarms_reach_the_administrator(packaged):
    topic = packaged.resources("AWS::SNS::Topic")["AlarmTopic"]
    assert topic["Subscription"] == [{"Protocol": "email", "Endpoint": {"Ref": "AdminEmail"}}]
    alarms = packaged.resources(ALARM)
    assert all(alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}] for alarm in alarms.values())
    metrics = {alarm["MetricName"] for alarm in alarms.values()}
    assert metrics >= {"Errors", "Throttles", "5XXError", "Reputation.BounceRate", "Reputation.ComplaintRate"}
    assert metrics >= {"ConfirmationBreaker", "Crash", "RenderingFailure"}


def _api(packaged):
    return packaged.resources("AWS::Serverless::Api")["RestAPI"]["DefinitionBody"]


def _statements(role):
    return [statement for policy in role["Policies"] for statement in policy["PolicyDocument"]["Statement"]]


def _plain(name):
    return name["Fn::Sub"].removeprefix("${Prefix}-")

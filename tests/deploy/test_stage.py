"""From a stage's file to a stack's parameters, and to the configuration of plain `chalice deploy`."""

import json
from email.utils import parseaddr

import pytest

from chalicelib.kernel import settings
from chalicelib.mail import account, mailboxes
from deploy import functions, plain, stage, template, up
from deploy.stage import Refused, Stage


def test_the_example_is_valid_and_complete():
    written = stage.parse((stage.FOLDER / "example.env").read_text())
    merged = template.to_merge()
    parameters = stage.parameters(Stage("prod", written), merged)
    assert parameters["Prefix"] == "gna-prod"
    assert parameters["SecretsPath"] == "/gna/prod"
    assert parameters["SiteUrl"] == "https://news.example.org"
    up._require(merged["Parameters"], parameters, Stage("prod", written))


def test_missing_required_settings_are_named():
    with pytest.raises(Refused, match="SiteUrl"):
        up._require(template.to_merge()["Parameters"], {"Prefix": "gna-prod"}, Stage("prod", {}))


def test_a_stage_without_a_file_is_refused_with_one_line():
    with pytest.raises(Refused, match="copy deploy/stages/example"):
        stage.read("nowhere")


def test_the_environment_takes_precedence_over_the_file():
    chosen = stage.read("example", {"SITE_NAME": "Another", "PATH": "/bin"})
    assert chosen.settings["SITE_NAME"] == "Another"
    assert "PATH" not in chosen.settings


def test_plain_chalice_gets_the_same_permissions_with_names_filled_in(tmp_path):
    (tmp_path / "config.json").write_text('{"version": "2.0", "app_name": "gna", "stages": {}}')
    names = {
        "AWS::Partition": "aws",
        "AWS::Region": "eu-west-1",
        "AWS::AccountId": "123456789012",
        "Prefix": "gna-dev",
        "SecretsPath": "/gna/dev",
        "EventBus": "",
        **stage.sender(Stage("dev", {"FROM_EMAIL": "News <news@example.org>"})),
    }
    plain._configure(Stage("dev", {"SITE_URL": "https://news.example.org"}), names, "arm64", tmp_path)
    part = json.loads((tmp_path / "config.json").read_text())["stages"]["dev"]
    assert part["environment_variables"]["GNA_PREFIX"] == "gna-dev"
    assert set(part["lambda_functions"]) == {function.name for function in functions.load()}
    for function in part["lambda_functions"].values():
        policy = (tmp_path / function["iam_policy_file"]).read_text()
        assert "${" not in policy
        assert "Fn::" not in policy
    assert (
        "arn:aws:sqs:eu-west-1:123456789012:gna-dev-audience" in (tmp_path / "policy-dev-audience.json").read_text()
    )


@pytest.mark.parametrize(
    ("from_email", "address", "domain"),
    [
        ("news@example.org", "news@example.org", "example.org"),
        ("The Letter <news@mail.example.org>", "news@mail.example.org", "example.org"),
        ("news@bücher.example", "news@xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("", "", ""),
    ],
)
def test_policies_name_the_sender_as_the_app_does(from_email, address, domain, configure):
    named = stage.sender(Stage("prod", {"FROM_EMAIL": from_email}))
    assert named == {"SenderAddress": address, "SenderDomain": domain}
    if from_email:
        configure(FROM_EMAIL=from_email)
        assert parseaddr(mailboxes.sender())[1] == named["SenderAddress"]
        assert all(name.endswith(domain) for name in account._candidates(address))


def test_only_the_worker_may_send_campaigns_and_everybody_only_as_the_sender():
    sending = {}
    for function in functions.load():
        for statement in function.statements("log"):
            for action in statement["Action"]:
                if action.startswith("ses:Send"):
                    sending.setdefault(action, []).append((function.name, statement["Condition"]))
    sender = {"ses:FromAddress": {"Fn::Sub": "${SenderAddress}"}}
    for action in ("ses:SendEmail", "ses:SendRawEmail"):
        assert {json.dumps(condition) for _, condition in sending.pop(action)} == {
            json.dumps({"StringEqualsIgnoreCase": sender})
        }
    # SES has no condition key for the sender of a bulk call: requiring one would refuse every campaign.
    assert sending == {
        action: [("sending", {"StringEqualsIgnoreCaseIfExists": sender})]
        for action in ("ses:SendBulkEmail", "ses:SendBulkTemplatedEmail")
    }


def test_only_who_calls_providers_may_read_their_secrets_and_nobody_may_read_all():
    readers: dict[str, set[str]] = {}
    for function in functions.load():
        for statement in function.statements("log"):
            if statement["Action"] == ["ssm:GetParameters"]:
                for resource in statement["Resource"]:
                    readers.setdefault(resource["Fn::Sub"].rpartition("/")[2], set()).add(function.name)
    assert set(readers) == {*settings._SECRETS, *settings._PROVIDER_SECRETS}
    calling = {"api_handler", "clean_up_members", "maintain_following", "members", "poll_sources"}
    assert all(readers[name] == calling for name in settings._PROVIDER_SECRETS)
    assert not readers["SECRET_KEY"] <= calling


def test_a_secret_that_a_provider_has_issued_is_not_for_the_file():
    with pytest.raises(Refused, match="SecureString --name /gna/prod/YOUTUBE_CLIENT_SECRET"):
        stage.parameters(Stage("prod", {"YOUTUBE_CLIENT_SECRET": "written"}), template.to_merge())


def test_the_api_gateway_url_is_closed_only_when_there_is_a_domain():
    domain = {"DOMAIN_NAME": "news.example.org", "CERTIFICATE_ARN": "arn:aws:acm:…"}
    assert not Stage("prod", domain).disables_execute_api
    assert Stage("prod", {**domain, "DISABLE_EXECUTE_API": "true"}).disables_execute_api
    for refused in ({"DISABLE_EXECUTE_API": "true"}, {**domain, "DISABLE_EXECUTE_API": "yes"}):
        with pytest.raises(Refused, match="DISABLE_EXECUTE_API"):
            stage.parameters(Stage("prod", refused), template.to_merge())


@pytest.mark.parametrize("disabled", [True, False])
def test_closing_the_api_gateway_url_changes_the_definition_so_that_it_is_deployed_again(disabled):
    api = {"Type": "AWS::Serverless::Api", "Properties": {"DefinitionBody": {"swagger": "2.0"}}}
    written = {"Resources": {"RestAPI": api}}
    template.set_execute_api(written, disabled=disabled)
    assert api["Properties"]["DefinitionBody"] == {
        "swagger": "2.0",
        "x-amazon-apigateway-endpoint-configuration": {"disableExecuteApiEndpoint": disabled},
    }


def test_gateway_responses_are_set_again_after_chalice_deploy(tmp_path):
    (tmp_path / "deployed").mkdir()
    deployed = [
        {"name": "rest_api", "resource_type": "rest_api", "rest_api_id": "abc"},
        {"name": "mail-sqs-event-source", "resource_type": "sqs_event", "event_uuid": "1234"},
    ]
    (tmp_path / "deployed" / "dev.json").write_text(json.dumps({"resources": deployed}))
    calls = []

    class Recorder:
        def __getattr__(self, operation):
            return lambda **arguments: calls.append((operation, arguments))

    plain.answers(Stage("dev", {}), lambda _: Recorder(), tmp_path)
    put = {arguments["responseType"]: arguments for name, arguments in calls if name == "put_gateway_response"}
    assert put["UNAUTHORIZED"]["statusCode"] == "401"
    assert put["AUTHORIZER_FAILURE"]["statusCode"] == "503"
    assert ("create_deployment", {"restApiId": "abc", "stageName": "api"}) in calls
    mapping = {"UUID": "1234", "FunctionResponseTypes": ["ReportBatchItemFailures"]}
    assert ("update_event_source_mapping", mapping) in calls


def test_gateway_responses_need_a_deployment_first(tmp_path):
    with pytest.raises(Refused, match="chalice deploy --stage dev"):
        plain.answers(Stage("dev", {}), lambda _: None, tmp_path)


def test_chalice_finds_what_is_written_for_it():
    assert (plain.FOLDER / "config.json").exists()

"""`make deploy`, `make resources` and `make doctor` as they are run, on the embedded AWS."""

import copy
import json

from deploy import doctor, plain, secrets, stack, stage, up
from deploy.stage import Stage
from tests.deployed.conftest import SETTINGS


def test_deploying_again_changes_nothing(deployment, packaged, capsys, tmp_path):
    chosen = Stage("again", SETTINGS)
    template = copy.deepcopy(packaged.template)
    only = {name: r for name, r in template["Resources"].items() if r["Type"] == "AWS::DynamoDB::Table"}
    template |= {"Resources": only, "Outputs": {}}
    template.pop("Conditions")
    for name, content in (("template.json", json.dumps(template).encode()), ("deployment.zip", b"code")):
        (tmp_path / name).write_bytes(content)

    up.deploy(chosen, deployment.client, tmp_path)
    said = capsys.readouterr().out
    assert "created /gna/again/SECRET_KEY" in said
    assert "SubscribersTable (AWS::DynamoDB::Table)" in said

    up.deploy(chosen, deployment.client, tmp_path)
    assert capsys.readouterr().out == "gna-again: nothing to change\n"


def test_what_was_deployed_has_the_parameters_of_the_stage(deployment, packaged):
    found = deployment.client("cloudformation").describe_stacks(StackName=deployment.prefix)["Stacks"][0]
    given = {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in found["Parameters"]}
    wanted = stage.parameters(Stage("test", SETTINGS), packaged.template)
    assert wanted.items() <= given.items()


def test_resources_alone_make_what_chalice_deploy_needs(deployment, tmp_path):
    (tmp_path / "config.json").write_text('{"version": "2.0", "app_name": "gna", "stages": {}}')
    plain.resources(Stage("plain", SETTINGS), deployment.client, "arm64", tmp_path)
    tables = deployment.client("dynamodb").list_tables()["TableNames"]
    assert {"gna-plain-subscribers", "gna-plain-limits"} <= set(tables)
    assert "gna-plain-audience" in (tmp_path / "policy-plain-audience.json").read_text()
    assert secrets.missing(deployment.client, Stage("plain", {})) == []


def test_the_doctor_finds_keys_and_queues_as_the_template_has_them(deployment):
    chosen = Stage("test", SETTINGS | {"SITE_URL": deployment.api, "CF_ACCESS_CERTS_URL": deployment.team.url})
    messages = [finding.message for finding in doctor.examine(chosen, deployment.client, lambda name, kind: [])]
    assert "example.org has no DMARC record" in messages
    assert not [
        message for message in messages if message.startswith(("the table", "the queue")) and "missing" in message
    ]
    assert not [text for text in messages if "keys in the template" in text or "redrive policy" in text]
    assert not [text for text in messages if "/admin" in text or "/health" in text or "returns no keys" in text]


def test_an_upload_is_sent_once(deployment):
    first = stack.upload(deployment.client, b"some code", "zip")
    assert stack.upload(deployment.client, b"some code", "zip") == first
    bucket = deployment.client("s3").get_public_access_block(Bucket=first.bucket)["PublicAccessBlockConfiguration"]
    assert all(bucket.values())

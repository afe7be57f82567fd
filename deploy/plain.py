"""Deploying with plain Chalice instead of CloudFormation: `make resources`, `chalice deploy`, `make answers`.

`chalice deploy` creates functions, the API and schedules, but no tables, queues, topics or alarms, and each run
resets API Gateway's error responses to the AWS defaults. This module does what is missing before and after it.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import boto3

from deploy import functions, secrets, stack, stage, template
from deploy.stack import Clients
from deploy.stage import Refused, Stage

# Where Chalice reads its configuration and writes what it deployed.
FOLDER = Path(__file__).parent.parent / ".chalice"


def resources(chosen: Stage, clients: Clients, architecture: str, folder: Path = FOLDER) -> None:
    """Create tables, queues and topics as a stack of their own, and write the stage's Chalice configuration."""
    stage.parameters(chosen, template.to_merge())
    secrets.ensure(clients, chosen)
    parameters = {"Prefix": chosen.prefix, "SiteUrl": chosen.settings["SITE_URL"]}
    stack.apply(clients, f"{chosen.prefix}-resources", template.resources(), parameters)
    identity = clients("sts").get_caller_identity()
    names = {
        "AWS::Partition": identity["Arn"].split(":")[1],
        "AWS::Region": clients("sts").meta.region_name,
        "AWS::AccountId": identity["Account"],
        "Prefix": chosen.prefix,
        "SecretsPath": chosen.secrets_path,
        "EventBus": chosen.settings.get("EVENT_BUS", ""),
        **stage.sender(chosen),
    }
    _configure(chosen, names, architecture, folder)


def _configure(chosen: Stage, names: dict[str, str], architecture: str, folder: Path) -> None:
    all_functions = functions.load()
    config_part = functions.stage_config(all_functions, architecture)
    variables = {name: value for name, value in chosen.environment.items() if value and name not in _TEMPLATE_ONLY}
    config_part["environment_variables"] = variables
    for kind in ("downloads", "media"):
        variables[f"{kind.upper()}_BUCKET"] = f"{chosen.prefix}-{kind}-{names['AWS::AccountId']}"
    for function in all_functions:
        policy = functions.policy(function, f"/aws/lambda/gna-{chosen.name}-{function.name}")
        file = f"policy-{chosen.name}-{function.name}.json"
        (folder / file).write_text(json.dumps(functions.resolve(policy, names), indent=1) + "\n")
        config_part["lambda_functions"][function.name]["iam_policy_file"] = file
    config = json.loads((folder / "config.json").read_text())
    config["stages"][chosen.name] = config_part
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


# Resources that only the CloudFormation template creates.
_TEMPLATE_ONLY = {
    "CONFIGURATION_SET",
    "VALIDATING_CONFIGURATION_SET",
    "DOMAIN_NAME",
    "CERTIFICATE_ARN",
    "DISABLE_EXECUTE_API",
}


def answers(chosen: Stage, clients: Clients, folder: Path = FOLDER) -> None:
    """Set what `chalice deploy` resets or cannot set: error responses and partial batch failures."""
    deployed = folder / "deployed" / f"{chosen.name}.json"
    if not deployed.exists():
        raise Refused(f"run `chalice deploy --stage {chosen.name}` first")
    found = {resource["name"]: resource for resource in json.loads(deployed.read_text())["resources"]}
    api = found["rest_api"]["rest_api_id"]
    _put_gateway_responses(clients("apigateway"), api)
    for resource in found.values():
        if resource["resource_type"] == "sqs_event":
            clients("lambda").update_event_source_mapping(
                UUID=resource["event_uuid"], FunctionResponseTypes=["ReportBatchItemFailures"]
            )


def _put_gateway_responses(gateway: Any, api: str) -> None:
    for _, response in template.named(template.to_merge(), "AWS::ApiGateway::GatewayResponse"):
        arguments = {name[0].lower() + name[1:]: value for name, value in response.items() if name != "RestApiId"}
        gateway.put_gateway_response(restApiId=api, **arguments)
    # Responses take effect with the next deployment of the API.
    gateway.create_deployment(restApiId=api, stageName="api")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("resources", "answers"))
    parser.add_argument("--stage", default="dev")
    parser.add_argument("--arch", default="arm64")
    given = parser.parse_args()
    chosen = stage.read(given.stage)
    if given.what == "resources":
        resources(chosen, boto3.client, given.arch)
        print(f"next: chalice deploy --stage {chosen.name}, then make answers STAGE={chosen.name}")
    else:
        answers(chosen, boto3.client)
        print(f"next: make doctor STAGE={chosen.name}")


if __name__ == "__main__":
    main()

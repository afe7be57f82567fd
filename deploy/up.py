"""`make deploy`: deploys what `make package` built and prints the outputs, such as the URL."""

import argparse
import json
from pathlib import Path

import boto3

from deploy import secrets, stack, stage
from deploy.stack import Clients
from deploy.stage import Refused, Stage
from deploy.template import set_execute_api

ROOT = Path(__file__).parent.parent


def deploy(chosen: Stage, clients: Clients, build: Path) -> dict[str, str]:
    """Check first, so that what is refused is refused before anything is uploaded or changed."""
    template = json.loads((build / "template.json").read_text())
    parameters = stage.parameters(chosen, template)
    _require(template["Parameters"], parameters, chosen)
    for name in secrets.ensure(clients, chosen):
        print(f"created {name}")
    set_execute_api(template, disabled=chosen.disables_execute_api)
    code = stack.upload(clients, (build / "deployment.zip").read_bytes(), "zip")
    return stack.apply(clients, chosen.prefix, stack.with_code(template, code), parameters)


def _require(declared: dict[str, dict[str, str]], given: dict[str, str], chosen: Stage) -> None:
    missing = [name for name, rule in declared.items() if "Default" not in rule and name not in given]
    if missing:
        raise Refused(f"deploy/stages/{chosen.name}.env does not set: {', '.join(missing)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", default="dev")
    chosen = stage.read(parser.parse_args().stage)
    outputs = deploy(chosen, boto3.client, ROOT / "build" / chosen.name)
    print("\n".join(f"{name}: {value}" for name, value in sorted(outputs.items())))
    print(f"next: make doctor STAGE={chosen.name}")


if __name__ == "__main__":
    main()

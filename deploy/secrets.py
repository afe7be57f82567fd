"""`make secrets`: what nobody may know, made once, kept in the parameter store and nowhere else."""

import argparse
import secrets
from typing import Any

import boto3

from deploy import stage as stages
from deploy.stack import Clients
from deploy.stage import Stage

NAMES = ("SECRET_KEY", "WEBHOOK_SECRET")


def missing(clients: Clients, stage: Stage) -> list[str]:
    wanted = [f"{stage.secrets_path}/{name}" for name in NAMES]
    found = clients("ssm").get_parameters(Names=wanted)["Parameters"]
    return sorted(set(wanted) - {parameter["Name"] for parameter in found})


def ensure(clients: Clients, stage: Stage) -> list[str]:
    """Make those that are missing and return their names. One that is there is never replaced: marks made with
    SECRET_KEY (who must not be written to) would no longer be recognised."""
    made = missing(clients, stage)
    for name in made:
        _put(clients("ssm"), name)
    return made


def _put(ssm: Any, name: str) -> None:
    ssm.put_parameter(Name=name, Value=secrets.token_urlsafe(32), Type="SecureString", Overwrite=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", default="dev")
    stage = stages.Stage(parser.parse_args().stage, {})
    made = ensure(boto3.client, stage)
    print("\n".join(f"created {name}" for name in made) or f"{stage.secrets_path}: nothing is missing")


if __name__ == "__main__":
    main()

"""`make secrets`: generates the secrets once and stores them in the parameter store only."""

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
    """Create the missing ones and return their names. An existing one is never replaced: the hashes of addresses that
    must not be contacted are made with SECRET_KEY and would no longer match."""
    created = missing(clients, stage)
    for name in created:
        _put(clients("ssm"), name)
    return created


def _put(ssm: Any, name: str) -> None:
    ssm.put_parameter(Name=name, Value=secrets.token_urlsafe(32), Type="SecureString", Overwrite=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", default="dev")
    stage = stages.Stage(parser.parse_args().stage, {})
    created = ensure(boto3.client, stage)
    print("\n".join(f"created {name}" for name in created) or f"{stage.secrets_path}: nothing is missing")


if __name__ == "__main__":
    main()

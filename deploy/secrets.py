"""`make secrets`: generates the secrets once and stores them in the parameter store only. `ROTATE=tokens` adds a key
that seals the tokens of connected accounts from then on."""

import argparse
import secrets
from collections.abc import Iterable
from typing import Any

import boto3

from chalicelib.kernel import ciphers
from chalicelib.kernel.errors import Misconfigured
from deploy import stage as stages
from deploy.stack import Clients
from deploy.stage import Refused, Stage

RING = "TOKEN_KEYS"
NAMES = ("SECRET_KEY", "WEBHOOK_SECRET", RING)
_MOST_KEYS = 5


def read(clients: Clients, stage: Stage, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The parameters there are, decrypted, by their short names."""
    wanted = [f"{stage.secrets_path}/{name}" for name in names]
    found = clients("ssm").get_parameters(Names=wanted, WithDecryption=True)["Parameters"]
    return {parameter["Name"].rpartition("/")[2]: parameter for parameter in found}


def missing(clients: Clients, stage: Stage) -> list[str]:
    wanted = [f"{stage.secrets_path}/{name}" for name in NAMES]
    found = clients("ssm").get_parameters(Names=wanted)["Parameters"]
    return sorted(set(wanted) - {parameter["Name"] for parameter in found})


def ensure(clients: Clients, stage: Stage) -> list[str]:
    """Create the missing ones and return their names. An existing one is never replaced: the hashes of addresses that
    must not be contacted are made with SECRET_KEY and would no longer match."""
    created = missing(clients, stage)
    for name in created:
        value = ciphers.make_key(1) if name.endswith(f"/{RING}") else secrets.token_urlsafe(32)
        _put(clients("ssm"), name, value, replace=False)
    return created


def rotate_tokens(clients: Clients, stage: Stage) -> int:
    """Add the next key to TOKEN_KEYS and return its version. The others stay, because they open what they sealed."""
    found = read(clients, stage, [RING]).get(RING)
    if not found:
        raise Refused(f"TOKEN_KEYS does not exist yet: make secrets STAGE={stage.name}")
    ring = _parse(found["Value"])
    if len(ring) >= _MOST_KEYS:
        raise Refused(
            f"TOKEN_KEYS has {len(ring)} keys: remove the oldest from {stage.secrets_path}/{RING} (Systems Manager"
            " console, Parameter Store), at least a day after the last rotation; by then nothing is sealed with them"
        )
    version = max(ring) + 1
    value = f"{found['Value'].strip()},{ciphers.make_key(version)}"
    written = _put(clients("ssm"), f"{stage.secrets_path}/{RING}", value, replace=True)
    if written != found["Version"] + 1:
        raise Refused(
            "somebody else changed TOKEN_KEYS at the same time, and their key is lost: put it back from the history"
            " of the parameter"
        )
    return version


def _parse(written: str) -> dict[int, bytes]:
    try:
        return ciphers.parse_ring(written)
    except Misconfigured as failure:
        raise Refused(failure.reason) from None


def _put(ssm: Any, name: str, value: str, *, replace: bool) -> int:
    """The version of the parameter that was written."""
    return int(ssm.put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=replace)["Version"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", default="dev")
    parser.add_argument("--rotate", choices=("tokens",))
    given = parser.parse_args()
    stage = stages.Stage(given.stage, {})
    created = ensure(boto3.client, stage)
    print("\n".join(f"created {name}" for name in created) or f"{stage.secrets_path}: nothing is missing")
    if given.rotate:
        version = rotate_tokens(boto3.client, stage)
        print(f"TOKEN_KEYS: version {version} seals tokens in every function that starts from now on")


if __name__ == "__main__":
    main()

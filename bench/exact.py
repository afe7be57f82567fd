"""A DynamoDB that computes units from the size of rows and reads large partitions fast: dynoxide, fetched by npm once
into .cache/. Where it is not available, benchmarks use the embedded AWS and fewer rows."""

import shutil
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from bench.emulated import PREFIX
from local import process
from local.emulator import TEMPLATE

_PACKAGE = "@dynoxide/linux-x64@1.2.1"
_CACHE = Path(__file__).parent.parent / ".cache"
_BINARY = _CACHE / "package" / "dynoxide"
_MEANT = ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")


@contextmanager
def running(prefix: str = PREFIX) -> Iterator[str | None]:
    """Its URL, with empty tables in it; None if it is not available."""
    from tests.local.runner import free_port

    if not _fetched():
        yield None
        return
    port = free_port()
    started = process.spawn([str(_BINARY), "serve", "--port", str(port)], {}, log=_CACHE / "dynoxide.log")
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(url)
        _create(url, prefix)
        yield url
    finally:
        process.end(started)


def _fetched() -> bool:
    if _BINARY.exists():
        return True
    if not shutil.which("npm"):
        return False
    _CACHE.mkdir(exist_ok=True)
    done = subprocess.run(
        ["npm", "pack", "--silent", _PACKAGE], cwd=_CACHE, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return False
    with tarfile.open(_CACHE / done.stdout.split()[-1]) as archive:
        archive.extractall(_CACHE, filter="data")
    _BINARY.chmod(0o755)
    return True


def _wait(url: str) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("dynoxide did not start")


def client(url: str) -> Any:
    import botocore.session

    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return botocore.session.get_session().create_client("dynamodb", "eu-west-1", endpoint_url=url, **keys)


def _create(url: str, prefix: str) -> None:
    tables = client(url)
    for resource in yaml.safe_load(TEMPLATE.read_text().replace("${Prefix}", prefix))["Resources"].values():
        if resource["Type"] == "AWS::DynamoDB::Table":
            given: dict[str, Any] = resource["Properties"]
            wanted = {name: given[name] for name in _MEANT if name in given}
            tables.create_table(TableName=given["TableName"]["Fn::Sub"], **wanted)

"""The deployed form: the package and the template as `make package` makes them, built once for all tests here."""

import fcntl
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deploy import package

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker("deployed")


@dataclass(frozen=True)
class Packaged:
    folder: Path
    template: dict[str, Any]

    @property
    def archive(self) -> Path:
        return self.folder / "deployment.zip"

    def resources(self, kind: str) -> dict[str, dict[str, Any]]:
        found = self.template["Resources"].items()
        return {name: resource["Properties"] for name, resource in found if resource["Type"] == kind}


@pytest.fixture(scope="session")
def packaged(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Packaged:
    """Test processes side by side share it: whoever comes first builds, the others wait."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "package"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        template = folder / "template.json"
        if not (folder / "deployment.zip").exists():
            package.package("test", "x86_64", folder)
    return Packaged(folder, json.loads(template.read_text()))

"""What is installed is what is written down, and what that brings along is written down too, with its hashes."""

import itertools
import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy import pins

ROOT = Path(__file__).parent.parent
OF_THE_ENVIRONMENT = {"pip"}  # comes with every virtual environment
FILES = ("requirements.txt", "local/requirements.txt", "requirements-dev.txt")

# pip refuses a list with a gap, also one that shows on another machine only.
ELSEWHERE = [
    {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": system, "platform_system": name}
    | {"platform_machine": machine, "extra": ""}
    for python, (system, name), machine in itertools.product(
        ("3.11", "3.12", "3.13"), (("linux", "Linux"), ("darwin", "Darwin")), ("x86_64", "aarch64", "arm64")
    )
]


def pinned(files):
    lines = "\n".join((ROOT / file).read_text() for file in files)
    found = re.findall(r"^([\w.-]+)==(\S+)", lines, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def is_needed(need):
    return not need.marker or any(need.marker.evaluate(environment) for environment in ELSEWHERE)


def test_each_list_is_closed_under_what_its_packages_need():
    for count in range(1, len(FILES) + 1):
        listed = pinned(FILES[:count])
        for name in listed:
            needed = [Requirement(line) for line in metadata.requires(name) or []]
            wanted = {canonicalize_name(need.name) for need in needed if is_needed(need)}
            missing = wanted - listed.keys() - OF_THE_ENVIRONMENT
            assert not missing, f"{FILES[count - 1]}: {name} needs {missing}"


def test_what_is_installed_is_what_is_pinned():
    for name, version in pinned(FILES).items():
        assert metadata.version(name) == version


@pytest.mark.parametrize("file", pins.FILES, ids=str)
def test_every_pin_has_hashes(file):
    for line in (ROOT / file).read_text().replace("\\\n", " ").splitlines():
        assert re.fullmatch(r"#.*|-r \S+|[\w.-]+==\S+( +--hash=sha256:[0-9a-f]{64})+", line), (
            f"{file}: {line.split()[0]} has no hashes, or not only them: run `make pins`"
        )


def test_every_file_of_requirements_has_its_hashes_written():
    kept = {path.relative_to(ROOT) for folder in (".", "local", "deploy") for path in (ROOT / folder).glob("*.txt")}
    assert {path for path in kept if "requirements" in path.name} == set(pins.FILES)


def test_nothing_is_installed_without_its_hash():
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^PINNED := .*--require-hashes$", makefile, re.MULTILINE)
    installs = re.findall(r"pip install (\S+) -r", makefile)
    assert installs == ["$(PINNED)"] * makefile.count("pip install ")

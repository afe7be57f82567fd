"""What is installed is what is written down, and what that brings along is written down too."""

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
OF_THE_ENVIRONMENT = {"pip", "setuptools"}  # come with every virtual environment
FILES = ("requirements.txt", "local/requirements.txt", "requirements-dev.txt")


def pinned(files):
    lines = "\n".join((ROOT / file).read_text() for file in files)
    return {
        canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)$", lines, re.MULTILINE)
    }


def test_each_list_is_closed_under_what_its_packages_need():
    for count in range(1, len(FILES) + 1):
        pins = pinned(FILES[:count])
        for name in pins:
            needed = [Requirement(line) for line in metadata.requires(name) or []]
            wanted = {canonicalize_name(need.name) for need in needed if not need.marker or need.marker.evaluate()}
            missing = wanted - pins.keys() - OF_THE_ENVIRONMENT
            assert not missing, f"{FILES[count - 1]}: {name} needs {missing}"


def test_what_is_installed_is_what_is_pinned():
    for name, version in pinned(FILES).items():
        assert metadata.version(name) == version

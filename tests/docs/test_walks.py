"""The walks through the code in CONTRIBUTING.md lead to files and functions that exist."""

import ast
import re

import pytest

from tests.docs.pages import ROOT

_WALKS = (ROOT / "CONTRIBUTING.md").read_text().partition("## Six walks")[2].partition("## How to add a provider")[0]
# `path.py` `name`, also `path.py` `name` and `other`; and in short, once the file was named, `module.name`.
_STEP = re.compile(r"`((?:chalicelib/[\w/]+|app)\.py)`,?\s+`(\w+)`(?:\s+and\s+`(\w+)`)?")
_SHORT = re.compile(r"`(\w+)[.:](\w+)`")
_FILE = re.compile(r"`((?:chalicelib|templates)/[\w/.]+)`")


def _steps() -> list[tuple[str, str]]:
    return [(path, name) for path, *names in _STEP.findall(_WALKS) for name in names if name]


def _defined(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.parametrize(("path", "name"), _steps())
def test_a_step_is_found_by_its_name(path, name):
    assert name in _defined(path)


@pytest.mark.parametrize("path", sorted(set(_FILE.findall(_WALKS))))
def test_a_file_on_the_way_is_there(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("walk", _WALKS.split("### ")[1:], ids=lambda walk: walk.partition("\n")[0])
def test_a_step_named_in_short_is_in_a_file_that_the_walk_named(walk):
    modules = {path.rpartition("/")[2].removesuffix(".py"): path for path in _FILE.findall(walk)}
    for module, name in _SHORT.findall(walk):
        assert name == "py" or name in _defined(modules[module]), f"{module}.{name}"


def test_the_walks_are_long_enough_to_be_true():
    assert len(_steps()) >= 30

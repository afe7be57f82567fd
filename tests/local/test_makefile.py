"""Every command works on a fresh clone: what a target uses, it installs first.

`make -n` prints what would be done in a folder that has no environments yet. What a program uses is read from its
imports.
"""

import ast
import re
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from tests.local.runner import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)
APP = ".venv/bin/pip install .* -r local/requirements.txt"
TOOLS = ".venv/bin/pip install .* -r requirements-dev.txt"
EMULATOR = ".emulator-venv/bin/pip install .* -r local/emulator-requirements.txt"
CHROMIUM = ".venv/bin/python -m local.chromium"
# What `pip` in a new environment suffices for, as its recipe says.
BARE = {"deploy.pins"}
FOLDERS = ("app", "bench", "chalicelib", "deploy", "local", "tests")


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """As git has it, as far as make looks at it."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "Makefile").write_text(MAKEFILE)
    for name in re.findall(r"[\w/.-]*requirements[\w-]*\.txt", MAKEFILE):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    return folder


def steps(clone: Path, target: str) -> list[str]:
    done = subprocess.run(
        ["make", "-n", "--no-print-directory", target], cwd=clone, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def is_before(steps: list[str], wanted: str, at: int) -> bool:
    return any(re.search(wanted, step) for step in steps[:at])


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_installs_what_it_uses_before_it_uses_it(clone, target):
    found = steps(clone, target)
    for at, step in enumerate(found):
        for wanted in needs(step):
            assert is_before(found, wanted, at), f"make {target}: `{step.strip()}` comes before `{wanted}`"


def test_this_would_have_found_a_missing_one(clone):
    found = [step for step in steps(clone, "bench") if "emulator" not in step]
    assert any(not is_before(found, wanted, at) for at, step in enumerate(found) for wanted in needs(step))


def needs(step: str) -> list[str]:
    """What a command of a recipe relies on."""
    program = re.search(r"\.venv/bin/(python -m )?([\w.-]+)", step)
    if not program or "pip install" in step or "test -x" in step:
        return []
    if program[2] in BARE:
        return [r"-m venv \.venv"]
    if program[2] == "pytest":
        return [TOOLS, *_needs_of_tests(step)]
    if not program[1]:
        return [TOOLS]
    modules = imported(program[2])
    return [APP, *([TOOLS] if _uses_tools(modules) else []), *([EMULATOR] if "local.emulator" in modules else [])]


def _needs_of_tests(step: str) -> list[str]:
    if '"not emulator and not browser' in step:
        return []
    files = [ROOT / name for name in re.findall(r"tests/[\w/]+\.py", step)] or [ROOT / "tests"]
    text = "".join(path.read_text() for file in files for path in ([file] if file.is_file() else file.rglob("*.py")))
    browser = any("browser" in file.parts for file in files) or files == [ROOT / "tests"]
    emulator = browser or "pytest.mark.emulator" in text
    return [*([EMULATOR] if emulator else []), *([CHROMIUM] if browser else [])]


def _uses_tools(modules: frozenset[str]) -> bool:
    """Whether one of them is in a package that only developers install."""
    given = metadata.packages_distributions()
    used = {package for module in modules - set(FOLDERS) for package in given.get(module, ())}
    app = _pinned("requirements.txt") | _pinned("local/requirements.txt")
    return bool({_canonical(package) for package in used} & (_pinned("requirements-dev.txt") - app))


@cache
def _pinned(file: str) -> frozenset[str]:
    found = re.findall(r"^([\w.-]+)==", (ROOT / file).read_text(), re.MULTILINE)
    return frozenset(_canonical(package) for package in found)


def _canonical(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


@cache
def _imports(path: Path) -> frozenset[str]:
    """What a module imports, anywhere in it, as full names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def _path(module: str, main: bool = False) -> Path | None:
    base = ROOT / Path(*module.split("."))
    candidates = (base / "__main__.py",) if main else (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def imported(program: str) -> frozenset[str]:
    """All that `python -m program` imports, directly or not, and the packages that is in."""
    main = _path(program, main=True)
    # `python -m bench` runs whatever is in its folder.
    waiting = [f"{program}.{path.stem}" for path in main.parent.glob("*.py")] if main else [program]
    seen = set[str]()
    while waiting:
        name = waiting.pop()
        path = _path(name) if name not in seen and name.split(".")[0] in FOLDERS else None
        seen.add(name)
        waiting += _imports(path) if path else []
    return frozenset(seen | {name.split(".")[0] for name in seen})


def test_what_is_used_is_read_from_the_imports():
    assert {"local.emulator", "pytest"} <= imported("bench")
    assert "pytest" not in imported("local.trial.load")
    assert "local.emulator" not in imported("local.reset")
    assert "local.emulator" in imported("local.trial.load")


def test_every_file_of_requirements_is_installed_by_a_target(clone):
    found = "\n".join(step for target in TARGETS for step in steps(clone, target))
    for name in ("local/requirements.txt", "requirements-dev.txt", "local/emulator-requirements.txt"):
        assert f"-r {name}" in found
    assert "-r deploy/audit-requirements.txt" in found


def test_the_first_start_says_how_long_it_takes_and_the_next_one_does_not(clone):
    assert "first start" in "\n".join(steps(clone, "run"))
    for folder, stamp in ((".venv", ".run"), (".emulator-venv", ".ready")):
        (clone / folder).mkdir()
        (clone / folder / stamp).touch()
    try:
        recipe = [step for step in steps(clone, "run") if "first start" in step]
        said = subprocess.run(["sh", "-c", recipe[0]], cwd=clone, capture_output=True, text=True, check=True)
        assert said.stdout == ""
    finally:
        for folder, stamp in ((".venv", ".run"), (".emulator-venv", ".ready")):
            (clone / folder / stamp).unlink()
            (clone / folder).rmdir()

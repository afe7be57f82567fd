"""Whatever the documentation tells somebody to type, works."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
from urllib.parse import urlsplit

import pytest

from chalicelib.members import service as members
from tests.docs import pages
from tests.docs.pages import ROOT

COMMANDS = [command for _, command in pages.commands()]
CURLS = [command for command in COMMANDS if command.startswith("curl ")]
# Which program a documented command starts, and the tests that start it too. What only takes a person's typing away
# (the rest of the recipe) is tried without being done, below.
RUN = {
    "make run": ("local.run", "tests/local/test_run.py"),
    "make reset": ("local.reset", "tests/local/test_run.py"),
    "make demo": ("local.demo", "tests/browser/test_day_in_the_life.py"),
    "make feed": ("local.feed", "tests/rooms/feeds/test_dry_run.py"),
    "make package": ("deploy.package", "tests/deployed/conftest.py"),
    "make deploy": ("deploy.up", "tests/deployed/test_deploying.py"),
    "make secrets": ("deploy.secrets", "tests/deployed/test_deploying.py"),
    "make doctor": ("deploy.doctor", "tests/deploy/test_doctor.py"),
    "make resources": ("deploy.plain", "tests/deployed/test_deploying.py"),
    "make answers": ("deploy.plain", "tests/deploy/test_stage.py"),
    "make redrive": ("deploy.redrive", "tests/deploy/test_redrive.py"),
    "make restore": ("deploy.restore", "tests/deploy/test_restore.py"),
    "make pins": ("deploy.pins", "tests/deploy/test_pins.py"),
    "make pages": ("deploy.privacy", "tests/deploy/test_pages.py"),
    "make translations": ("deploy.translations", "tests/deploy/test_translations.py"),
    "make pictures": ("pytest", "tests/browser/test_day_in_the_life.py"),
}
HERE = {"curl", "cp", "make help"}
NOT_RUN = {
    "make test": "it is the suite, and this is one of its tests",
    "make quick": "so is this: a part of the suite",
    ".venv/bin/python": "and this: one room's part",
    "make check": "it reads the files and does nothing with them; its audit is in tests/deploy/test_pages.py",
    "make format": "it would change the files that are being tested; `make check` fails where it would",
    "make bench": "it takes five minutes and asks for a quiet machine; its table is in tests/bench",
    "make load": "it takes minutes and both cores; how it judges is in tests/local/test_trial.py",
    "make faults": "it takes minutes and both cores; how it judges is in tests/local/test_trial.py",
    "aws ssm": "it needs a real account; tests/rooms/kernel and tests/deploy read such parameters",
    ".venv/bin/chalice": "it deploys to a real account only; what is before and after it is run",
    "git pull": "it is not ours",
    "git checkout": "it is not ours",
}
TARGETS = {"run", "test", "check", "bench", "deploy", "doctor", "demo", "reset", "feed", "pictures"}


def _program(command: str) -> str:
    first, second, *_ = [*command.split(), ""]
    return f"{first} {second}" if first in ("make", "git", "aws") else first


def test_every_command_is_run_or_it_is_said_why_not():
    assert {_program(command) for command in COMMANDS} == RUN.keys() | HERE | NOT_RUN.keys()


@pytest.mark.parametrize("command", RUN)
def test_the_tests_run_what_the_command_runs(command):
    module, where = RUN[command]
    recipe = subprocess.run(
        ["make", "-n", *command.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    room, _, name = module.rpartition(".")
    assert f"-m {module}" in recipe.stdout or command == "make run"  # that one starts make anew
    if room:
        started = rf"{module}\b|from {room} import [\w, ]*\b{name}\b|Runner"
        assert re.search(started, (ROOT / where).read_text()), f"{where} does not start {module}"


def test_help_tells_of_every_command():
    said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    known = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0].split()
    assert {line.split()[0] for line in said.splitlines()} >= set(known) - {"help"}


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("cp ")])
def test_what_is_to_be_copied_is_there(tmp_path, command):
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    assert (tmp_path / command.split()[-1]).exists()


def test_the_readme_names_every_command_a_person_needs():
    named = set(re.findall(r"`make ([a-z]+)", (ROOT / "README.md").read_text()))
    assert named >= TARGETS


@pytest.mark.parametrize("command", sorted({c for c in COMMANDS if c.startswith("make ")}))
def test_make_knows_it(command):
    words = shlex.split(command.partition("[")[0].replace("…", ""))[1:]
    targets = [word for word in words if re.fullmatch(r"[a-z]+", word)]
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(targets) <= known
    # What would be done, without doing it. A target that starts make anew would do so even now.
    dry = [word for word in words if word not in ("run", "...")]
    if any(word in known for word in dry):
        done = subprocess.run(["make", "-n", *dry], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", sorted({name for c in COMMANDS for name in re.findall(r"python -m ([\w.]+)", c)}))
def test_python_finds_it(module):
    assert importlib.util.find_spec(module)


def test_the_shell_understands_the_rest():
    for command in COMMANDS:
        if not command.startswith("make "):
            subprocess.run(["sh", "-n", "-c", command], check=True)
        if command.startswith(("cp ", ".venv/")):
            first = shlex.split(command)[0 if command.startswith(".venv/") else 1]
            assert (ROOT / first).exists(), command


@pytest.fixture
def session(http, configure):
    """Of somebody who joined with the address and password that the documentation uses."""
    configure(MEMBERS="open")
    _, value = members.sign_up("ada@example.org", "Analytical-1", "Analytical-1", None, "192.0.2.1")
    return f"__Host-session={value}"


@pytest.mark.parametrize("command", CURLS)
def test_curl_gets_an_answer(http, session, command):
    words = shlex.split(command)[1:]
    method, headers, body, url = "GET", {}, "", ""
    while words:
        match words.pop(0):
            case "-X":
                method = words.pop(0)
            case "-H":
                name, _, value = words.pop(0).partition(":")
                headers[name] = value.strip()
            case "-d":
                body = words.pop(0)
            case "-c":
                words.pop(0)
            case "-b":
                words.pop(0)
                headers["Cookie"] = session
            case word:
                url = word
    parts = urlsplit(url)
    answer = http.request(method, parts.path + ("?" + parts.query if parts.query else ""), headers=headers, body=body)
    assert answer.status in (200, 201), answer.text


def test_the_answer_shown_is_the_answer_given(http):
    shown = [json.loads(block.text) for block in pages.blocks("json") if block.page == "README.md"]
    assert http.post("/api/subscribe", json={"email": "ada@example.org"}).json in shown


@pytest.mark.parametrize("block", pages.blocks("json"), ids=lambda block: block.page)
def test_json_is_json(block):
    json.loads(block.text)


@pytest.mark.parametrize("block", pages.blocks("python"), ids=lambda block: block.page)
def test_python_is_python(block):
    compile(block.text, block.page, "exec")

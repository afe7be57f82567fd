"""Whatever the documentation tells somebody to type, works."""

import importlib.util
import json
import re
import shlex
import subprocess
from urllib.parse import urlsplit

import pytest

from tests.docs import pages
from tests.docs.pages import ROOT

COMMANDS = [command for _, command in pages.commands()]
CURLS = [command for command in COMMANDS if command.startswith("curl ")]
TARGETS = {"run", "test", "check", "bench", "deploy", "doctor", "demo", "reset", "feed", "pictures"}


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


@pytest.mark.parametrize("command", CURLS)
def test_curl_gets_an_answer(http, command):
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

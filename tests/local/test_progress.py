"""What somebody sees while the first start installs: plain lines, on a terminal or not."""

import subprocess
import sys
from pathlib import Path

from local import progress
from tests.local.runner import ROOT

PIP = """
import sys, time
for name in ("a", "b"):
    print("Collecting", name)
    time.sleep(0.3)
print("Installing collected packages: a, b")
time.sleep(0.3)
sys.exit(int(sys.argv[1]))
"""


def install(tmp_path: Path, code: int, monkeypatch, capsys) -> tuple[int, list[str], str]:
    (tmp_path / "more.txt").write_text("b==1 \\\n    --hash=sha256:00\n")
    (tmp_path / "all.txt").write_text("# all\n-r more.txt\na==1 \\\n    --hash=sha256:00\n")
    monkeypatch.setattr(progress, "_EVERY", 0.2)
    command = [sys.executable, "-c", PIP, str(code), "-r", str(tmp_path / "all.txt")]
    returned = progress.main("the app", command)
    printed = capsys.readouterr()
    return returned, printed.out.splitlines(), printed.err


def test_it_says_how_many_packages_there_are_and_how_far_it_is(tmp_path, monkeypatch, capsys):
    code, lines, errors = install(tmp_path, 0, monkeypatch, capsys)
    assert (code, errors) == (0, "")
    assert lines[0] == "gna: the app: installing 2 packages"
    assert any(line.startswith("gna: the app: 1 of 2 packages found, ") for line in lines)
    assert any(line.startswith("gna: the app: unpacking, ") for line in lines)
    assert lines[-1].startswith("gna: the app: done after ")


def test_a_failure_shows_what_pip_said(tmp_path, monkeypatch, capsys):
    code, lines, errors = install(tmp_path, 3, monkeypatch, capsys)
    assert code == 3
    assert "Collecting a" in errors
    assert lines[-1] == "gna: the app: pip failed (exit code 3): see above"


def test_it_needs_nothing_that_is_not_installed_yet():
    isolated = [sys.executable, "-I", "-S", "local/progress.py", "the app", "true"]
    done = subprocess.run(isolated, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("gna: the app: installing 0 packages\n")

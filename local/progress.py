"""`python local/progress.py "the app" pip install …`: runs pip and says how far it is, in plain lines.

The Makefile starts it before anything is installed, so it needs nothing but Python.
"""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

_EVERY = 10.0
_PACKAGE = re.compile(r"^[\w.-]+==", re.MULTILINE)
_INCLUDED = re.compile(r"^-r (\S+)", re.MULTILINE)


def main(name: str, command: Sequence[str]) -> int:
    total = sum(count_packages(Path(after)) for flag, after in pairwise(command) if flag == "-r")
    return Installation(name, total).run(command)


def count_packages(requirements: Path) -> int:
    """The packages a file of requirements names, and those of the files it includes."""
    text = requirements.read_text()
    included = [requirements.parent / name for name in _INCLUDED.findall(text)]
    return len(_PACKAGE.findall(text)) + sum(count_packages(file) for file in included)


class Installation:
    def __init__(self, name: str, total: int) -> None:
        self._name, self._total = name, total
        self._found, self._unpacking = 0, False
        self._started = time.monotonic()

    def run(self, command: Sequence[str]) -> int:
        """The exit code of pip. What it printed is shown only if it failed."""
        self._say(f"installing {self._total} packages")
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        output: list[str] = []
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as pip:
            ended = threading.Event()
            threading.Thread(target=self._report, args=(ended,), daemon=True).start()
            for line in pip.stdout or ():
                output.append(line)
                self._follow(line)
            ended.set()
        if pip.returncode:
            print("".join(output), file=sys.stderr)
            self._say(f"pip failed (exit code {pip.returncode}): see above")
        else:
            self._say(f"done after {self._seconds} s")
        return pip.returncode

    def _follow(self, line: str) -> None:
        self._found += line.startswith(("Collecting ", "Requirement already satisfied: "))
        self._unpacking = self._unpacking or line.startswith("Installing collected packages")

    def _report(self, ended: threading.Event) -> None:
        while not ended.wait(_EVERY):
            found = min(self._found, self._total)
            what = "unpacking" if self._unpacking else f"{found} of {self._total} packages found"
            self._say(f"{what}, {self._seconds} s")

    @property
    def _seconds(self) -> int:
        return round(time.monotonic() - self._started)

    def _say(self, what: str) -> None:
        print(f"gna: {self._name}: {what}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)

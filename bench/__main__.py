"""`make bench`: everything in this folder that has `rows()`, as one table, kept in docs/benchmarks.md.

`python -m bench cold_start …` measures those named, and leaves the page alone.
"""

import importlib
import os
import pkgutil
import platform
import sys
import time
from pathlib import Path

import bench
from bench.table import Row, markdown, printed

_PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
_HEAD = """# Benchmarks

Made by `make bench`. Compare ratios, not seconds: they depend on the machine ({machine}).
Ratios are taken within one run, against what is named beside them.
"""


def main(names: list[str]) -> int:
    found = [module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")]
    rows, failed = [], False
    for name in names or sorted(found):
        measure = getattr(importlib.import_module(f"bench.{name}"), "rows", None)
        if measure is None:
            continue
        begun = time.perf_counter()
        print(f"… {name}", end="", flush=True, file=sys.stderr)
        try:
            rows += measure()
        except Exception as failure:
            failed = True
            rows.append(Row(name, "", f"could not be measured: {type(failure).__name__}: {failure}", False))
        print(f" {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    print(printed(rows))
    if not names:
        _PAGE.parent.mkdir(exist_ok=True)
        _PAGE.write_text(f"{_HEAD.format(machine=_machine())}\n{markdown(rows)}\n\n{_how(found)}")
    return 1 if failed else 0


def _how(names: list[str]) -> str:
    """How each was measured, from the docstring of its module."""
    modules = [importlib.import_module(f"bench.{name}") for name in sorted(names)]
    lines = [
        f"- **{module.__name__[6:]}**: {' '.join((module.__doc__ or '').split())}"
        for module in modules
        if hasattr(module, "rows")
    ]
    return "## How it was measured\n\n" + "\n".join(lines) + "\n"


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""`make check`: looks for pinned packages with a published vulnerability, using pip-audit.

pip-audit has an environment of its own because it needs twenty packages. If its advisory service cannot be reached,
the output says so.
"""

import json
import subprocess
import sys
from pathlib import Path

_PIP_AUDIT = Path(".audit-venv/bin/pip-audit")
# Each file is listed, because pip-audit does not follow one file into another.
FILES = ("requirements.txt", "local/requirements.txt", "requirements-dev.txt", "local/emulator-requirements.txt")
_TIMEOUT = 180


def main() -> int:
    results = [(file, package) for file in FILES for package in _audit(file)]
    checked = sum("vulns" in package for _, package in results)
    found = sum(_report(file, package) for file, package in results)
    if not checked:
        print("audit: the advisory service cannot be reached from here: NOT checked for known vulnerabilities")
    else:
        skipped = f", {len(results) - checked} NOT checked" if len(results) > checked else ""
        print(f"audit: {checked} pinned packages checked, {found} with a known vulnerability{skipped}")
    return bool(found)


def _audit(file: str) -> list[dict[str, object]]:
    """Every package with its `vulns`, or with a `skip_reason`; empty if the service did not answer."""
    command = [str(_PIP_AUDIT), "-r", file, "--no-deps", "--disable-pip", "--format", "json"]
    try:
        answer = subprocess.run(
            [*command, "--progress-spinner", "off"], capture_output=True, timeout=_TIMEOUT, check=False
        )
        return list(json.loads(answer.stdout)["dependencies"])
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return []


def _report(file: str, package: dict[str, object]) -> bool:
    vulnerabilities = package.get("vulns") or []
    assert isinstance(vulnerabilities, list)
    for vulnerability in vulnerabilities:
        fixed = ", ".join(vulnerability.get("fix_versions", [])) or "no fixed version"
        print(f"audit: {file}: {package['name']} {package['version']}: {vulnerability['id']} ({fixed})")
    return bool(vulnerabilities)


if __name__ == "__main__":
    sys.exit(main())

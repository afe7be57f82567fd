"""`make check`: whether a pinned package has a published vulnerability, by pip-audit, which has an environment of
its own because it brings twenty packages along. Where its advisory service cannot be asked, that is said."""

import json
import subprocess
import sys
from pathlib import Path

_PIP_AUDIT = Path(".audit-venv/bin/pip-audit")
# Each by itself: pip-audit does not follow one file into another.
FILES = ("requirements.txt", "local/requirements.txt", "requirements-dev.txt", "local/emulator-requirements.txt")
_PATIENCE = 180


def main() -> int:
    answers = [(file, package) for file in FILES for package in _ask(file)]
    asked = sum("vulns" in package for _, package in answers)
    found = sum(_tell(file, package) for file, package in answers)
    if not asked:
        print("audit: the advisory service cannot be reached from here: NOT checked for known vulnerabilities")
    else:
        skipped = f", {len(answers) - asked} NOT checked" if len(answers) > asked else ""
        print(f"audit: {asked} pinned packages checked, {found} with a known vulnerability{skipped}")
    return bool(found)


def _ask(file: str) -> list[dict[str, object]]:
    """Every package with its `vulns`, or with a `skip_reason`; nothing at all if the service did not answer."""
    command = [str(_PIP_AUDIT), "-r", file, "--no-deps", "--disable-pip", "--format", "json"]
    try:
        answer = subprocess.run(
            [*command, "--progress-spinner", "off"], capture_output=True, timeout=_PATIENCE, check=False
        )
        return list(json.loads(answer.stdout)["dependencies"])
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return []


def _tell(file: str, package: dict[str, object]) -> bool:
    vulnerabilities = package.get("vulns") or []
    assert isinstance(vulnerabilities, list)
    for one in vulnerabilities:
        repaired = ", ".join(one.get("fix_versions", [])) or "no repaired version"
        print(f"audit: {file}: {package['name']} {package['version']}: {one['id']} ({repaired})")
    return bool(vulnerabilities)


if __name__ == "__main__":
    sys.exit(main())

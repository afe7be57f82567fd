"""Generated pages match the code, and the audit reports what it finds."""

import json
import re
from pathlib import Path

import pytest
import yaml

from deploy import audit, licences, privacy
from tests.conftest import TEMPLATE


def test_the_list_of_licences_is_that_of_the_pinned_packages():
    assert licences.PAGE.read_text() == licences.page(), "run `make pages`"


def test_every_licence_is_allowed():
    assert licences.refused() == []


def test_the_privacy_page_matches_the_code():
    assert privacy.PAGE.read_text() == privacy.page(), "run `make pages`"


def _tables():
    resources = yaml.safe_load(TEMPLATE.read_text())["Resources"].values()
    return {
        resource["Properties"]["TableName"]["Fn::Sub"].removeprefix("${Prefix}-"): resource["Properties"]
        for resource in resources
        if resource["Type"] == "AWS::DynamoDB::Table"
    }


def test_every_table_is_on_the_privacy_page():
    assert sorted(one.table for one in privacy.TABLES) == sorted(_tables())


# What ends in these tables takes more than removing a row: a photo, what other rooms keep, what a provider tells now,
# or only a part of the row. Their clean-ups do it, and have tests of their own.
CLEANED_UP = {"items", "media", "members", "sightings"}


def test_what_is_kept_for_a_limited_time_has_a_table_with_a_ttl():
    timed = {
        one.table for one in privacy.TABLES if any(unit in one.how_long for unit in (" day", " hour", " minute"))
    }
    forgets = {name for name, properties in _tables().items() if "TimeToLiveSpecification" in properties}
    assert timed - CLEANED_UP <= forgets
    assert not CLEANED_UP & forgets


# As pip-audit 2.10 says it, run for requirements.txt against a service that knew of one.
CLEAN = {"name": "botocore", "version": "1.44.0", "vulns": []}
SKIPPED = {"name": "botocore", "skip_reason": "Dependency not found on PyPI and could not be audited: botocore"}
FOUND = {
    "name": "jinja2",
    "version": "3.1.6",
    "vulns": [{"id": "CVE-2026-1", "fix_versions": ["99.0"], "aliases": ["GHSA-1"], "description": "x"}],
}


@pytest.mark.parametrize(
    ("said", "ends", "line"),
    [
        ({"dependencies": [CLEAN]}, 0, "4 pinned packages checked, 0 with a known vulnerability\n"),
        ({"dependencies": [CLEAN, FOUND]}, 1, "requirements.txt: jinja2 3.1.6: CVE-2026-1 (99.0)\n"),
        (
            {"dependencies": [CLEAN, SKIPPED]},
            0,
            "4 pinned packages checked, 0 with a known vulnerability, 4 NOT checked\n",
        ),
        ({"dependencies": [SKIPPED]}, 0, "cannot be reached from here: NOT checked for known vulnerabilities\n"),
        (None, 0, "cannot be reached from here: NOT checked for known vulnerabilities\n"),
    ],
)
def test_a_known_vulnerability_fails_the_check_and_an_unreachable_service_is_reported(
    monkeypatch, capsys, tmp_path, said, ends, line
):
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(said)}'\n" if said else "#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(audit, "_PIP_AUDIT", program)
    assert audit.main() == ends
    assert line in capsys.readouterr().out


def test_a_missing_pip_audit_is_reported(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(audit, "_PIP_AUDIT", tmp_path / "none")
    assert audit.main() == 0
    assert "NOT checked" in capsys.readouterr().out


def test_every_requirements_file_is_audited():
    pinning = {path for path in audit.FILES if re.search(r"^[\w.-]+==", Path(path).read_text(), re.MULTILINE)}
    assert pinning == set(audit.FILES)
    assert pinning == {
        str(path) for path in (*Path().glob("*requirements*.txt"), *Path("local").glob("*requirements.txt"))
    }

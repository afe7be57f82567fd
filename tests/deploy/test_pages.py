"""Pages that are written from the code say what the code says."""

import yaml

from deploy import audit, licences, privacy
from tests.conftest import TEMPLATE


def test_the_list_of_licences_is_that_of_the_pinned_packages():
    assert licences.PAGE.read_text() == licences.page(), "run `make pages`"


def test_every_licence_may_be_passed_on():
    assert licences.refused() == []


def test_the_page_on_privacy_is_what_the_code_keeps():
    assert privacy.PAGE.read_text() == privacy.page(), "run `make pages`"


def _tables():
    resources = yaml.safe_load(TEMPLATE.read_text())["Resources"].values()
    return {
        resource["Properties"]["TableName"]["Fn::Sub"].removeprefix("${Prefix}-"): resource["Properties"]
        for resource in resources
        if resource["Type"] == "AWS::DynamoDB::Table"
    }


def test_every_table_is_on_the_page_on_privacy():
    assert sorted(one.table for one in privacy.TABLES) == sorted(_tables())


def test_what_is_kept_for_a_time_has_a_table_that_forgets():
    timed = {
        one.table for one in privacy.TABLES if any(unit in one.how_long for unit in (" day", " hour", " minute"))
    }
    forgets = {name for name, properties in _tables().items() if "TimeToLiveSpecification" in properties}
    assert timed <= forgets


def test_what_could_not_be_audited_is_said(monkeypatch, capsys):
    skipped = [{"name": "botocore", "skip_reason": "Dependency not found on PyPI"}]
    monkeypatch.setattr(audit, "_ask", lambda file: skipped)
    assert audit.main() == 0
    assert "NOT checked" in capsys.readouterr().out


def test_a_known_vulnerability_fails_the_check(monkeypatch, capsys):
    found = {"name": "idna", "version": "1.0", "vulns": [{"id": "PYSEC-2024-60", "fix_versions": ["3.7"]}]}
    monkeypatch.setattr(audit, "_ask", lambda file: [found] if file == "requirements.txt" else [])
    assert audit.main() == 1
    assert "idna 1.0: PYSEC-2024-60 (3.7)" in capsys.readouterr().out

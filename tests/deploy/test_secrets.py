"""`make secrets`: what it makes, what it never replaces, and the keys of tokens."""

import sys
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from chalicelib.kernel import ciphers
from deploy import secrets
from deploy.stage import Refused, Stage

STAGE = Stage("test", {})
NAME = "/gna/test/TOKEN_KEYS"


@pytest.fixture(autouse=True)
def _account() -> Iterator[None]:
    with mock_aws():
        yield


def parameter(name: str = NAME) -> dict[str, Any]:
    found: dict[str, Any] = boto3.client("ssm").get_parameter(Name=name, WithDecryption=True)["Parameter"]
    return found


def put(value: str, name: str = NAME) -> None:
    boto3.client("ssm").put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=True)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["secrets", "--stage", "test", *arguments])
    secrets.main()


def test_the_first_key_is_version_one_and_encrypted(monkeypatch, capsys):
    run(monkeypatch)
    assert f"created {NAME}" in capsys.readouterr().out
    assert parameter()["Type"] == "SecureString"
    assert list(ciphers.parse_ring(parameter()["Value"])) == [1]
    run(monkeypatch)
    assert capsys.readouterr().out == "/gna/test: nothing is missing\n"


def test_what_exists_is_never_replaced():
    put("1:mine")
    put("my own key", "/gna/test/SECRET_KEY")
    assert secrets.ensure(boto3.client, STAGE) == ["/gna/test/WEBHOOK_SECRET"]
    assert (parameter()["Value"], parameter("/gna/test/SECRET_KEY")["Value"]) == ("1:mine", "my own key")


def test_rotating_adds_the_next_key_and_keeps_the_others(monkeypatch, capsys):
    secrets.ensure(boto3.client, STAGE)
    before = ciphers.parse_ring(parameter()["Value"])
    run(monkeypatch, "--rotate", "tokens")
    after = ciphers.parse_ring(parameter()["Value"])
    assert (list(after), after[1]) == ([1, 2], before[1])
    assert after[1] != after[2]
    assert parameter()["Type"] == "SecureString"
    said = capsys.readouterr().out
    assert "version 2 seals" in said
    assert parameter()["Value"] not in said


def test_the_next_version_is_above_all_others(monkeypatch):
    put(f" {ciphers.make_key(7)},{ciphers.make_key(3)} ")
    assert secrets.rotate_tokens(boto3.client, STAGE) == 8
    assert set(ciphers.parse_ring(parameter()["Value"])) == {3, 7, 8}


def test_rotating_before_there_are_secrets_makes_them_first(monkeypatch):
    run(monkeypatch, "--rotate", "tokens")
    assert list(ciphers.parse_ring(parameter()["Value"])) == [1, 2]


def test_a_sixth_key_is_refused_with_what_to_do():
    put(",".join(ciphers.make_key(version) for version in range(1, 6)))
    before = parameter()
    with pytest.raises(Refused, match=f"remove the oldest from {NAME}"):
        secrets.rotate_tokens(boto3.client, STAGE)
    assert parameter() == before


def test_a_ring_that_makes_no_sense_is_not_added_to():
    put("1:nonsense")
    with pytest.raises(Refused, match="get-parameter-history"):
        secrets.rotate_tokens(boto3.client, STAGE)
    assert parameter()["Value"] == "1:nonsense"


def test_a_ring_is_not_made_by_rotating():
    with pytest.raises(Refused, match="make secrets STAGE=test"):
        secrets.rotate_tokens(boto3.client, STAGE)


def test_of_two_who_rotate_at_once_one_is_told(monkeypatch):
    secrets.ensure(boto3.client, STAGE)
    real = secrets.read

    def read_and_lose(*given):
        found = real(*given)
        put(f"{found['TOKEN_KEYS']['Value']},{ciphers.make_key(2)}")
        return found

    monkeypatch.setattr(secrets, "read", read_and_lose)
    with pytest.raises(Refused, match="at the same time"):
        secrets.rotate_tokens(boto3.client, STAGE)

"""The five answers of the authorizer, in the words API Gateway understands."""

import pytest

from chalicelib.access.authorizer import handle
from chalicelib.kernel.errors import Unavailable
from tests.rooms.access.conftest import token

ARN = "arn:aws:execute-api:eu-west-1:123456789012:abcdef1234/api/GET/admin/api/subscribers"


@pytest.fixture(params=["its own function", "Chalice"])
def ask(request):
    from app import authorizer

    answer = handle if request.param == "its own function" else authorizer
    return lambda text: answer({"type": "TOKEN", "authorizationToken": text, "methodArn": ARN}, None)


def test_a_person_of_the_team_is_let_into_admin_and_known_by_name(ask, team):
    answer = ask(token())
    assert answer["context"]["identity"] == answer["principalId"] == "owner@example.org"
    assert answer["context"]["kind"] == "person"
    [statement] = answer["policyDocument"]["Statement"]
    assert statement["Effect"] == "Allow"
    api = "arn:aws:execute-api:eu-west-1:123456789012:abcdef1234/api"
    assert statement["Resource"] == [f"{api}/*/admin", f"{api}/*/admin/*"]


def test_without_a_token_the_answer_is_401(ask, team):
    with pytest.raises(Exception, match=r"^Unauthorized$"):
        ask("")
    assert team.asked == 0


@pytest.mark.parametrize(("exp", "reason"), [(None, "Invalid token"), (1_000_000, "Token expired")])
def test_a_refusal_is_a_deny_with_its_reason(ask, team, exp, reason):
    answer = ask(token(exp=exp))
    assert [statement["Effect"] for statement in answer["policyDocument"]["Statement"]] == ["Deny"]
    assert answer["context"] == {"reason": reason}


def test_keys_that_cannot_be_had_are_a_failure_and_not_a_verdict(ask, team, capsys):
    team.vanish()
    with pytest.raises(Unavailable):
        ask(token())
    assert "authorizer.keys_unreachable" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["CF_ACCESS_TEAM_NAME", "CF_ACCESS_AUD"])
@pytest.mark.parametrize("given", [True, False])
def test_a_missing_setting_is_an_answer_without_a_policy_and_named_in_the_log(
    ask, team, configure, capsys, missing, given
):
    configure(**{missing: ""})
    assert ask(token() if given else "") == {}
    assert missing in capsys.readouterr().out


def test_a_defect_of_ours_lets_nobody_in(ask, team, monkeypatch, capsys):
    def defect(*ignored):
        raise ZeroDivisionError

    monkeypatch.setattr("chalicelib.access.authorizer.verify", defect)
    with pytest.raises(Unavailable):
        ask(token())
    assert "authorizer.crashed" in capsys.readouterr().out


def test_auth_can_be_switched_off_at_home(ask, configure):
    configure(DISABLE_AUTH="true")
    assert ask("")["context"]["identity"] == "dev@localhost"


def test_auth_cannot_be_switched_off_when_deployed(ask, team, configure):
    configure(DISABLE_AUTH="true", AWS_LAMBDA_FUNCTION_NAME="gna-prod-authorizer")
    assert ask("") == {}
    assert ask(token()) == {}


def test_nothing_of_the_token_is_logged(ask, team, capsys):
    text = token(aud=["other"])
    ask(text)
    written = capsys.readouterr().out
    assert "authorizer.refused" in written
    assert not any(part in written for part in (*text.split("."), "owner@example.org"))

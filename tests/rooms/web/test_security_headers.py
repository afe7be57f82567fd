"""Headers that every answer has, whoever gives it."""

import pytest
import yaml

from tests.conftest import TEMPLATE

HSTS = "Strict-Transport-Security"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health", 200),
        ("GET", "/", 200),
        ("GET", "/archive", 200),
        ("GET", "/style.css", 200),
        ("GET", "/nowhere", 404),
        ("POST", "/api/subscribe", 400),
        ("OPTIONS", "/api/subscribe", 204),
        ("POST", "/api/webhooks/feed", 401),
        ("GET", "/profile/data", 401),
        ("GET", "/admin", 401),
        ("DELETE", "/nowhere", 404),
    ],
)
def test_every_answer_says_to_use_https(http, method, path, status):
    answer = http.request(method, path, json={} if method == "POST" else None)
    assert answer.status == status
    assert answer.headers.get_all(HSTS) == ["max-age=31536000"]


def test_a_redirect_says_so_too(http):
    answer = http.post("/api/subscribe", form={"email": "ada@example.org"})
    assert (answer.status, answer.headers[HSTS]) == (303, "max-age=31536000")


def test_every_answer_of_the_gateway_says_so():
    resources = yaml.safe_load((TEMPLATE.parent / "service.yaml").read_text())["Resources"].values()
    answers = [one["Properties"] for one in resources if one["Type"] == "AWS::ApiGateway::GatewayResponse"]
    assert len(answers) > 10
    wanted = f"gatewayresponse.header.{HSTS}"
    assert {answer["ResponseType"]: answer["ResponseParameters"].get(wanted) for answer in answers} == {
        answer["ResponseType"]: "'max-age=31536000'" for answer in answers
    }

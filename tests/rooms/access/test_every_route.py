"""No way around the authorizer: the route table itself is walked."""

import re

import yaml

from chalicelib.web.routing import EVERYTHING_ELSE
from tests.conftest import TEMPLATE


def _routes():
    import app

    return [(path, method, entry) for path, methods in app.app.routes.items() for method, entry in methods.items()]


def _is_admin(path):
    return re.match(r"/admin(/|$)", path) is not None


def test_every_route_under_admin_has_the_authorizer():
    import app

    assert [
        (path, method)
        for path, method, entry in _routes()
        if _is_admin(path) and entry.authorizer is not app.authorizer
    ] == []


def test_the_authorizer_stands_nowhere_else():
    assert [(path, method) for path, method, entry in _routes() if not _is_admin(path) and entry.authorizer] == []


def test_no_spelling_of_admin_escapes_the_rule():
    assert [path for path, _, _ in _routes() if "admin" in path.lower() and not _is_admin(path)] == []


def test_no_first_part_of_a_path_is_a_parameter_that_could_be_admin():
    """But for the one that takes every path there is no route for, and says so."""
    assert {path for path, _, _ in _routes() if path.startswith("/{")} == {EVERYTHING_ELSE.path}
    assert EVERYTHING_ELSE.handler == "web.pages:not_found"


def test_the_authorizer_keeps_no_verdict_and_reads_the_header_of_access():
    import app

    [config] = app.app.builtin_auth_handlers
    assert (config.name, config.ttl_seconds, config.header) == ("authorizer", 0, "Cf-Access-Jwt-Assertion")


def test_the_template_gives_every_refusal_of_the_gateway_its_status_and_our_form_of_body():
    resources = yaml.safe_load((TEMPLATE.parent / "service.yaml").read_text())["Resources"].values()
    answers = {
        resource["Properties"]["ResponseType"]: resource["Properties"]
        for resource in resources
        if resource["Type"] == "AWS::ApiGateway::GatewayResponse"
    }
    found = {
        kind: (answer.get("StatusCode"), answer["ResponseTemplates"]["application/json"])
        for kind, answer in answers.items()
    }
    assert found["UNAUTHORIZED"] == ("401", '{"error": "Authentication required"}')
    assert found["ACCESS_DENIED"] == ("403", '{"error": "$context.authorizer.reason"}')
    assert found["AUTHORIZER_FAILURE"] == ("503", '{"error": "Service unavailable"}')
    assert found["AUTHORIZER_CONFIGURATION_ERROR"] == ("500", '{"error": "Server misconfiguration"}')
    assert found["DEFAULT_4XX"][0] is found["DEFAULT_5XX"][0] is None, "it would change the status of all the others"
    assert all(body.startswith('{"error": ') for _, body in found.values())

"""The local gateway answers as API Gateway does: what the app is given, and what it is never asked."""

import base64
import json
import threading
from http.client import HTTPConnection

import pytest
from chalice.app import AuthResponse, Chalice, Response

from local.gateway.gateway import Gateway
from local.gateway.responses import load
from local.gateway.server import Server
from tests.fixtures.client import Client


@pytest.fixture
def app():
    app = Chalice("trial")

    @app.authorizer(header="Cf-Access-Jwt-Assertion")
    def authorizer(request):
        match request.token:
            case "good":
                return AuthResponse(routes=["*"], principal_id="me", context={"identity": "me@example.org"})
            case "bad":
                return AuthResponse(routes=[], principal_id="nobody")
            case "unauthorized":
                raise Exception("Unauthorized")
            case "nothing":
                return None
        raise RuntimeError("no keys")

    @app.route("/guarded/{name}", authorizer=authorizer)
    def guarded(name):
        return {"identity": app.current_request.context["authorizer"]["identity"], "name": name}

    @app.route("/echo", methods=["GET", "POST", "HEAD"], content_types=[])
    def echo():
        return app.current_request.to_original_event()

    @app.route("/things/new")
    def literal():
        return "literal"

    @app.route("/things/{thing}")
    def parameter(thing):
        return thing

    @app.route("/cookies")
    def cookies():
        return Response("", headers={"Set-Cookie": ["a=1", "b=2"]}, status_code=204)

    return app


@pytest.fixture
def http(app):
    return Client(Gateway(app))


def test_the_event_is_that_of_the_rest_proxy(http):
    event = http.post("/echo?a=1&a=2&b=%20x", form={"x": "ü"}, X_One="1", source_ip="198.51.100.7").json
    assert event["requestContext"]["identity"]["sourceIp"] == "198.51.100.7"
    assert event["multiValueQueryStringParameters"] == {"a": ["1", "2"], "b": [" x"]}
    assert event["queryStringParameters"]["a"] == "2"
    assert event["body"] == "x=%C3%BC"
    assert event["isBase64Encoded"] is False
    assert event["multiValueHeaders"]["X-One"] == ["1"]
    assert event["pathParameters"] is None


def test_a_request_without_query_or_body_says_so(http):
    event = http.get("/echo").json
    assert event["multiValueQueryStringParameters"] is None
    assert event["body"] is None


def test_a_forged_forwarding_header_does_not_change_the_callers_address(http):
    event = http.get("/echo", X_Forwarded_For="203.0.113.9").json
    assert event["requestContext"]["identity"]["sourceIp"] == "192.0.2.1"
    assert event["multiValueHeaders"]["X-Forwarded-For"] == ["203.0.113.9", "192.0.2.1"]


def test_a_binary_body_travels_as_base64(http):
    event = http.post("/echo", body=b"\x00\xff", Content_Type="application/octet-stream").json
    assert event["isBase64Encoded"] is True
    assert base64.b64decode(event["body"]) == b"\x00\xff"


@pytest.mark.parametrize(
    ("declared", "content_type", "is_binary"),
    [
        ("*/*", "application/json", True),
        ("*/*", "", True),
        ("image/*", "image/webp; q=1", True),
        ("image/*", "text/plain", False),
        ("image/png", "image/*", False),
        ("application/json", "", True),
    ],
)
def test_bodies_of_declared_types_travel_as_base64(app, declared, content_type, is_binary):
    app.api.binary_types = [declared]
    gateway = Gateway(app)
    sent = [("Content-Type", content_type)] if content_type else []
    event = gateway._event("POST", "/echo", sent, b"{}", "192.0.2.1", gateway._match("POST", "/echo"), "1")
    assert event["isBase64Encoded"] is is_binary
    assert event["body"] == ("e30=" if is_binary else "{}")


@pytest.mark.parametrize(
    ("declared", "accept", "is_decoded"),
    [
        ("*/*", None, True),
        ("*/*", "*/*", True),
        ("*/*", "text/html,image/png", True),
        ("image/png", "image/png;q=0.8", True),
        ("image/png", "image/webp,image/png", False),  # only the first is looked at
        ("image/png", "*/*", False),
        ("image/*", "image/avif,*/*", True),
        ("image/*", None, False),
    ],
)
def test_an_encoded_answer_is_decoded_only_for_whom_the_api_declares_it(app, declared, accept, is_decoded):
    app.api.binary_types = [declared]
    gateway = Gateway(app)
    gateway._app = lambda event, context: {
        "statusCode": 200,
        "headers": {"Content-Type": "image/png"},
        "multiValueHeaders": {},
        "body": "iVA=",
        "isBase64Encoded": True,
    }
    gateway._app.routes, gateway._app.api = app.routes, app.api
    answer = Client(gateway).get("/echo", headers={"Accept": accept} if accept else {})
    assert answer.body == (b"\x89P" if is_decoded else b"iVA=")


def test_path_parameters_stay_encoded_and_literal_segments_win(http):
    assert http.get("/things/a%2Fb").text == "a%2Fb"
    assert http.get("/things/new").text == "literal"
    assert http.get("/things/x/").text == "x"


def test_what_takes_every_path_comes_last_and_takes_no_method_of_another_resource(app):
    @app.route("/{proxy+}")
    def rest():
        return app.current_request.to_original_event()["pathParameters"]

    http = Client(Gateway(app))
    assert http.get("/nowhere/at%2Fall").json == {"proxy": "nowhere/at%2Fall"}
    assert http.get("/things/a/b").json == {"proxy": "things/a/b"}
    assert http.get("/things/new").text == "literal"
    assert http.get("/things/x").text == "x"
    assert http.post("/things/new").status == http.delete("/nowhere").status == 404
    assert http.get("/").status == 404  # at least one segment


def test_a_parameter_does_not_catch_a_method_that_a_literal_path_lacks(app):
    @app.route("/things/{thing}", methods=["POST"])
    def change(thing):
        return thing

    http = Client(Gateway(app))
    assert http.post("/things/x").status == 200
    assert http.post("/things/new").status == 404


@pytest.mark.parametrize(("method", "path"), [("GET", "/nowhere"), ("DELETE", "/echo"), ("GET", "/things/")])
def test_an_unknown_path_or_method_is_answered_by_the_gateway(http, method, path):
    answer = http.request(method, path)
    assert answer.status == load()["MISSING_AUTHENTICATION_TOKEN"].status
    assert "error" in answer.json


def test_head_has_no_body_but_the_headers(http):
    answer = http.head("/echo")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "application/json"


def test_repeated_headers_stay_repeated(http):
    assert http.get("/cookies").headers.get_all("set-cookie") == ["a=1", "b=2"]


def test_an_allowed_request_reaches_the_route_with_the_context_of_the_authorizer(http):
    answer = http.get("/guarded/x", Cf_Access_Jwt_Assertion="good")
    assert answer.json == {"identity": "me@example.org", "name": "x"}


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("", "UNAUTHORIZED"),
        ("unauthorized", "UNAUTHORIZED"),
        ("bad", "ACCESS_DENIED"),
        ("nothing", "AUTHORIZER_CONFIGURATION_ERROR"),
        ("crash", "AUTHORIZER_FAILURE"),
    ],
)
def test_a_refusal_has_the_response_of_the_gateway(http, token, kind):
    answer = http.get("/guarded/x", headers={"cf-access-jwt-assertion": token} if token else {})
    assert answer.status == load()[kind].status
    assert "error" in answer.json


def test_the_authorization_header_gives_no_access(http):
    assert http.get("/guarded/x", Authorization="good").status == load()["UNAUTHORIZED"].status


def test_the_answers_are_those_of_the_templates(tmp_path, app):
    (tmp_path / "service.yaml").write_text("""
Resources:
  Denied:
    Type: AWS::ApiGateway::GatewayResponse
    Properties:
      ResponseType: ACCESS_DENIED
      StatusCode: "418"
      ResponseParameters: {gatewayresponse.header.Retry-After: "'5'"}
      ResponseTemplates: {application/json: '{"error": "$context.authorizer.principalId"}'}
""")
    gateway = Gateway(app)
    gateway._responses = load(tmp_path)
    answer = Client(gateway).get("/guarded/x", Cf_Access_Jwt_Assertion="bad")
    assert (answer.status, answer.json, answer.headers["retry-after"]) == (418, {"error": "nobody"}, "5")


def test_requests_at_the_same_time_do_not_see_each_other(app):
    server = Server(Gateway(app).handle, 0)
    server.start()
    answers = {}

    def ask(number):
        connection = HTTPConnection("127.0.0.1", server.port)
        seen = set()
        for _ in range(20):
            connection.request("POST", f"/echo?n={number}", body=str(number))
            event = json.loads(connection.getresponse().read())
            seen.add((event["body"], event["queryStringParameters"]["n"]))
        connection.close()
        answers[number] = seen

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    server.stop()
    assert answers == {number: {(str(number), str(number))} for number in range(8)}

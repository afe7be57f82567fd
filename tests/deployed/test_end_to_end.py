"""The built package, deployed with the built template and used from outside through API Gateway."""

import json
import re
from contextlib import contextmanager
from pathlib import Path

import pytest

from chalicelib.web import routing
from tests.rooms.access.conftest import private_key, token
from tests.waiting import eventually

READER = "reader@example.com"
EVENTS = Path(__file__).parents[1] / "rooms" / "bounces" / "events"


def test_it_is_healthy(deployment):
    answer = deployment.get("/health")
    assert answer.status == 200
    assert answer.json["dependencies"] == {"tables": "ok", "queues": "ok"}


def test_a_reader_subscribes_confirms_and_leaves(deployment):
    answer = deployment.call("POST", "/api/subscribe", {"email": READER}, {"Origin": "https://blog.example.org"})
    assert (answer.status, answer.json) == (201, {"status": "confirmation_sent"})
    assert answer.headers["Access-Control-Allow-Origin"] == "https://blog.example.org"

    confirmed = deployment.get(_link_in_mail(deployment, READER))
    assert confirmed.status in (302, 303)
    assert confirmed.headers["Location"].endswith("/confirmed")
    assert deployment.get("/confirmed").status == 200

    [subscriber] = deployment.rows("subscribers")
    assert subscriber["status"] == "activated"
    leave = f"/api/unsubscribe?token={subscriber['id']}.{subscriber['unsubscribe_secret']}"
    answer = deployment.get(leave)
    assert answer.status == 200
    assert "text/html" in answer.headers["Content-Type"]
    assert deployment.rows("subscribers") == []
    assert deployment.get(leave).status == 200


@pytest.mark.parametrize("path", ["/api/subscribe", "/api/profile/request-link", "/api/profile/update"])
def test_a_preflight_and_a_refusal_are_readable_where_the_form_may_be_and_nowhere_else(deployment, path):
    ours, theirs = {"Origin": "https://blog.example.org"}, {"Origin": "https://evil.example"}
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    answer = deployment.call("OPTIONS", path, headers=asked | ours)
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Origin"] == "https://blog.example.org"
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert answer.headers["Access-Control-Allow-Headers"].lower() == "content-type"
    refusal = deployment.call("POST", path, {}, ours)
    assert refusal.status in (400, 401)
    assert refusal.headers["Access-Control-Allow-Origin"] == "https://blog.example.org"
    for answer in (
        deployment.call("OPTIONS", path, headers=asked | theirs),
        deployment.call("POST", path, {}, theirs),
    ):
        assert answer.headers["Access-Control-Allow-Origin"] is None


def test_a_bounce_that_ses_publishes_is_kept_for_the_administrator(deployment):
    address = "gone@example.com"
    deployment.call("POST", "/api/subscribe", {"email": address})
    deployment.get(_link_in_mail(deployment, address))
    recorded = (EVENTS / "event_bounce_permanent.json").read_text().replace("reader@example.org", address)
    topic = f"arn:aws:sns:eu-west-1:000000000000:{deployment.prefix}-mail-events"
    deployment.client("sns").publish(TopicArn=topic, Message=recorded)
    # Beside it are counts by campaign.
    [bounce] = eventually(lambda: [row for row in deployment.rows("bounces") if "subscriber_id" in row])
    [subscriber] = deployment.rows("subscribers")
    assert bounce["subscriber_id"] == subscriber["id"]
    assert subscriber["status"] == "activated"
    assert address not in str(deployment.rows("bounces"))


@pytest.mark.parametrize("body", [{"email": "no address"}, {"email": ["a@example.org"]}, {}])
def test_an_invalid_request_is_refused_with_a_reason(deployment, body):
    answer = deployment.call("POST", "/api/subscribe", body)
    assert answer.status == 400
    assert set(answer.json) == {"error"}


@pytest.mark.parametrize("path", ["/nowhere", "/admin/nothing", "/archive/a/b", "/api/subscribe"])
def test_what_is_not_there_is_a_page_for_a_browser_and_json_for_a_program(deployment, path):
    answer = deployment.get(path)
    assert (answer.status, answer.json) == (404, {"error": "Not found"})
    page = deployment.get(path, Accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert page.status == 404
    assert "<h1>Page not found</h1>" in page.body
    assert page.headers["Strict-Transport-Security"]


def test_a_method_that_is_not_there_is_not_found(deployment):
    answer = deployment.call("DELETE", "/archive")
    assert (answer.status, answer.json) == (404, {"error": "Not found"})
    assert answer.headers["Strict-Transport-Security"]


def test_the_first_page_is_there(deployment):
    page = deployment.get("/")
    assert page.status == 200
    assert "<h1" in page.body


def test_a_message_that_cannot_be_handled_ends_in_the_dead_letter_queue(deployment):
    sqs = deployment.client("sqs")
    queue = sqs.get_queue_url(QueueName=f"{deployment.prefix}-audience")["QueueUrl"]
    # So that the test need not wait five times three minutes.
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "0"})
    sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({"kind": "unheard of", "subscriber_id": "nobody"}))
    dead = sqs.get_queue_url(QueueName=f"{deployment.prefix}-audience-dead")["QueueUrl"]
    message = eventually(lambda: sqs.receive_message(QueueUrl=dead).get("Messages"))[0]
    assert json.loads(message["Body"])["kind"] == "unheard of"


@pytest.fixture(scope="module")
def admin(packaged):
    paths = packaged.resources("AWS::Serverless::Api")["RestAPI"]["DefinitionBody"]["paths"]
    found = [path for path in paths if path.startswith("/admin/api/") and "{" not in path and "get" in paths[path]]
    if not found:
        pytest.skip("no admin route yet")
    return found[0]


def test_admin_without_a_token_is_unauthorized(deployment, admin):
    answer = deployment.get(admin)
    assert (answer.status, answer.json) == (401, {"error": "Authentication required"})


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("nonsense", "Invalid token"),
        (token(key=private_key("stranger", 2048)), "Invalid token"),
        (token(exp=1_700_000_000, iat=1_600_000_000, nbf=1_600_000_000), "Token expired"),
    ],
    ids=["nonsense", "forged", "expired"],
)
def test_admin_with_an_invalid_token_is_refused(deployment, admin, bad, reason):
    answer = deployment.get(admin, Cf_Access_Jwt_Assertion=bad)
    assert answer.status == 403
    # The emulator leaves the placeholder in the response where API Gateway puts the authorizer's reason.
    assert answer.json == {"error": "$context.authorizer.reason"}
    arn = "arn:aws:execute-api:eu-west-1:000000000000:abc/api/GET/admin"
    event = {"type": "TOKEN", "authorizationToken": bad, "methodArn": arn}
    verdict = deployment.client("lambda").invoke(
        FunctionName=deployment.function("Authorizer"), Payload=json.dumps(event)
    )
    assert json.load(verdict["Payload"])["context"] == {"reason": reason}


def test_admin_with_a_valid_token_is_let_in(deployment, admin):
    answer = deployment.get(admin, Cf_Access_Jwt_Assertion=token())
    assert answer.status == 200, answer.body


def test_every_page_of_the_dashboard_is_there(deployment, packaged):
    paths = packaged.resources("AWS::Serverless::Api")["RestAPI"]["DefinitionBody"]["paths"]
    pages = [path for path in paths if re.match(r"/admin(/|$)", path) and "{" not in path and "get" in paths[path]]
    found = {path: deployment.get(path, Cf_Access_Jwt_Assertion=token()) for path in pages}
    forms = {route.path for route in routing.unreadable(routing.all_routes())} & found.keys()
    assert {"/admin", "/admin/settings"} <= found.keys() - forms
    assert {
        path: answer.body for path, answer in found.items() if answer.status != (404 if path in forms else 200)
    } == {}
    assert [path for path in forms if "<h1>Nothing to open here</h1>" not in found[path].body] == []
    assert "SES did not respond" not in found["/admin/settings"].body


def test_a_campaign_reaches_a_reader(deployment):
    reader = {"Cf-Access-Jwt-Assertion": token()}
    address = "faithful@example.com"
    deployment.call("POST", "/api/subscribe", {"email": address})
    deployment.get(_link_in_mail(deployment, address))
    made = deployment.call(
        "POST", "/admin/api/campaigns", {"subject": "News", "body": "<p>Something new</p>"}, reader
    )
    assert made.status == 201, made.body
    campaign = f"/admin/api/campaigns/{made.json['id']}"
    sent = deployment.call("POST", f"{campaign}/send", {}, reader)
    assert sent.status == 200, sent.body

    def published():
        found = deployment.call("GET", campaign, headers=reader).json
        return found if found["state"] == "published" else None

    [delivery] = eventually(published, 30)["deliveries"]
    assert (delivery["state"], delivery["failure_count"]) == ("sent", 0)
    assert delivery["sent_count"] == len(deployment.rows("subscribers"))


def test_admin_is_unavailable_while_the_keys_cannot_be_fetched(deployment, admin):
    with _authorizer(deployment, CF_ACCESS_CERTS_URL="http://127.0.0.1:9/"):
        answer = deployment.get(admin, Cf_Access_Jwt_Assertion=token())
    assert (answer.status, answer.json) == (503, {"error": "Service unavailable"})


def test_admin_without_a_configured_team_stays_closed(deployment, admin):
    with _authorizer(deployment, CF_ACCESS_TEAM_NAME=""):
        answer = deployment.get(admin, Cf_Access_Jwt_Assertion=token())
    assert (answer.status, answer.json) == (500, {"error": "Server misconfiguration"})


def test_disable_auth_on_a_deployed_function_refuses_everyone(deployment, admin):
    with _authorizer(deployment, DISABLE_AUTH="true"):
        answer = deployment.get(admin)
    assert answer.status in (401, 500)


def test_a_schedule_calls_its_function(deployment):
    """The deployed rule, moved to the next full minute to keep the test short."""
    group = f"/aws/lambda/{deployment.function('SweepEvents')}"
    read = deployment.client("logs").filter_log_events
    lines = eventually(lambda: [event["message"] for event in read(logGroupName=group)["events"]], 75)
    assert any("REPORT" in line for line in lines)
    assert not [line for line in lines if '"error"' in line]


def test_no_log_line_identifies_a_person(deployment):
    """Runs last: everything above has been logged."""
    written = deployment.log()
    assert "request_id" in written
    refused = r"ClientError|AccessDenied|(Get|Put|Update|Delete|Query|Scan|Transact(Write|Get))Error"
    found = [line for line in written.splitlines() if re.search(rf'"kind": "\w*({refused})', line)]
    assert found == [], "a function lacks a right in deploy/functions.yaml"
    for secret in (READER, "reader@", "gone@", "faithful@", token().split(".")[0]):
        assert secret not in written


@contextmanager
def _authorizer(deployment, **changes):
    """The authorizer's function with other settings, for a while."""
    function, functions = deployment.function("Authorizer"), deployment.client("lambda")
    usual = functions.get_function_configuration(FunctionName=function)["Environment"]["Variables"]
    functions.update_function_configuration(FunctionName=function, Environment={"Variables": usual | changes})
    yield
    functions.update_function_configuration(FunctionName=function, Environment={"Variables": usual})


def _link_in_mail(deployment, address):
    def look():
        texts = [mail["BodyText"] for mail in deployment.emulator.mails() if mail["To"] == [address]]
        return re.search(r"https://news\.example\.org(/confirm\?\S+)", "\n".join(texts))

    return eventually(look)[1]

"""Bare signed calls: against moto for DynamoDB, against a small real server for what the network can do."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from botocore.exceptions import ClientError, HTTPClientError

from chalicelib.kernel import limits
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.aws import session as kernel_aws
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.items import plain, typed
from chalicelib.kernel.errors import Unavailable
from tests.conftest import enter

ITEM = {"key": "a", "n": 3, "half": 0.5, "raw": b"\x00\xff", "words": frozenset({"x", "y"}), "none": None, "on": True}


class Server:
    """Answers with what it was told to, in turn, the last for ever; remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, Any]]] = [(200, {})]
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.hang_up = False
        self.cut = 0  # so many bytes are missing at the end of every answer
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked.append((self.path, dict(self.headers), json.loads(body)))
                if outer.hang_up:
                    self.connection.close()
                    return
                status, answer = outer.answers[0] if len(outer.answers) == 1 else outer.answers.pop(0)
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) - outer.cut])
                self.close_connection = bool(outer.cut)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server()
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", server.url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", server.url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", server.url)
    monkeypatch.setattr("time.sleep", lambda _: None)
    enter("server")
    yield server
    enter("moto")
    server.stop()


def test_values_come_back_as_they_went(aws: None) -> None:
    table = tables.name("limits")
    raw.dynamodb("PutItem", {"TableName": table, "Item": typed(ITEM)["M"]})
    found = raw.dynamodb("GetItem", {"TableName": table, "Key": {"key": typed("a")}})
    assert plain(found["Item"]) == ITEM


def test_lists_and_objects_come_back_too() -> None:
    value = {"deep": [1, {"text": "é"}]}
    assert plain({"it": typed(value)}) == {"it": value}


def test_a_failed_condition_shows_what_was_in_the_way(aws: None) -> None:
    put = {
        "TableName": tables.name("limits"),
        "Item": {"key": typed("a"), "spent": typed(1)},
        "ConditionExpression": "attribute_not_exists(spent)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    raw.dynamodb("PutItem", put)
    with pytest.raises(Stale) as failure:
        raw.dynamodb("PutItem", put)
    assert failure.value.found[0] == {"key": "a", "spent": 1}


def test_a_refusal_that_is_our_defect_stays_visible(aws: None) -> None:
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        raw.dynamodb("GetItem", {"TableName": "nowhere", "Key": {"key": typed("a")}})


def test_a_busy_table_is_asked_again(server: Server) -> None:
    server.answers = [(400, {"__type": "x#ProvisionedThroughputExceededException"}), (200, {"Items": []})]
    assert raw.dynamodb("Scan", {"TableName": "t"}) == {"Items": []}
    assert len(server.asked) == 2


def test_a_table_that_stays_down_is_unavailable(server: Server) -> None:
    server.answers = [(500, {"__type": "x#InternalServerError"})]
    with pytest.raises(Unavailable):
        raw.dynamodb("Scan", {"TableName": "t"})


@pytest.mark.parametrize("call", [raw.dynamodb, raw.sqs])
def test_a_service_nobody_answers_for_is_unavailable(server: Server, call: Any) -> None:
    """Refused connections, which to botocore are no kin of the lost ones."""
    server.stop()
    with pytest.raises(Unavailable):
        call("Anything", {})


@pytest.mark.parametrize("call", [raw.dynamodb, raw.sqs])
def test_a_service_that_hangs_up_is_unavailable(server: Server, call: Any) -> None:
    server.hang_up = True
    with pytest.raises(Unavailable):
        call("Anything", {})


CALLS = {
    "raw table": lambda: raw.dynamodb("Scan", {}),
    "raw queue": lambda: raw.sqs("SendMessage", {}),
    "table": lambda: tables.get(limits.LimitRow, "a"),
    "service": lambda: kernel_aws.call("sesv2", "get_account"),
}


@pytest.mark.parametrize("missing", [1, 12])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_answer_that_was_cut_off_is_no_answer(server: Server, call: Any, missing: int) -> None:
    """Read as an empty one it would say: nobody is there, nothing is left to send."""
    server.answers, server.cut = [(200, {"Items": []})], missing
    with pytest.raises(Unavailable):
        call()


def test_who_got_a_mail_is_unknown_when_the_answer_was_cut_off(server: Server) -> None:
    server.answers, server.cut = [(200, {"BulkEmailEntryResults": []})], 3
    with pytest.raises(HTTPClientError):
        raw.ses("SendBulkEmail", "/v2/email/outbound-bulk-emails", {})
    assert len(server.asked) == 1


def test_ses_is_asked_once_even_if_it_hangs_up(server: Server) -> None:
    server.hang_up = True
    with pytest.raises(HTTPClientError):
        raw.ses("SendBulkEmail", "/v2/email/outbound-bulk-emails", {})
    assert len(server.asked) == 1


def test_connections_that_rested_long_are_not_trusted(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def connections() -> Any:
        raw.ses("SendEmail", "/", {})
        return raw._connection(kernel_aws.botocore_session(), raw._SES)._http

    assert connections() is connections()
    monkeypatch.setattr(raw, "_LONGEST_REST", -1.0)
    assert connections() is not connections()


def test_an_error_of_ses_has_its_code(server: Server) -> None:
    server.answers = [(429, {"__type": "TooManyRequestsException", "message": "slow down"})]
    with pytest.raises(ClientError) as failure:
        raw.ses("SendBulkEmail", "/v2/email/outbound-bulk-emails", {})
    assert failure.value.response["Error"] == {"Code": "TooManyRequestsException", "Message": "slow down"}


def test_calls_are_signed_for_their_service(server: Server) -> None:
    raw.ses("SendBulkEmail", "/v2/email/outbound-bulk-emails", {"a": "é"})
    path, headers, body = server.asked[0]
    assert path == "/v2/email/outbound-bulk-emails"
    assert "/eu-west-1/ses/aws4_request" in headers["Authorization"]
    assert body == {"a": "é"}


def test_without_a_configured_endpoint_it_is_the_region_s_own() -> None:
    kernel_aws.session.cache_clear()
    assert (
        raw._connection(kernel_aws.botocore_session(), raw._SES).endpoint == "https://email.eu-west-1.amazonaws.com"
    )
    assert (
        raw._connection(kernel_aws.botocore_session(), raw._DYNAMODB).endpoint
        == "https://dynamodb.eu-west-1.amazonaws.com"
    )

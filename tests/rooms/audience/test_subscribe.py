"""What the subscribe endpoint promises, row by row."""

import pytest

from chalicelib.audience import jobs
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import Unavailable
from tests.conftest import received


def test_a_new_subscription_is_pending_and_mailed_a_link(reader, rows):
    ada = reader()
    answer = ada.subscribe(nickname="Ada")
    assert (answer.status, answer.json) == (201, {"status": "confirmation_sent"})
    (row,) = rows("subscribers")
    assert row["status"]["S"] == "pending"
    assert "activated_at" not in row
    (mail,) = ada.mails()
    assert mail["headers"]["Auto-Submitted"] == "auto-generated"
    assert "/confirm?token=" in mail["text"]
    assert ada.link() in mail["html"].replace("&amp;", "&")


def test_nothing_the_visitor_typed_is_in_the_confirmation_mail(reader):
    ada = reader()
    ada.subscribe(nickname="BUY-PILLS", source="spam.example", tags=["cheap-watches"], metadata={"x": "casino"})
    mail = ada.mails()[0]
    for typed in ("BUY-PILLS", "spam.example", "cheap-watches", "casino"):
        assert typed not in mail["html"] + mail["text"] + mail["subject"]


@pytest.mark.parametrize(
    "email",
    ["", "   ", "ada", "ada@", "@example.net", "a b@example.net", "ada@example", "ada@@example.net",
     "<ada@example.net>", "ada@example.net\r\nBcc: all@example.net", "a" * 65 + "@example.net",
     "a@" + "b" * 250 + ".net", "ädä@example.net", "ada@[127.0.0.1]", 5, ["ada@example.net"], None, {"a": 1}],
)  # fmt: skip
def test_a_syntactically_invalid_address_is_refused(http, email):
    answer = http.post("/api/subscribe", json={"email": email})
    assert answer.status == 400
    assert set(answer.json) == {"error"}
    assert received("audience") == []


def test_an_address_is_trimmed_and_case_makes_no_difference(reader, rows):
    reader("  Ada@Example.net ").subscribe()
    reader("ada@example.NET").subscribe()
    (row,) = rows("subscribers")
    assert row["email"]["S"] == "Ada@Example.net"


@pytest.mark.parametrize("nickname", ["", "   ", "x" * 51, "a\nb", 7])
def test_a_nickname_that_is_no_nickname_is_refused(http, nickname):
    answer = http.post("/api/subscribe", json={"email": "ada@example.net", "nickname": nickname})
    assert answer.status == 400


def test_nickname_exceeds_length_limit(http):
    answer = http.post("/api/subscribe", json={"email": "ada@example.net", "nickname": "x" * 51})
    assert (answer.status, answer.json) == (400, {"error": "Nickname must be 1–50 characters"})


@pytest.mark.parametrize("nickname", ["x", "x" * 50, "👩🏽‍🚀" * 12, "O'Brien & Söhne <3", "李"])
def test_a_nickname_of_one_to_fifty_characters_is_kept_as_it_is(reader, rows, nickname):
    assert reader().subscribe(nickname=nickname).status == 201
    assert rows("subscribers")[0]["nickname"]["S"] == nickname


@pytest.mark.parametrize("body", ["", "nonsense", "[]", '"text"', "null", "{", "[" * 5000])
def test_a_body_that_is_no_object_is_refused(http, body):
    answer = http.post("/api/subscribe", body=body, headers={"Content-Type": "application/json"})
    assert answer.status == 400
    assert "error" in answer.json


def test_a_body_of_another_kind_is_refused(http):
    assert http.post("/api/subscribe", body="<a/>", headers={"Content-Type": "text/xml"}).status == 400


def test_duplicate_activated_returns_success_without_action(reader, rows):
    ada = reader().join()
    before = rows("subscribers"), rows("tokens")
    answer = ada.subscribe()
    assert (answer.status, answer.json) == (201, {"status": "confirmation_sent"})
    assert (rows("subscribers"), rows("tokens")) == before
    assert len(ada.mails()) == 1


def test_duplicate_pending_replaces_the_first_link(reader, rows):
    ada = reader()
    ada.subscribe()
    first = ada.link()
    ada.subscribe()
    assert len(ada.mails()) == 2
    assert len(rows("subscribers")) == 1
    assert ada.http.get(first).status == 400
    assert ada.confirm().status == 303


def test_the_nickname_of_the_last_sign_up_counts_while_pending(reader):
    ada = reader()
    ada.subscribe(nickname="Ada")
    ada.subscribe(nickname="Ada")
    ada.confirm()
    assert ada.stored()["nickname"] == "Ada"


def test_a_stranger_cannot_rename_an_active_reader(reader):
    ada = reader().join(nickname="Ada")
    ada.subscribe(nickname="Mallory")
    assert ada.stored()["nickname"] == "Ada"


def test_new_pending_and_activated_addresses_cannot_be_told_apart(reader, http, calls):
    """The same answer, after the same calls to AWS, whatever is sent along with the address."""
    reader("pending@example.net").subscribe(source="blog")
    reader("active@example.net").join(source="podcast")
    gone = reader("gone@example.net").join()
    http.post("/profile/never", form={"token": gone.magic_token()})
    name, source = {"nickname": "Eve"}, {"source": "podcast"}
    for number, fields in enumerate(({}, name, source, {"source": "new"}, name | source | {"tags": ["x"]})):
        answers = set()
        for who in (f"new{number}", "pending", "active", "gone"):
            calls.clear()
            body = {"email": f"{who}@example.net", **fields}
            answer = http.post("/api/subscribe", json=body, source_ip=f"192.0.2.{70 + number}")
            del answer.headers["x-amzn-RequestId"]
            answers.add((answer.status, answer.body, str(answer.headers), *calls))
        ((status, _, _, *requests),) = answers
        assert (status, requests) == (201, ["UpdateItem", "UpdateItem", "SendMessage"])


def test_a_resubscription_after_expiry_starts_anew(reader, rows, later):
    ada = reader()
    ada.subscribe(nickname="Ada")
    old = ada.link()
    later(hours=25)
    ada.subscribe()
    assert ada.http.get(old).status == 400
    assert ada.confirm().status == 303
    assert ada.stored()["nickname"] is None


def test_the_sixth_request_of_a_minute_is_refused_with_the_time_to_wait(http, still, later):
    answers = [http.post("/api/subscribe", json={"email": f"r{n}@example.net"}) for n in range(6)]
    assert [answer.status for answer in answers] == [201] * 5 + [429]
    assert 1 <= int(answers[5].headers["Retry-After"]) <= 60
    later(seconds=60)
    assert http.post("/api/subscribe", json={"email": "z@example.net"}).status == 201


def test_each_client_has_its_own_limit_and_ipv6_neighbours_share_one(http, still):
    for number in range(6):
        http.post("/api/subscribe", json={"email": "a@example.net"}, source_ip=f"2001:db8:1:2::{number}")
    assert http.post("/api/subscribe", json={"email": "a@example.net"}, source_ip="2001:db8:1:2::99").status == 429
    assert http.post("/api/subscribe", json={"email": "a@example.net"}, source_ip="2001:db8:1:3::1").status == 201


def test_a_forwarded_header_cannot_move_the_limit(http, still):
    statuses = [
        http.post(
            "/api/subscribe",
            json={"email": "a@example.net"},
            headers={"X-Forwarded-For": f"198.51.100.{n}", "CF-Connecting-IP": f"198.51.100.{n}"},
        ).status
        for n in range(6)
    ]
    assert statuses == [201] * 5 + [429]


def test_cloudflare_is_believed_only_by_setting_and_only_from_its_own_addresses(http, configure, still):
    configure(BEHIND_CLOUDFLARE="true")

    def ask(n: int, source_ip: str) -> int:
        headers = {"CF-Connecting-IP": f"198.51.100.{n}"}
        return http.post(
            "/api/subscribe", json={"email": "a@example.net"}, headers=headers, source_ip=source_ip
        ).status

    assert {ask(n, "173.245.48.7") for n in range(12)} == {201}
    assert 429 in {ask(n, "203.0.113.7") for n in range(12)}


def test_no_address_of_any_kind_is_stored_for_the_limits(http, rows):
    http.post("/api/subscribe", json={"email": "ada@example.net"}, source_ip="203.0.113.9")
    stored = str(rows("limits"))
    assert "203.0.113.9" not in stored
    assert "ada@" not in stored


def test_allowed_origins_get_cors_headers_on_success_error_and_limit(http, still):
    for origin in ("https://blog.example.org", "https://www.example.org"):
        good = http.post("/api/subscribe", json={"email": "a@example.net"}, Origin=origin)
        bad = http.post("/api/subscribe", json={"email": "nonsense"}, Origin=origin)
        assert good.headers["Access-Control-Allow-Origin"] == bad.headers["Access-Control-Allow-Origin"] == origin
    for _ in range(12):
        limited = http.post("/api/subscribe", json={"email": "a@example.net"}, Origin="https://blog.example.org")
    assert limited.status == 429
    assert limited.headers["Access-Control-Allow-Origin"] == "https://blog.example.org"


def test_other_origins_get_none(http):
    for origin in (
        "https://evil.example",
        "null",
        "https://blog.example.org.evil.example",
        "http://blog.example.org",
    ):
        answer = http.post("/api/subscribe", json={"email": "a@example.net"}, Origin=origin)
        assert answer.headers["Access-Control-Allow-Origin"] is None
        answer = http.request("OPTIONS", "/api/subscribe", Origin=origin, Access_Control_Request_Method="POST")
        assert answer.headers["Access-Control-Allow-Origin"] is None


def test_preflight_allows_what_the_form_sends(http):
    answer = http.request(
        "OPTIONS",
        "/api/subscribe",
        Origin="https://blog.example.org",
        Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="content-type",
    )
    assert answer.status == 204
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert "content-type" in answer.headers["Access-Control-Allow-Headers"].lower()


def test_the_plain_form_answers_with_pages(http):
    good = http.post("/api/subscribe", form={"email": "ada@example.net", "nickname": "", "website": ""})
    assert (good.status, good.headers["Location"]) == (303, "https://news.example.org/subscribed")
    assert "inbox" in http.get("/subscribed").text
    bad = http.post("/api/subscribe", form={"email": "nonsense"})
    assert bad.status == 400
    assert bad.headers["Content-Type"].startswith("text/html")
    assert "nonsense" not in bad.text


@pytest.mark.parametrize("bait", [{"website": "https://spam.example"}, {"elapsed": 20}, {"elapsed": "3"}])
def test_a_bot_sees_success_and_nothing_happens(http, rows, bait):
    answer = http.post("/api/subscribe", json={"email": "ada@example.net", **bait})
    assert (answer.status, answer.json) == (201, {"status": "confirmation_sent"})
    assert rows("subscribers") == []
    assert received("audience") == []


def test_a_person_who_takes_their_time_is_no_bot(reader):
    assert reader().subscribe(elapsed=4000, website="").status == 201
    assert len(reader().mails()) == 1


def test_one_address_gets_at_most_five_confirmations_an_hour(reader, deliver, http):
    for number in range(8):
        http.post("/api/subscribe", json={"email": "ada@example.net"}, source_ip=f"203.0.113.{number}")
        deliver()
    assert len(reader().mails()) == 5


def test_the_breaker_holds_confirmations_back_and_notifies_the_operator_once(reader, configure, ses, http, deliver):
    configure(MAILS_PER_HOUR="3")
    for number in range(6):
        http.post("/api/subscribe", json={"email": f"r{number}@example.net"}, source_ip=f"203.0.113.{number}")
    deliver()
    sent = [mail["to"][0] for mail in ses.mails()]
    assert len([to for to in sent if to != "admin@example.org"]) == 3
    assert sent.count("admin@example.org") == 1


@pytest.mark.parametrize("known", [False, True])
def test_email_service_unavailable_the_request_succeeds_and_the_mail_is_tried_again(reader, http, ses, known):
    if known:
        reader().subscribe()
    ses.clear()
    ses.tell(down=True)
    assert http.post("/api/subscribe", json={"email": "ada@example.net"}).status == 201
    (message,) = received("audience")
    for _ in range(2):
        with pytest.raises(Unavailable):
            jobs.handle(message)
    ses.tell(down=False)
    jobs.handle(message)
    assert len(ses.mails(to="ada@example.net")) == 1
    jobs.handle(message)
    assert len(ses.mails(to="ada@example.net")) == 1, "a message that comes twice writes once"


def test_tries_in_vain_neither_use_up_the_limits_nor_trip_the_breaker(http, ses, configure):
    configure(MAILS_PER_HOUR="3")
    ses.tell(down=True)
    for number in range(3):
        http.post("/api/subscribe", json={"email": f"r{number}@example.net"})
    messages = received("audience")
    for message in messages * 6:
        with pytest.raises(Unavailable):
            jobs.handle(message)
    ses.tell(down=False)
    for message in messages:
        jobs.handle(message)
    assert sorted(mail["to"][0] for mail in ses.mails()) == [f"r{number}@example.net" for number in range(3)]


def test_queues_unavailable_is_503_and_a_second_try_heals_it(http, monkeypatch, reader):
    with monkeypatch.context() as trouble:
        trouble.setattr(raw, "sqs", _nobody_answers)
        answer = http.post("/api/subscribe", json={"email": "ada@example.net"})
    assert (answer.status, answer.json) == (503, {"error": "Service unavailable"})
    assert int(answer.headers["Retry-After"]) > 0
    reader().join()


def test_a_sign_up_nobody_processed_is_gone_after_a_day(http, monkeypatch, rows, later):
    monkeypatch.setattr(raw, "sqs", _nobody_answers)
    http.post("/api/subscribe", json={"email": "ada@example.net", "nickname": "Ada"})
    assert "ada@example.net" in str(rows("tokens"))
    later(hours=24, seconds=1)
    jobs.clean_up(lambda: True)
    assert rows("tokens") == []


def test_what_is_queued_names_nobody_and_what_waits_is_gone_once_it_is_processed(http, rows, ses):
    http.post("/api/subscribe", json={"email": "ada@example.net", "nickname": "Ada", "metadata": {"k": "secret"}})
    (message,) = received("audience")
    assert set(message) == {"kind", "pseudonym"}
    assert "ada@" not in str(message)
    jobs.handle(message)
    assert [row["kind"]["S"] for row in rows("tokens")] == ["confirm"]


def test_several_sign_ups_before_the_worker_comes_make_one_reader_with_everything_they_sent(reader, http, rows):
    for number, source in enumerate(("blog", "podcast", "shop")):
        body = {"email": "ada@example.net", "nickname": f"Ada {number}", "source": source}
        assert http.post("/api/subscribe", json=body).status == 201
    ada = reader()
    ada.deliver()
    (row,) = rows("subscribers")
    assert (row["nickname"]["S"], sorted(row["asked_sources"]["SS"])) == ("Ada 2", ["blog", "podcast", "shop"])
    assert len(ada.mails()) == 1
    assert ada.confirm().status == 303


def test_more_sign_ups_than_anybody_makes_are_still_answered(reader, http, rows):
    for number in range(25):
        largest = {"metadata": {"x": [1] * 5000, "n": number}, "tags": [f"{n:02}{'🙂' * 62}" for n in range(20)]}
        body = {"email": "ada@example.net", "nickname": "🙂" * 50, **largest}
        assert http.post("/api/subscribe", json=body, source_ip=f"203.0.113.{number}").status == 201
    (row,) = rows("tokens")
    assert len(row["said"]["SS"]) == 20
    reader().deliver()
    assert reader().confirm().status == 303


def test_a_sign_up_that_waits_when_its_owner_leaves_goes_with_them(reader, http, rows):
    """A message may come minutes late: it must not bring back somebody who has left since."""
    ada = reader().join()
    http.post("/api/subscribe", json={"email": "ada@example.net", "source": "podcast"})
    (late,) = received("audience")
    (row,) = rows("subscribers")
    assert http.get(f"/api/unsubscribe?token={row['id']['S']}.{row['unsubscribe_secret']['S']}").status == 200
    jobs.handle(late)
    assert rows("subscribers") == rows("emails") == rows("tokens") == rows("captures") == []
    assert len(ada.mails()) == 1


def test_another_spelling_of_the_domain_is_the_same_reader_and_the_same_suppression(reader, rows):
    ada, again = reader("ada@bücher.example"), reader("ada@xn--bcher-kva.example")
    ada.subscribe()
    again.subscribe()
    assert [row["email"]["S"] for row in rows("subscribers")] == ["ada@bücher.example"]
    ada.email = again.email  # as SES writes it
    ada.confirm()
    ada.http.post("/profile/never", form={"token": ada.magic_token()})
    mails = len(ada.mails())
    assert (again.subscribe().status, reader("Ada@Bücher.example").subscribe().status) == (201, 201)
    assert len(ada.mails()) == mails


def test_nothing_is_kept_of_a_sign_up_whose_owner_wants_no_mail(reader, rows):
    ada = reader().join()
    ada.http.post("/profile/never", form={"token": ada.magic_token()})
    assert ada.subscribe(nickname="Ada").status == 201
    assert rows("subscribers") == rows("emails") == rows("tokens") == rows("captures") == []


def _nobody_answers(operation: str, parameters: object) -> None:
    raise Unavailable

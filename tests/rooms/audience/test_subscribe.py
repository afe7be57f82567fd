"""What the subscribe endpoint promises, row by row."""

import pytest

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

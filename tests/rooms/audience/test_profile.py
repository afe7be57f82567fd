"""Magic links and what they open, row by row."""

import pytest

from chalicelib.audience import erasure

INVALID = {"error": "Invalid or expired token"}


def test_email_not_found_or_not_activated_answers_the_same_and_mails_nobody(reader, http, deliver, ses, calls):
    """The same answer, after the same calls to AWS."""
    reader("active@example.net").join()
    reader("pending@example.net").subscribe()
    ses.clear()
    answers = set()
    for who in ("active", "pending", "unknown"):
        calls.clear()
        answer = http.post("/api/profile/request-link", json={"email": f"{who}@example.net"})
        answers.add((answer.status, answer.text, *calls))
    assert answers == {(200, '{"status": "link_sent"}', "UpdateItem", "UpdateItem", "GetItem", "SendMessage")}
    deliver()
    assert [mail["to"] for mail in ses.mails()] == [["active@example.net"]]


def test_request_link_refuses_what_is_no_address(http):
    answer = http.post("/api/profile/request-link", json={"email": "nonsense"})
    assert answer.status == 400
    assert "error" in answer.json


def test_magic_link_request_rate_exceeded_for_known_and_unknown_addresses(reader, http, still):
    reader("active@example.net").join()
    for who in ("active", "unknown"):
        answers = [
            http.post("/api/profile/request-link", json={"email": f"{who}@example.net"}, source_ip=f"192.0.2.{n}")
            for n in range(4)
        ]
        assert [answer.status for answer in answers] == [200, 200, 200, 429]
        assert 1 <= int(answers[3].headers["Retry-After"]) <= 3600


def test_the_page_shows_address_and_nickname_and_does_not_use_up_the_link(reader):
    ada = reader().join(nickname="Ada <b>")
    token = ada.magic_token()
    for _ in range(3):
        page = ada.http.get(f"/profile?token={token}")
        assert page.status == 200
        assert 'value="ada@example.net"' in page.text
        assert "Ada &lt;b&gt;" in page.text
    assert ada.http.post("/api/profile/update", json={"token": token, "nickname": "A"}).status == 200


def test_a_newer_link_ends_the_one_before(reader):
    ada = reader().join()
    first = ada.magic_token()
    second = ada.magic_token()
    assert ada.http.get(f"/profile?token={first}").status == 401
    assert ada.http.get(f"/profile?token={second}").status == 200


def test_magic_link_token_expired_after_fifteen_minutes_prompts_for_a_new_one(reader, later):
    ada = reader().join()
    token = ada.magic_token()
    later(minutes=15, seconds=1)
    page = ada.http.get(f"/profile?token={token}")
    assert page.status == 401
    assert "request a new one" in page.text
    assert ada.http.post("/api/profile/update", json={"token": token, "nickname": "A"}).json == INVALID


@pytest.mark.parametrize("token", ["x", "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e." + "A" * 32, "<i>"])
def test_magic_link_token_invalid_prompts_for_a_new_one(http, token):
    page = http.get(f"/profile?token={token}")
    assert page.status == 401
    assert "<i>" not in page.text


def test_without_a_link_the_page_offers_to_mail_one(http):
    page = http.get("/profile")
    assert page.status == 200
    assert "/api/profile/request-link" in page.text


def test_the_nickname_changes_at_once_and_the_link_is_used_up(reader):
    ada = reader().join()
    token = ada.magic_token()
    answer = ada.http.post("/api/profile/update", json={"token": token, "nickname": "Ada"})
    assert (answer.status, answer.json) == (200, {"status": "updated"})
    assert ada.stored()["nickname"] == "Ada"
    repeat = ada.http.post("/api/profile/update", json={"token": token, "nickname": "Bob"})
    assert (repeat.status, repeat.json) == (401, INVALID)
    assert ada.http.get(f"/profile?token={token}").status == 401


def test_magic_link_token_already_used_prompts_for_a_new_one(reader):
    ada = reader().join()
    token = ada.magic_token()
    assert ada.http.post("/api/profile/update", json={"token": token, "nickname": "Ada"}).status == 200
    page = ada.http.get(f"/profile?token={token}")
    assert page.status == 401
    assert "has already been used or is incomplete. Please request a new one." in page.text


@pytest.mark.parametrize("nickname", ["", "x" * 51, " Ada", "Ada ", 5])
def test_a_bad_nickname_is_refused_and_the_link_stays_good(reader, nickname):
    ada = reader().join()
    token = ada.magic_token()
    assert ada.http.post("/api/profile/update", json={"token": token, "nickname": nickname}).status == 400
    assert ada.http.post("/api/profile/update", json={"token": token, "nickname": "Ada"}).status == 200


def test_an_update_without_token_is_unauthorised(http):
    answer = http.post("/api/profile/update", json={"nickname": "Ada"})
    assert (answer.status, answer.json) == (401, INVALID)


def test_email_unchanged_triggers_no_confirmation(reader, ses):
    ada = reader().join()
    token = ada.magic_token()
    ses.clear()
    assert ada.http.post("/api/profile/update", json={"token": token, "email": "ada@example.net"}).status == 200
    ada.deliver()
    assert ses.mails() == []


@pytest.mark.parametrize("joined", [True, False])
def test_email_already_in_use_changes_nothing_and_keeps_the_link(reader, joined):
    bob = reader("bob@example.net")
    bob.join() if joined else bob.subscribe()
    ada = reader().join(nickname="Ada")
    token = ada.magic_token()
    answer = ada.http.post("/api/profile/update", json={"token": token, "email": "Bob@example.net", "nickname": "X"})
    assert (answer.status, answer.json) == (409, {"error": "Email already registered"})
    assert "Ada" in ada.http.get(f"/profile?token={token}").text


def test_email_changed_asks_the_new_address_and_informs_the_old_one(reader, ses):
    ada = reader().join()
    token = ada.magic_token()
    ses.clear()
    ada.http.post("/api/profile/update", json={"token": token, "email": "new@example.net", "nickname": "Ada"})
    ada.deliver()
    assert {mail["to"][0] for mail in ses.mails()} == {"new@example.net", "ada@example.net"}
    stored = ada.stored()
    assert (stored["pending_email"], stored["email"]) == ("new@example.net", "ada@example.net")
    assert stored["nickname"] == "Ada"
    new = reader("new@example.net")
    answer = new.confirm()
    assert (answer.status, answer.headers["Location"]) == (303, "https://news.example.org/profile?email_changed=true")
    assert "new address is confirmed" in ada.http.get("/profile?email_changed=true").text
    stored = new.stored()
    assert (stored["pending_email"], stored["email"]) == (None, "new@example.net")


def test_the_old_address_is_free_once_the_change_is_confirmed(reader, rows):
    ada = reader().join()
    ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    ada.deliver()
    reader("new@example.net").confirm()
    assert [row["address"]["S"] for row in rows("emails")] == ["new@example.net"]
    assert reader("ada@example.net").subscribe().status == 201
    assert len(rows("subscribers")) == 2


@pytest.mark.parametrize("joined", [True, False])
def test_new_email_already_registered_by_another_subscriber_shows_an_error_page(reader, rows, joined):
    ada = reader().join()
    ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    ada.deliver()
    new = reader("new@example.net")
    link = new.link()
    new.join() if joined else new.subscribe()
    page = ada.http.get(link)
    assert page.status == 409
    assert page.headers["Content-Type"].startswith("text/html")
    assert "already in use" in page.text
    assert "nothing was changed" in page.text
    assert {row["email"]["S"] for row in rows("subscribers")} == {"ada@example.net", "new@example.net"}


def test_email_confirmation_token_expired_does_not_update_the_address(reader, later, rows):
    ada = reader().join()
    ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    ada.deliver()
    link = reader("new@example.net").link()
    later(hours=24, seconds=1)
    assert ada.http.get(link).status == 400
    assert rows("subscribers")[0]["email"]["S"] == "ada@example.net"


def test_the_second_click_on_a_confirmed_change_is_fine(reader):
    ada = reader().join()
    ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    ada.deliver()
    link = reader("new@example.net").link()
    assert ada.http.get(link).headers["Location"] == ada.http.get(link).headers["Location"]


def test_the_download_holds_everything_that_is_stored(reader):
    ada = reader().join(nickname="Ada", source="Blog", tags=["News"], metadata={"ref": "x"})
    stored = ada.stored()
    assert stored["email"] == "ada@example.net"
    assert stored["sources"] == ["blog"]
    assert stored["tags"] == ["news"]
    assert stored["captures"][0]["metadata"] == {"ref": "x"}
    assert stored["captures"][0]["status"] == "CONFIRMED"


def test_never_again_erases_and_is_remembered_without_the_address(reader, rows, ses):
    ada = reader().join()
    page = ada.http.post("/profile/never", form={"token": ada.magic_token()})
    assert page.status == 200
    assert rows("subscribers") == rows("emails") == rows("tokens") == []
    assert "ada@" not in str(rows("suppressions"))
    ses.clear()
    assert ada.subscribe().status == 201
    assert ses.mails() == []


def test_only_the_person_can_lift_it_by_a_link(reader, ses):
    ada = reader().join()
    ada.http.post("/profile/never", form={"token": ada.magic_token()})
    ses.clear()
    ada.http.post("/profile/request-resume", form={"email": "ada@example.net"})
    ada.http.post("/profile/request-resume", form={"email": "other@example.net"})
    ada.deliver()
    assert [mail["to"] for mail in ses.mails()] == [["ada@example.net"]]
    assert ada.http.get(ada.link()).status == 200
    assert ada.http.post("/resume", form={"token": ada.token()}).status == 200
    ada.join()


def test_the_mail_that_lifts_it_is_true_for_somebody_who_complained_too(reader, ses):
    ada = reader().join()
    erasure.suppress("ada@example.net", "complaint")
    ses.clear()
    ada.http.post("/profile/request-resume", form={"email": "ada@example.net"})
    ada.deliver()
    text = " ".join(ada.mails()[0]["text"].split())
    assert "you asked for that, or marked one of our emails as spam" in text


def test_lifting_never_again_speaks_of_that_and_not_of_a_profile_link(http):
    page = http.get(http.post("/profile/request-resume", form={"email": "ada@example.net"}).headers["Location"])
    assert "If that address is one we may never email" in page.text
    assert "If that address is subscribed" not in page.text


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_link_that_lifted_it_already_leads_to_the_form_for_a_new_one(http, method):
    token = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172." + "x" * 32
    answer = http.get(f"/resume?token={token}") if method == "get" else http.post("/resume", form={"token": token})
    assert answer.status == 400
    assert "If we still may not email you" in answer.text
    assert "<details open>" in answer.text


def test_an_address_change_to_somebody_who_wants_no_mail_sends_none(reader, ses):
    bob = reader("bob@example.net").join()
    bob.http.post("/profile/never", form={"token": bob.magic_token()})
    ada = reader().join()
    token = ada.magic_token()
    ses.clear()
    assert ada.http.post("/api/profile/update", json={"token": token, "email": "bob@example.net"}).status == 200
    ada.deliver()
    assert ses.mails(to="bob@example.net") == []


def test_the_download_has_the_bounces_too(reader, rows):
    from chalicelib.bounces import service as bounces

    ada = reader().join()
    bounces.record_refusal(rows("subscribers")[0]["id"]["S"], "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e", "mailbox full")
    bounces.record_refusal("0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4f", "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e", "other")
    assert [bounce["reason"] for bounce in ada.stored()["bounces"]] == ["refused: mailbox full"]


def test_a_sign_up_that_still_waits_does_not_bring_the_old_address_back(reader, rows):
    ada = reader().join()
    ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    ada.deliver()
    ada.http.post("/api/subscribe", json={"email": "ada@example.net", "source": "shop"})
    assert ada.http.get(reader("new@example.net").link()).status == 303
    ada.deliver()
    assert [row["email"]["S"] for row in rows("subscribers")] == ["new@example.net"]
    assert "ada@example.net" not in str([rows(table) for table in ("emails", "tokens", "captures")])

"""Unsubscribing: three kinds of link, one click, and nothing remains stored."""

import pytest

from chalicelib.audience import erasure, jobs, model
from chalicelib.audience.stores import captures, emails, subscribers
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from tests.conftest import received

BOUNDARY = "----gna"


def _unsubscribe_token(rows) -> str:
    row = rows("subscribers")[0]
    return f"{row['id']['S']}.{row['unsubscribe_secret']['S']}"


def test_a_valid_token_deletes_and_shows_the_confirmation_page(reader, rows):
    ada = reader().join(nickname="Ada", source="blog", tags=["a"], metadata={"k": "v"})
    answer = ada.http.get(f"/api/unsubscribe?token={_unsubscribe_token(rows)}")
    assert answer.status == 200
    assert "You are unsubscribed" in answer.text
    for table in ("subscribers", "emails", "tokens", "captures"):
        assert rows(table) == []


def test_a_token_not_found_shows_the_same_page(reader, rows):
    ada = reader().join()
    token = _unsubscribe_token(rows)
    first = ada.http.get(f"/api/unsubscribe?token={token}")
    second = ada.http.get(f"/api/unsubscribe?token={token}")
    assert (first.status, first.body) == (second.status, second.body)


@pytest.mark.parametrize("token", ["", "nonsense", "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e", "<b>x</b>"])
def test_an_invalid_token_shows_an_error_page_with_contact_instructions(http, token):
    answer = http.get(f"/api/unsubscribe?token={token}")
    assert answer.status == 400
    assert "hello@example.org" in answer.text
    assert "<b>x</b>" not in answer.text


def test_a_wrong_secret_deletes_nobody(reader, rows):
    ada = reader().join()
    id = rows("subscribers")[0]["id"]["S"]
    assert ada.http.get(f"/api/unsubscribe?token={id}.{'A' * 32}").status == 400
    assert len(rows("subscribers")) == 1


@pytest.mark.parametrize("safe_links", ["false", "true"])
def test_the_link_of_a_test_email_says_that_it_was_one_and_erases_nobody(reader, rows, configure, safe_links):
    ada = reader().join()
    configure(SAFE_LINKS=safe_links)
    path = f"/api/unsubscribe?token={model.TEST_TOKEN}"
    for answer in (ada.http.get(path), ada.http.post(path, form={"List-Unsubscribe": "One-Click"})):
        assert answer.status == 200
        assert "This was a test email" in answer.text
        assert "has been deleted" not in answer.text
    assert len(rows("subscribers")) == 1


@pytest.mark.parametrize("kind", ["form", "multipart"])
def test_one_click_by_post_as_mail_programs_send_it(reader, rows, kind):
    ada = reader().join()
    path = f"/api/unsubscribe?token={_unsubscribe_token(rows)}"
    if kind == "form":
        answer = ada.http.post(path, form={"List-Unsubscribe": "One-Click"})
    else:
        body = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\n'
            f"One-Click\r\n--{BOUNDARY}--\r\n"
        )
        answer = ada.http.post(path, body=body, headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"})
    assert answer.status == 200
    assert answer.headers["Location"] is None
    assert answer.headers["Set-Cookie"] is None
    assert rows("subscribers") == []
    assert ada.http.post(path, form={"List-Unsubscribe": "One-Click"}).status == 200


def test_looking_ahead_deletes_nobody(reader, rows):
    ada = reader().join()
    path = f"/api/unsubscribe?token={_unsubscribe_token(rows)}"
    ada.http.request("HEAD", path)
    ada.http.get(path, Sec_Purpose="prefetch")
    assert len(rows("subscribers")) == 1


def test_with_safe_links_get_shows_a_button_and_post_acts(reader, rows, configure):
    configure(SAFE_LINKS="true")
    ada = reader()
    ada.subscribe()
    ada.http.post("/confirm", form={"token": ada.token()})
    token = _unsubscribe_token(rows)
    assert ada.http.get(f"/api/unsubscribe?token={token}").status == 200
    assert len(rows("subscribers")) == 1
    assert ada.http.post("/api/unsubscribe", form={"token": token}).status == 200
    assert rows("subscribers") == []


def test_resubscribing_after_leaving_creates_a_new_record(reader, rows):
    ada = reader().join(nickname="Ada")
    old = rows("subscribers")[0]["id"]["S"]
    ada.http.get(f"/api/unsubscribe?token={_unsubscribe_token(rows)}")
    ada.join()
    (row,) = rows("subscribers")
    assert row["id"]["S"] != old
    assert "nickname" not in row


def test_the_link_works_while_the_reader_changes_their_address(reader, rows, http):
    ada = reader().join()
    http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    http.get(f"/api/unsubscribe?token={_unsubscribe_token(rows)}")
    for table in ("subscribers", "emails", "tokens", "captures"):
        assert rows(table) == []


@pytest.mark.parametrize("end", ["link", "link, once confirmed", "expiry"])
def test_a_source_that_comes_between_reading_and_erasing_is_erased_too(reader, rows, http, monkeypatch, later, end):
    """Two at once: somebody leaves while a sign-up of theirs is processed."""
    ada = reader() if end == "expiry" else reader().join(source="blog")
    ada.subscribe(source="blog")
    token = _unsubscribe_token(rows)
    if end == "expiry":
        later(hours=24, seconds=1)
    real = subscribers.find

    def find(subscriber_id):
        monkeypatch.setattr(subscribers, "find", real)
        found = real(subscriber_id)
        capture, now = model.parse_capture("podcast", None, {"name": "Ada"}, None), clock.now()
        request = model.Request(ids.new(), capture, None, now, now + model.CONFIRMATION_LIFE)
        tables.transact(*subscribers.request_writes(found, request), captures.request_write(found, request))
        if end == "link, once confirmed":
            tables.transact(
                subscribers.join_write(real(subscriber_id), request, clock.now(), keep_waiting=False),
                captures.confirm_write(found.id, request, request, now, keep_waiting=False),
            )
        return found

    monkeypatch.setattr(subscribers, "find", find)
    if end != "expiry":
        assert http.get(f"/api/unsubscribe?token={token}").status == 200
    else:
        jobs.clean_up(lambda: True)
        assert len(rows("subscribers")) == 1, "the new request has a day of its own"
        later(hours=24, seconds=1)
        jobs.clean_up(lambda: True)
    assert rows("subscribers") == []
    assert "Ada" not in str(rows("captures"))


def test_a_suppression_also_holds_for_a_sign_up_processed_at_the_same_moment(reader, http, rows, monkeypatch):
    http.post("/api/subscribe", json={"email": "ada@example.net"})
    late = received("audience")
    real = emails.find_holder

    def slow(*given):
        owner = real(*given)
        while late:
            jobs.handle(late.pop())
        return owner

    monkeypatch.setattr(emails, "find_holder", slow)
    erasure.suppress("ada@example.net", "admin")
    assert rows("subscribers") == rows("emails") == rows("tokens") == rows("captures") == []

"""Who may ask for how many mails, and how many addresses a reader can try."""

import pytest

from chalicelib.audience import request_limits


def _link(http, email, ip):
    return http.post("/api/profile/request-link", json={"email": email}, source_ip=ip)


def _lift(http, email, ip):
    return http.post("/profile/request-resume", form={"email": email}, source_ip=ip)


def test_one_client_can_ask_for_so_many_links_an_hour_whatever_the_addresses(http, still, later):
    most = request_limits.LINKS_PER_CLIENT
    statuses = [_link(http, f"r{n}@example.net", "203.0.113.5").status for n in range(most - 5)]
    statuses += [_lift(http, f"s{n}@example.net", "203.0.113.5").status for n in range(5)]
    assert set(statuses) == {200, 303}
    refused = [_link(http, "x@example.net", "203.0.113.5"), _lift(http, "y@example.net", "203.0.113.5")]
    assert [answer.status for answer in refused] == [429, 429]
    assert all(1 <= int(answer.headers["Retry-After"]) <= 3600 for answer in refused)
    assert _link(http, "x@example.net", "203.0.113.6").status == 200
    later(hours=1)
    assert _link(http, "x@example.net", "203.0.113.5").status == 200


def test_a_refused_request_mails_nobody(reader, http, still, deliver, ses, monkeypatch):
    monkeypatch.setattr(request_limits, "LINKS_PER_CLIENT", 0)
    reader().join()
    ses.clear()
    assert _link(http, "ada@example.net", "203.0.113.5").status == 429
    deliver()
    assert ses.mails() == []


def _try(ada, token, email, **options):
    return ada.http.post("/api/profile/update", json={"token": token, "email": email}, **options)


def test_a_link_tests_three_addresses_and_no_more(reader, still, http):
    reader("bob@example.net").join()
    ada = reader().join()
    token = ada.magic_token()
    answers = [_try(ada, token, "bob@example.net") for _ in range(4)]
    assert [answer.status for answer in answers] == [409, 409, 409, 429]
    assert answers[3].json == {"error": "Too many addresses were tried with this link"}
    assert int(answers[3].headers["Retry-After"]) >= 1
    assert _try(ada, token, "free@example.net").status == 429, "a free address gets the same answer"
    assert http.post("/api/profile/update", json={"token": token, "nickname": "Ada"}).status == 200


def test_the_fresh_link_of_a_saved_page_counts_as_the_mailed_one(reader, still):
    reader("bob@example.net").join()
    ada = reader().join()
    token = ada.magic_token()
    for _ in range(3):
        assert _try(ada, token, "bob@example.net").status == 409
    saved = ada.http.post("/api/profile/update", form={"token": token, "nickname": "A", "email": ada.email})
    fresh = saved.headers["Location"].partition("token=")[2].partition("&")[0]
    assert _try(ada, fresh, "bob@example.net").status == 429


def test_a_reader_tests_five_addresses_a_day_however_many_links_they_ask_for(reader, still, later):
    for name in ("bob", "eve"):
        reader(f"{name}@example.net").join()
    ada = reader().join()
    first = ada.magic_token()
    statuses = [_try(ada, first, "bob@example.net").status for _ in range(3)]
    later(milliseconds=1)
    second = ada.magic_token()
    answers = [_try(ada, second, "eve@example.net") for _ in range(3)]
    assert statuses + [answer.status for answer in answers] == [409] * 5 + [429]
    assert answers[2].json == {"error": "Too many addresses were tried today"}
    assert 1 <= int(answers[2].headers["Retry-After"]) <= 86_400
    later(days=1)
    assert _try(ada, ada.magic_token(), "bob@example.net").status == 409


def test_the_page_says_that_nothing_was_changed(reader, still):
    reader("bob@example.net").join()
    ada = reader().join()
    token = ada.magic_token()
    for _ in range(3):
        _try(ada, token, "bob@example.net")
    page = ada.http.post("/api/profile/update", form={"token": token, "nickname": "New", "email": "bob@example.net"})
    assert page.status == 429
    assert page.headers["Retry-After"]
    assert "with this link, so nothing was changed. Please try again later." in page.text


def test_a_mistake_or_the_same_address_does_not_count(reader, still):
    reader("bob@example.net").join()
    ada = reader().join()
    token = ada.magic_token()
    for _ in range(6):
        body = {"token": token, "nickname": " x ", "email": "bob@example.net"}
        assert ada.http.post("/api/profile/update", json=body).status == 400
        assert _try(ada, "x." + token, "bob@example.net").status == 401
    for _ in range(6):
        saved = ada.http.post("/api/profile/update", form={"token": token, "email": "ADA@example.net"})
        token = saved.headers["Location"].partition("token=")[2].partition("&")[0]
    assert _try(ada, token, "bob@example.net").status == 409


def test_one_recipient_is_asked_three_times_an_hour_whoever_asks(reader, still, later, ses, deliver):
    statuses = []
    for number in range(5):
        someone = reader(f"r{number}@example.net").join()
        body = {"token": someone.magic_token(), "email": "victim@example.net"}
        answer = someone.http.post("/api/profile/update", json=body, source_ip=f"198.51.{number}.1")
        statuses.append(answer.status)
        deliver()
    assert statuses == [200, 200, 200, 429, 429]
    assert len(ses.mails(to="victim@example.net")) == 3


def test_one_client_asks_for_ten_changes_an_hour(reader, still, monkeypatch):
    monkeypatch.setattr(request_limits, "CHANGES_PER_CLIENT", 2)
    statuses = []
    for number in range(3):
        someone = reader(f"r{number}@example.net").join()
        statuses.append(
            _try(someone, someone.magic_token(), f"n{number}@example.net", source_ip="203.0.113.5").status
        )
    assert statuses == [200, 200, 429]


@pytest.mark.parametrize("kept", ["203.0.113.5", "victim@example.net", "ada@example.net"])
def test_nobody_can_be_recognised_in_what_is_counted(reader, rows, kept):
    ada = reader().join()
    _try(ada, ada.magic_token(), "victim@example.net", source_ip="203.0.113.5")
    id = rows("subscribers")[0]["id"]["S"]
    assert kept not in str(rows("limits"))
    assert id not in str(rows("limits"))

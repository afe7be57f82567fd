"""How often one may sign up, and how many confirmations one address is mailed."""

import pytest

from chalicelib.audience import jobs
from chalicelib.kernel.errors import Unavailable
from tests.conftest import received


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


def test_one_address_gets_at_most_five_confirmations_an_hour(reader, deliver, http):
    for number in range(8):
        http.post("/api/subscribe", json={"email": "ada@example.net"}, source_ip=f"203.0.113.{number}")
        deliver()
    assert len(reader().mails()) == 5


def test_tries_in_vain_neither_use_up_the_limits_nor_trip_the_breaker(http, ses, configure):
    configure(MAILS_PER_HOUR="3")
    ses.tell(down=True)
    for number in range(3):
        http.post("/api/subscribe", json={"email": f"r{number}@example.net"}, source_ip=f"198.51.{number}.1")
    messages = received("audience")
    for message in messages * 6:
        with pytest.raises(Unavailable):
            jobs.handle(message)
    ses.tell(down=False)
    for message in messages:
        jobs.handle(message)
    assert sorted(mail["to"][0] for mail in ses.mails()) == [f"r{number}@example.net" for number in range(3)]

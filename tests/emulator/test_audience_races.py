"""Two of everything at once: whatever the order, the end is a state the rules allow. Shown on the emulator, because
moto loses updates under threads."""

import re
from datetime import timedelta

import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.retries.standard import ExponentialBackoff

from chalicelib.audience import counts, folding, jobs, opt_outs
from chalicelib.audience.stores import places
from chalicelib.audience.stores.captures import CaptureRow
from chalicelib.audience.stores.emails import EmailRow
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.audience.stores.tokens import TokenRow
from chalicelib.kernel import clock
from tests.conftest import received
from tests.fixtures.emitters import table_emitters


@pytest.fixture
def mailbox(ses):
    return ses


def _subscribe(http, email, ip):
    return lambda: http.post("/api/subscribe", json={"email": email}, source_ip=f"198.51.{ip // 250}.{ip % 250}")


def _links(mailbox, email, path="/confirm"):
    texts = [mail["text"] for mail in mailbox.mails(to=email)]
    return [
        found.group(1) for text in texts if (found := re.search(rf"https://news\.example\.org({path}\?\S+)", text))
    ]


def _join(http, work, mailbox, email="ada@example.net"):
    assert _subscribe(http, email, 1)().status == 201
    work("audience")
    assert http.get(_links(mailbox, email)[0]).status == 303


def _magic(http, work, mailbox, email="ada@example.net"):
    assert http.post("/api/profile/request-link", json={"email": email}).status == 200
    work("audience")
    return _links(mailbox, email, "/profile")[0].partition("token=")[2]


def _consistent():
    """One key for each subscriber and one subscriber for each key; the count is what is there."""
    subscribers = {row.id: row for row in SubscriberRow.scan(consistent_read=True)}
    keys = {row.address: row.subscriber_id for row in EmailRow.scan(consistent_read=True)}
    assert keys == {row.email.casefold(): id for id, row in subscribers.items()}
    for table in (TokenRow, CaptureRow):
        assert {row.subscriber_id for row in table.scan(consistent_read=True)} <= set(subscribers)
    assert counts.total() == sum(row.status == "activated" for row in subscribers.values())
    assert counts.total() == places.sum_of(places.newest_first())
    assert all(row.folded == folding.fold_person(row.email, row.nickname) for row in subscribers.values())
    assert all(row.shard == folding.shard_of(row.id) for row in subscribers.values())
    return subscribers


def test_concurrent_subscribe_requests_for_the_same_email_make_one_record_and_one_live_link(
    http, work, together, mailbox
):
    answers = together(*(_subscribe(http, "ada@example.net", number) for number in range(50)))
    assert {answer.status for answer in answers} == {201}
    messages = received("audience")
    assert len(messages) == 50
    together(*(lambda message=message: jobs.handle(message) for message in messages[:10]))
    for message in messages:  # those who were turned away in the crowd come again
        jobs.handle(message)
    (subscriber,) = _consistent().values()
    links = _links(mailbox, "ada@example.net")
    assert 1 <= len(links) <= 5
    alive = [link for link in links if http.get(link).status == 303]
    assert len(alive) == 1
    assert _consistent()[subscriber.id].status == "activated"


def test_two_workers_send_the_same_mail_and_one_link_lives(http, work, together, mailbox):
    _subscribe(http, "ada@example.net", 1)()
    (message,) = received("audience")
    together(*(lambda: jobs.handle(message) for _ in range(4)))
    alive = [link for link in _links(mailbox, "ada@example.net") if http.get(link).status == 303]
    assert len(alive) == 1
    _consistent()


def test_ten_clicks_at_once_activate_once(http, work, together, mailbox):
    _subscribe(http, "ada@example.net", 1)()
    work("audience")
    (link,) = _links(mailbox, "ada@example.net")
    answers = together(*(lambda: http.get(link) for _ in range(10)))
    assert {answer.status for answer in answers} == {303}
    _consistent()
    assert counts.total() == 1


@pytest.mark.parametrize("turn", range(3))
def test_a_confirm_racing_a_resubscribe_ends_active_or_pending_with_a_good_link(http, work, together, mailbox, turn):
    _subscribe(http, "ada@example.net", 1)()
    work("audience")
    (link,) = _links(mailbox, "ada@example.net")
    together(lambda: http.get(link), _subscribe(http, "ada@example.net", 2), lambda: work("audience"))
    work("audience")
    (subscriber,) = _consistent().values()
    if subscriber.status == "pending":
        assert http.get(_links(mailbox, "ada@example.net")[0]).status == 303
    assert next(iter(_consistent().values())).status == "activated"


def test_two_readers_changing_to_one_address_leave_it_with_one_of_them(http, work, together, mailbox):
    for name in ("ada", "bob"):
        _join(http, work, mailbox, f"{name}@example.net")
    links = []
    for name in ("ada", "bob"):
        token = _magic(http, work, mailbox, f"{name}@example.net")
        http.post("/api/profile/update", json={"token": token, "email": "shared@example.net"})
        work("audience")
        links.append(_links(mailbox, "shared@example.net")[0])
    answers = together(*(lambda link=link: http.get(link) for link in links))
    assert sorted(answer.status for answer in answers) == [303, 409]
    emails = sorted(row.email for row in _consistent().values())
    assert emails in (["ada@example.net", "shared@example.net"], ["bob@example.net", "shared@example.net"])


@pytest.mark.parametrize("turn", range(3))
def test_an_unsubscribe_racing_a_profile_update_leaves_nothing(http, work, together, mailbox, turn):
    _join(http, work, mailbox)
    token = _magic(http, work, mailbox)
    (row,) = SubscriberRow.scan(consistent_read=True)
    leave = f"/api/unsubscribe?token={row.id}.{row.unsubscribe_secret}"
    update = {"token": token, "nickname": "Ada", "email": "new@example.net"}
    left, updated = together(lambda: http.get(leave), lambda: http.post("/api/profile/update", json=update))
    assert left.status == 200
    assert updated.status in (200, 401)
    work("audience")
    assert _consistent() == {}
    assert list(TokenRow.scan(consistent_read=True)) == []
    assert list(CaptureRow.scan(consistent_read=True)) == []


def test_an_unsubscribe_racing_an_address_change_leaves_no_key_behind(http, work, together, mailbox):
    _join(http, work, mailbox)
    token = _magic(http, work, mailbox)
    http.post("/api/profile/update", json={"token": token, "email": "new@example.net"})
    work("audience")
    (link,) = _links(mailbox, "new@example.net")
    (row,) = SubscriberRow.scan(consistent_read=True)
    leave = f"/api/unsubscribe?token={row.id}.{row.unsubscribe_secret}"
    together(lambda: http.get(leave), lambda: http.get(link))
    assert _consistent() == {}


@pytest.mark.parametrize("turn", range(3))
def test_an_unsubscribe_racing_a_sign_up_that_is_taken_in_leaves_nothing(http, work, together, mailbox, turn):
    _join(http, work, mailbox)
    (row,) = SubscriberRow.scan(consistent_read=True)
    for source in ("podcast", "shop"):
        assert http.post("/api/subscribe", json={"email": "ada@example.net", "source": source}).status == 201
    leave = f"/api/unsubscribe?token={row.id}.{row.unsubscribe_secret}"
    messages = received("audience")
    together(lambda: http.get(leave), *(lambda message=message: jobs.handle(message) for message in messages))
    for message in messages:
        jobs.handle(message)
    assert http.get(leave).status == 200
    assert _consistent() == {}
    assert list(TokenRow.scan(consistent_read=True)) == list(CaptureRow.scan(consistent_read=True)) == []


def test_the_limit_is_exact_however_many_ask_at_once(http, together, still):
    def ask(number):
        body = {"email": f"r{number}@example.net"}
        return lambda: http.post("/api/subscribe", json=body, source_ip="203.0.113.5")

    answers = together(*(ask(number) for number in range(20)))
    assert sorted(answer.status for answer in answers) == [201] * 5 + [429] * 15


def test_two_clean_ups_at_once_remove_each_sign_up_once(http, work, together, mailbox, monkeypatch):
    for number in range(6):
        _subscribe(http, f"r{number}@example.net", number)()
    work("audience")
    later = clock.now() + timedelta(hours=25)
    monkeypatch.setattr(clock, "now", lambda: later)
    results = together(lambda: jobs.clean_up(lambda: True), lambda: jobs.clean_up(lambda: True))
    assert results == [None, None]
    assert _rows_left() == (0, 0, 0)
    assert {row.status for row in CaptureRow.scan(consistent_read=True)} == {"EXPIRED"}


def _rows_left():
    return tuple(len(list(table.scan(consistent_read=True))) for table in (SubscriberRow, EmailRow, TokenRow))


@pytest.fixture
def database_away(emulator, monkeypatch):
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *ignored: 0)
    for emitter in table_emitters():
        emitter.register("before-send", _cut)
    yield
    _reconnect()


def _reconnect() -> None:
    for emitter in table_emitters():
        emitter.unregister("before-send", _cut)


def test_database_unavailable_is_503_with_retry_after_and_nothing_half_written(http, database_away):
    answer = http.post("/api/subscribe", json={"email": "ada@example.net"})
    assert (answer.status, answer.json) == (503, {"error": "Service unavailable"})
    assert int(answer.headers["Retry-After"]) > 0
    _reconnect()
    assert _rows_left() == (0, 0, 0)
    assert received("audience") == []


_TOKEN = "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e." + "A" * 32


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("GET", f"/confirm?token={_TOKEN}", {}),
        ("POST", "/confirm", {"form": {"token": _TOKEN}}),
        ("GET", f"/api/unsubscribe?token={_TOKEN}", {}),
        ("POST", f"/api/unsubscribe?token={_TOKEN}", {"form": {"List-Unsubscribe": "One-Click"}}),
        ("POST", "/api/profile/request-link", {"json": {"email": "ada@example.net"}}),
        ("GET", f"/profile?token={_TOKEN}", {}),
        ("GET", f"/profile/data?token={_TOKEN}", {}),
        ("POST", "/api/profile/update", {"json": {"token": _TOKEN, "nickname": "Ada"}}),
        ("POST", "/api/profile/update", {"form": {"token": _TOKEN, "nickname": "Ada"}}),
        ("POST", "/profile/never", {"form": {"token": _TOKEN}}),
        ("POST", "/profile/request-resume", {"form": {"email": "ada@example.net"}}),
        ("GET", f"/resume?token={_TOKEN}", {}),
        ("POST", "/never", {"form": {"token": opt_outs.make_token("ada@example.net")}}),
    ],
)
def test_database_unavailable_is_503_wherever_a_reader_asks(http, database_away, method, path, options):
    answer = http.request(method, path, **options)
    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert "text/html" in answer.headers["Content-Type"] or answer.json == {"error": "Service unavailable"}


def _cut(**_):
    raise EndpointConnectionError(endpoint_url="http://127.0.0.1:9")

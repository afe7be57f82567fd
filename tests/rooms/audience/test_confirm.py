"""What a mailed confirmation link does, row by row."""

import pytest


def test_confirmation_activates_and_redirects_to_the_welcome_page(reader, rows):
    ada = reader()
    ada.subscribe()
    answer = ada.confirm()
    assert (answer.status, answer.headers["Location"]) == (303, "https://news.example.org/confirmed")
    (row,) = rows("subscribers")
    assert row["status"]["S"] == "activated"
    assert row["activated_at"]["S"]
    assert "confirmation_expires_at" not in row
    assert "expires_at" not in row
    assert "Welcome" in ada.http.get("/confirmed").text


def test_subscription_confirmation_for_an_already_active_email_ends_on_the_welcome_page_too(reader):
    ada = reader()
    ada.subscribe()
    link = ada.link()
    assert ada.http.get(link).headers["Location"].endswith("/confirmed")
    again = ada.http.get(link)
    assert (again.status, again.headers["Location"]) == (303, "https://news.example.org/confirmed")


def test_subscription_confirmation_token_expired_shows_an_error_page_and_activates_nothing(reader, rows, later):
    ada = reader()
    ada.subscribe()
    later(hours=24, seconds=1)
    answer = ada.confirm()
    assert answer.status == 400
    assert "subscribe again" in answer.text
    assert rows("subscribers")[0]["status"]["S"] == "pending"


@pytest.mark.parametrize(
    "token", ["", "x", "a.b", "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e." + "A" * 32, "<script>alert(1)</script>", "%00"]
)
def test_subscription_confirmation_token_invalid_shows_an_error_page(http, token):
    answer = http.get(f"/confirm?token={token}")
    assert answer.status == 400
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "<script>" not in answer.text


@pytest.mark.parametrize(
    "headers", [{"Purpose": "prefetch"}, {"Sec-Purpose": "prefetch;prerender"}, {"X-Moz": "prefetch"}]
)
def test_looking_ahead_confirms_nothing(reader, rows, headers):
    ada = reader()
    ada.subscribe()
    assert ada.http.get(ada.link(), headers=headers).status == 200
    assert ada.http.request("HEAD", ada.link()).status == 200
    assert rows("subscribers")[0]["status"]["S"] == "pending"
    assert ada.confirm().status == 303


def test_with_safe_links_the_link_shows_a_button_and_the_button_confirms(reader, rows, configure):
    configure(SAFE_LINKS="true")
    ada = reader()
    ada.subscribe()
    page = ada.http.get(ada.link())
    assert page.status == 200
    assert rows("subscribers")[0]["status"]["S"] == "pending"
    assert f'value="{ada.token()}"' in page.text
    answer = ada.http.post("/confirm", form={"token": ada.token()})
    assert answer.headers["Location"] == "https://news.example.org/confirmed"
    assert rows("subscribers")[0]["status"]["S"] == "activated"


def test_the_stored_token_is_only_a_hash(reader, rows):
    ada = reader()
    ada.subscribe()
    assert ada.token().partition(".")[2] not in str(rows("tokens"))


def test_every_page_forbids_scripts_from_elsewhere_and_keeps_its_address_to_itself(http):
    for path in (
        "/confirmed",
        "/profile",
        "/subscribe",
        "/subscribed",
        "/confirm?token=x",
        "/api/unsubscribe?token=x",
    ):
        headers = http.get(path).headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"

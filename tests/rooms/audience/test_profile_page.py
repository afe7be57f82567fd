"""The form on a reader's own page: one mail is enough for everything a reader came to do."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest


def _save(ada, token, **fields):
    return ada.http.post("/api/profile/update", form={"token": token, "email": ada.email, **fields})


def _fresh(answer):
    """The token of the page a save leads to."""
    assert answer.status == 303
    leads_to = urlsplit(answer.headers["Location"])
    assert (leads_to.netloc, leads_to.path) == ("news.example.org", "/profile")
    query = parse_qs(leads_to.query)
    assert query["updated"] == ["true"]
    return query["token"][0]


def test_saving_says_so_and_uses_the_link_up(reader):
    ada = reader().join(nickname="Ada")
    token = ada.magic_token()
    fresh = _fresh(_save(ada, token, nickname="  Countess "))
    page = ada.http.get(f"/profile?token={fresh}&updated=true")
    assert page.status == 200
    assert "Saved." in page.text
    assert 'value="Countess"' in page.text
    assert "Saved." not in ada.http.get(f"/profile?token={fresh}").text
    for again in (_save(ada, token, nickname="Again"), ada.http.get(f"/profile?token={token}")):
        assert again.status == 401
        assert "What you saved with it is kept" in again.text
    assert ada.http.post("/api/profile/update", json={"token": token}).json == {"error": "Invalid or expired token"}


def test_rename_twice_then_download_then_leave_from_one_mail(reader, rows):
    ada = reader().join(nickname="Ada")
    token = ada.magic_token()
    mails = len(ada.mails())
    token = _fresh(_save(ada, token, nickname="Countess"))
    token = _fresh(_save(ada, token, nickname="Lovelace"))
    assert ada.http.get(f"/profile/data?token={token}").json["nickname"] == "Lovelace"
    page = ada.http.get(f"/profile?token={token}")
    leave = re.search(
        r'action="[^"]*/api/unsubscribe">\s*<input type="hidden" name="token" value="([^"]+)"', page.text
    )
    assert ada.http.post("/api/unsubscribe", form={"token": leave.group(1)}).status == 200
    assert rows("subscribers") == rows("tokens") == []
    ada.deliver()
    assert len(ada.mails()) == mails


def test_the_fresh_link_ends_when_the_mailed_one_would_have(reader, later):
    ada = reader().join()
    token = ada.magic_token()
    later(minutes=14)
    fresh = _fresh(_save(ada, token, nickname="Ada"))
    assert ada.http.get(f"/profile?token={fresh}").status == 200
    later(minutes=1, seconds=1)
    assert ada.http.get(f"/profile?token={fresh}").status == 401


def test_a_script_gets_no_fresh_link(reader, rows):
    ada = reader().join()
    answer = ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "nickname": "Ada"})
    assert (answer.status, answer.text) == (200, '{"status": "updated"}')
    assert "magic-link" not in {row["kind"]["S"] for row in rows("tokens")}


def test_two_saves_with_one_link_save_once(reader):
    """Somebody clicks twice: the second is refused, and the first one's page works."""
    ada = reader().join()
    token = ada.magic_token()
    first, second = _save(ada, token, nickname="One"), _save(ada, token, nickname="Two")
    assert second.status == 401
    assert ada.http.get(f"/profile/data?token={_fresh(first)}").json["nickname"] == "One"


def test_a_new_address_is_said_to_wait(reader):
    ada = reader().join()
    fresh = _fresh(_save(ada, ada.magic_token(), nickname="Ada", email="new@example.net"))
    page = ada.http.get(f"/profile?token={fresh}&updated=true")
    assert "Saved." in page.text
    assert "<strong>new@example.net</strong>, open the link we sent there" in page.text


@pytest.mark.parametrize("way", ["json", "form"])
def test_a_change_of_capitals_is_saved_at_once_and_mails_nobody(reader, rows, ses, way):
    ada = reader().join()
    fields = {"token": ada.magic_token(), "email": "Ada@Example.NET", "nickname": "Ada"}
    ses.clear()
    assert ada.http.post("/api/profile/update", **{way: fields}).status in (200, 303)
    ada.deliver()
    assert ses.mails() == []
    (row,) = rows("subscribers")
    assert (row["email"]["S"], row["nickname"]["S"]) == ("Ada@Example.NET", "Ada")
    assert [row["address"]["S"] for row in rows("emails")] == ["ada@example.net"]
    assert "change-email" not in {row["kind"]["S"] for row in rows("tokens")}


def test_the_pages_form_can_remove_the_nickname(reader):
    ada = reader().join(nickname="Ada")
    _fresh(_save(ada, ada.magic_token(), nickname=""))
    assert ada.stored()["nickname"] is None


def test_a_taken_address_shows_the_form_again_and_says_what_to_do(reader):
    reader("bob@example.net").join()
    ada = reader().join()
    token = ada.magic_token()
    page = _save(ada, token, nickname='Ada & "Co"', email="bob@example.net")
    assert page.status == 409
    assert 'value="bob@example.net"' in page.text
    assert "Ada &amp; &#34;Co&#34;" in page.text
    assert "so nothing was changed. Enter another address, or end that subscription first" in page.text
    assert f'value="{token}"' in page.text
    assert ada.http.get(f"/profile/data?token={token}").json["nickname"] is None

"""The "never email me" link of every confirmation mail, for people who may never have signed up."""

import re

import pytest

from chalicelib.audience import erasure, jobs, mails, opt_outs
from chalicelib.audience.stores import suppressions
from chalicelib.kernel import addresses

TABLES = ("subscribers", "emails", "tokens", "captures")


def _never(mail):
    found = re.search(r"https://news\.example\.org/never\?token=(\S+)", mail["text"])
    assert found
    assert f"/never?token={found.group(1)}" in mail["html"]
    return found.group(1)


@pytest.mark.parametrize("active", [False, True])
def test_the_link_of_a_confirmation_mail_erases_and_ends_all_mail(reader, rows, ses, active):
    ada = reader().join(source="blog") if active else reader()
    ada.subscribe(source="podcast", metadata={"k": "v"})
    token = _never(ada.mails()[0])
    before = [rows(table) for table in TABLES]
    page = ada.http.get(f"/never?token={token}")
    assert (page.status, page.headers["Cache-Control"]) == (200, "no-store")
    assert f'value="{token}"' in page.text
    assert "All we keep is a fingerprint" in page.text
    assert ada.http.request("HEAD", f"/never?token={token}").status == 200
    assert [rows(table) for table in TABLES] == before, "programs open links too"
    assert ada.http.post("/never", form={"token": token}).status == 200
    assert [rows(table) for table in TABLES] == [[], [], [], []]
    ses.clear()
    assert ada.subscribe().status == 201
    assert ses.mails() == []


@pytest.mark.parametrize("cleaned", [True, False])
def test_it_works_after_the_sign_up_expired(reader, rows, later, cleaned):
    ada = reader()
    ada.subscribe(nickname="Ada")
    token = _never(ada.mails()[0])
    later(days=400 if cleaned else 1, seconds=1)
    if cleaned:
        jobs.clean_up(lambda: True)
    assert ada.http.get(f"/never?token={token}").status == 200
    assert ada.http.post("/never", form={"token": token}).status == 200
    assert len(rows("suppressions")) == 1
    assert rows("subscribers") == rows("emails") == rows("tokens") == []


def test_nobody_learns_from_it_whether_the_address_is_subscribed(reader, http):
    reader().join()
    known, unknown = (opt_outs.make_token(f"{name}@example.net") for name in ("ada", "bob"))
    pages = [http.get(f"/never?token={token}").text.replace(token, "") for token in (known, unknown)]
    assert pages[0] == pages[1]
    answers = [http.post("/never", form={"token": token}) for token in (known, unknown, known)]
    assert len({(answer.status, answer.text) for answer in answers}) == 1


def test_a_second_click_changes_nothing_and_announces_nothing(reader, rows, http):
    reader().join()
    token = opt_outs.make_token("ada@example.net")
    for _ in range(3):
        assert http.post("/never", form={"token": token}).status == 200
    assert [row["type"]["S"] for row in rows("events")].count("DO_NOT_CONTACT_SET") == 1


def test_whoever_changes_their_mind_can_sign_up_again_and_opt_out_again(reader, rows, http, ses):
    ada = reader()
    ada.subscribe()
    token = _never(ada.mails()[0])
    http.post("/never", form={"token": token})
    http.post("/profile/request-resume", form={"email": ada.email})
    ada.deliver()
    assert http.post("/resume", form={"token": ada.token()}).status == 200
    ada.join()
    assert http.post("/never", form={"token": token}).status == 200
    assert rows("subscribers") == []


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "x",
        "YWRhQGV4YW1wbGUubmV0",
        "YWRhQGV4YW1wbGUubmV0.",
        "YWRhQGV4YW1wbGUubmV0." + "0" * 32,
        "_w.abc",
        "Y.abc",
        "\N{SNOWMAN}." + "0" * 32,
        "A" * 5000,
        opt_outs.make_token("ada@example.net")[:-1],
        opt_outs.make_token("ada@example.net") + "0",
        opt_outs.make_token("eve@example.net").replace("ZXZl", "YWRh"),
    ],
)
def test_a_link_we_did_not_make_is_refused(http, rows, reader, token):
    reader().join()
    for answer in (
        http.get("/never", query={"token": token}),
        http.post("/never", form={"token": token}),
    ):
        assert answer.status == 400
        assert "This link is not valid" in answer.text
    assert len(rows("subscribers")) == 1
    assert rows("suppressions") == []


@pytest.mark.parametrize(
    "email", ["ada@example.net", "o'brien+news@bücher.example", "a" * 64 + "@" + "b" * 60 + ".example"]
)
def test_every_address_has_a_link(email):
    key = addresses.key(email)
    token = opt_outs.make_token(key)
    assert opt_outs.parse_token(token) == key
    assert token.replace("-", "").replace("_", "").replace(".", "").isalnum()


def test_the_owner_of_a_new_address_can_opt_out_and_the_change_is_off(reader, rows, http, ses):
    ada, bob = reader().join(), reader("bob@example.net")
    http.post("/api/profile/update", json={"token": ada.magic_token(), "email": bob.email})
    ada.deliver()
    link = bob.link()
    assert http.post("/never", form={"token": _never(bob.mails()[0])}).status == 200
    assert http.get(link).status == 400
    assert [row["email"]["S"] for row in rows("subscribers")] == [ada.email]


def test_an_opt_out_between_reading_and_changing_stops_the_change(reader, rows, http, monkeypatch):
    ada, bob = reader().join(), reader("bob@example.net")
    http.post("/api/profile/update", json={"token": ada.magic_token(), "email": bob.email})
    ada.deliver()
    real = suppressions.is_suppressed

    def slow(pseudonym):
        monkeypatch.setattr(suppressions, "is_suppressed", real)
        found = real(pseudonym)
        erasure.suppress(bob.email, "person")
        return found

    monkeypatch.setattr(suppressions, "is_suppressed", slow)
    assert http.get(bob.link()).status == 400
    assert [row["email"]["S"] for row in rows("subscribers")] == [ada.email]


@pytest.mark.parametrize("make", [mails.confirm_mail, mails.add_mail, mails.change_email_mail])
def test_no_other_link_of_the_mail_is_confused_with_it(make):
    mail = make("ada@example.org", "https://news.example.org/confirm?token=x")
    assert mail.text.count("https://news.example.org/never?token=") == 1
    assert mail.html.count("https://news.example.org/never?token=") == 1

"""The pages on which people join, sign in, and look after their account, without a script."""

import re
from html import unescape

import pytest

from chalicelib.members import returning
from tests.rooms.members.person import OTHER, PASSWORD

HERE = "https://news.example.org"


@pytest.fixture
def post():
    """A form as a browser sends it: `post(ada, "/join", email="…")`."""

    def send(person, path, **fields):
        return person.send("POST", path, form=fields, Origin=HERE)

    return send


@pytest.fixture
def ada(person):
    return person().join()


def hidden(page):
    """The hidden fields of a page's form."""
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page.text)
    return {name: unescape(value) for name, value in found}


def problem(page):
    """What the form says is wrong, and about which field."""
    text = re.search(r'<p class="(?:why"[^>]*|notice bad") ?[^>]*role="alert">(.*?)</p>', page.text)
    field = re.search(r'<input[^>]* id="(\w+)"[^>]*aria-invalid="true" autofocus>', page.text)
    return unescape(text[1]) if text else None, field[1] if field else None


def test_joining_signs_in_and_leads_to_the_sightings(person, post):
    ada = person()
    answer = post(ada, "/join", email=ada.email, password=PASSWORD, password_confirm=PASSWORD)
    assert (answer.status, answer.headers["Location"]) == (303, "/sightings?notice=joined")
    assert ada.send("GET", "/sightings?notice=joined").status == 200
    assert ada.me().json["verified"] is False


@pytest.mark.parametrize(
    ("fields", "status", "text", "field"),
    [
        ({"email": "nowhere"}, 400, "Invalid email", "email"),
        (
            {"password": "weak"},
            400,
            "Password must be 8+ chars with uppercase, number, special char",
            "password",
        ),
        ({"password": "A1!" + "x" * 70}, 400, "Password too long (max 72 bytes)", "password"),
        ({"password_confirm": "other"}, 400, "Passwords do not match", "password_confirm"),
        ({"email": "bob@example.net"}, 409, "Email already registered", "email"),
    ],
)
def test_a_mistake_is_explained_beside_its_field_and_the_address_is_kept(person, post, fields, status, text, field):
    person("bob@example.net").join()
    ada = person()
    given = {"email": ada.email, "password": PASSWORD, "password_confirm": PASSWORD, **fields}
    page = post(ada, "/join", **given)
    assert (page.status, *problem(page)) == (status, text, field)
    assert f'value="{given["email"]}"' in page.text
    assert given["password"] not in page.text
    assert f'aria-describedby="{field}-why' in page.text


def test_by_invitation_only_the_invited_get_a_form(person, post, invite, configure):
    configure(MEMBERS="invite")
    ada = person()
    page = ada.send("GET", "/join")
    assert (page.status, "Accounts are by invitation" in page.text, "<form" in page.text) == (200, True, False)
    assert "has already been used" in ada.send("GET", "/join?invitation=x").text
    answer = post(ada, "/join", email=ada.email, password=PASSWORD, password_confirm=PASSWORD)
    assert (answer.status, "Accounts are by invitation" in answer.text) == (403, True)
    invite(ada.email)
    token = ada.token("/join", "invitation")
    page = ada.send("GET", f"/join?invitation={token}")
    assert hidden(page) == {"invitation": token}
    assert f'value="{ada.email}"' in page.text
    weak = post(ada, "/join", email=ada.email, password="x", password_confirm="x", invitation=token)
    assert hidden(weak) == {"invitation": token}
    answer = post(ada, "/join", email=ada.email, password=PASSWORD, password_confirm=PASSWORD, invitation=token)
    assert answer.headers["Location"] == "/sightings?notice=welcome"


def test_who_is_signed_in_is_led_on(ada):
    assert ada.send("GET", "/join").headers["Location"] == "/sightings"
    assert ada.send("GET", "/sign-in").headers["Location"] == "/sightings"
    assert ada.send("GET", "/sign-in?next=/account").headers["Location"] == "/account"


def test_signing_in_leads_to_the_page_that_was_asked_for(ada, post):
    away = ada.elsewhere()
    asked = away.send("GET", "/account/delete")
    assert (asked.status, asked.headers["Location"]) == (303, "/sign-in?next=%2Faccount%2Fdelete")
    page = away.send("GET", asked.headers["Location"])
    assert hidden(page) == {"next": "/account/delete"}
    answer = post(away, "/sign-in", email=ada.email, password=PASSWORD, **hidden(page))
    assert (answer.status, answer.headers["Location"]) == (303, "/account/delete")


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.example/",
        "//evil.example/sightings",
        "/\\evil.example",
        "/sightings/../admin",
        "/sightings/new?x",
        "/sightings/new\n",
        "/account/data",
        "/sightings/x",
        "/admin",
        "javascript:alert(1)",
        "",
    ],
)
def test_no_other_place_is_returned_to(ada, post, place):
    away = ada.elsewhere()
    assert away.send("GET", "/sign-in", headers={}).status == 200
    answer = post(away, "/sign-in", email=ada.email, password=PASSWORD, next=place, draft_path=place, draft_q="x")
    assert (answer.status, answer.headers["Location"]) == (303, "/sightings")


def test_every_page_for_members_can_be_returned_to():
    pages = {route.path for _, route in returning._pages()}
    assert pages == {
        "/account",
        "/account/password",
        "/account/delete",
        "/sightings",
        "/sightings/new",
        *("/sightings/{sighting_id}" + part for part in ("", "/edit", "/delete", "/share")),
        *("/inbox" + part for part in ("", "/add", "/{entry_id}")),
        *("/following" + part for part in ("", "/find", "/connect", "/disconnect")),
        *("/following/{follow_id}" + part for part in ("", "/unfollow")),
    }


def test_a_wrong_password_keeps_the_address_and_tells_nothing(ada, post):
    away = ada.elsewhere()
    for email in (ada.email, "nobody@example.net"):
        page = post(away, "/sign-in", email=email, password="wrong")
        assert (page.status, *problem(page)) == (401, "Invalid email or password", "password")
        assert f'value="{email}"' in page.text


def test_too_many_attempts_are_told_when_to_come_back(ada, post, still):
    away = ada.elsewhere()
    pages = [post(away, "/sign-in", email=ada.email, password="wrong") for _ in range(6)]
    assert pages[-1].status == 429
    assert problem(pages[-1])[0] == "Too many requests. Please wait a while, then try again."
    assert int(pages[-1].headers["Retry-After"]) > 0


def test_signing_out_ends_the_session_at_once(ada, post):
    cookie = ada.cookie
    answer = post(ada, "/sign-out")
    assert answer.headers["Location"] == "/sign-in?notice=signed-out"
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    assert ada.http.get("/account", Cookie=cookie).status == 303


def test_opening_the_link_verifies_nothing_and_the_button_does(ada, post):
    token = ada.token("/verify")
    for _ in range(2):
        page = ada.send("GET", f"/verify?token={token}")
        assert (page.status, hidden(page)) == (200, {"token": token})
    assert ada.me().json["verified"] is False
    assert post(ada, "/verify", token=token).headers["Location"] == "/account?notice=verified"
    assert ada.me().json["verified"] is True
    for page in (ada.send("GET", f"/verify?token={token}"), post(ada, "/verify", token=token)):
        assert (page.status, "This link does not work" in page.text) == (401, True)


def test_who_is_not_signed_in_verifies_too(ada, post):
    away = ada.elsewhere()
    assert post(away, "/verify", token=ada.token("/verify")).headers["Location"] == "/sign-in?notice=verified"


def test_who_verifies_in_the_browser_of_another_member_does_not_verify_them(ada, person, post):
    bob = person("bob@example.net").join()
    answer = post(bob, "/verify", token=ada.token("/verify"))
    assert answer.headers["Location"] == "/account?notice=other-verified"
    page = bob.send("GET", answer.headers["Location"]).text
    assert "Your address is verified" not in page
    assert "another account" in page
    assert "Not verified" in page
    assert [ada.me().json["verified"], bob.me().json["verified"]] == [True, False]


def test_a_new_password_by_link(ada, post):
    away = ada.elsewhere()
    for email in (ada.email, "nobody@example.net"):
        assert post(away, "/forgot-password", email=email).headers["Location"] == "/forgot-password?notice=reset-sent"
    assert problem(post(away, "/forgot-password", email="x")) == ("Invalid email", "email")
    ada.deliver()
    token = ada.token("/reset")
    assert hidden(away.send("GET", f"/reset?token={token}")) == {"token": token}
    weak = post(away, "/reset", token=token, password="weak", password_confirm="weak")
    assert (weak.status, problem(weak)[1], hidden(weak)) == (400, "password", {"token": token})
    answer = post(away, "/reset", token=token, password=OTHER, password_confirm=OTHER)
    assert answer.headers["Location"] == "/sign-in?notice=reset"
    assert ada.me().status == 401
    assert ada.sign_in(OTHER).status == 200
    for page in (away.send("GET", f"/reset?token={token}"), away.send("GET", "/reset")):
        assert (page.status, "Request a new link" in page.text) == (401, True)


def test_no_page_tells_anybody_the_token_in_its_url(ada):
    """A style sheet, a photo or a link would be asked for with it, unless the page says otherwise."""
    for path in ("/verify?token=x", "/reset?token=x", "/join?invitation=x"):
        assert ada.elsewhere().send("GET", path).headers["Referrer-Policy"] == "strict-origin"
    assert ada.send("GET", "/account").headers["Referrer-Policy"] == "same-origin"


def test_the_account_says_what_happens_to_it_until_it_is_verified(ada, post):
    page = ada.send("GET", "/account").text
    assert "Not verified" in page
    assert "the account will be deleted" in page
    ada.deliver()
    before = len(ada.mails())
    assert post(ada, "/account/verify").headers["Location"] == "/account?notice=verify-sent"
    ada.deliver()
    assert len(ada.mails()) == before + 1
    ada.verify()
    page = ada.send("GET", "/account").text
    assert "Not verified" not in page
    assert "Send again" not in page
    assert post(ada, "/account/verify").headers["Location"] == "/account?notice=verified"


def test_asking_for_too_many_links_is_refused_on_the_account_page(ada, post, still):
    answers = [post(ada, "/account/verify") for _ in range(4)]
    assert answers[-1].status == 429
    assert "Too many requests" in answers[-1].text
    assert ada.email in answers[-1].text


def test_changing_the_password(ada, post):
    path = "/account/password"
    wrong = post(ada, path, current_password="wrong", password=OTHER, password_confirm=OTHER)
    assert (wrong.status, *problem(wrong)) == (401, "Wrong password", "current_password")
    weak = post(ada, path, current_password=PASSWORD, password="weak", password_confirm="weak")
    assert (weak.status, problem(weak)[1]) == (400, "password")
    thief = ada.elsewhere()
    thief.cookie = ada.cookie
    answer = post(ada, path, current_password=PASSWORD, password=OTHER, password_confirm=OTHER)
    assert answer.headers["Location"] == "/account?notice=password-changed"
    assert ada.send("GET", "/account?notice=password-changed").status == 200
    assert thief.me().status == 401
    assert ada.elsewhere().sign_in(OTHER).status == 200


def test_deleting_the_account_asks_for_the_password(ada, post):
    wrong = post(ada, "/account/delete", password="wrong")
    assert (wrong.status, *problem(wrong)) == (401, "Wrong password", "password")
    answer = post(ada, "/account/delete", password=PASSWORD)
    assert answer.headers["Location"] == "/sign-in?notice=account-deleted"
    assert ada.cookie == ""
    assert ada.elsewhere().sign_in().status == 401


def test_the_data_is_a_download_and_no_page_to_return_to(ada):
    answer = ada.send("GET", "/account/data")
    assert answer.json["account"]["email"] == ada.email
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert ada.elsewhere().send("GET", "/account/data").headers["Location"] == "/sign-in?next=%2Faccount"


def test_what_was_written_survives_the_sign_in_and_a_wrong_password(ada, post):
    written = {"animal_name": 'Owl "& <mouse>', "location": "Marsh road", "current_password": PASSWORD}
    away = ada.elsewhere()
    page = post(away, "/sightings/new", **written)
    assert (page.status, page.headers["Location"]) == (401, None)
    kept = {"draft_path": "/sightings/new", "draft_animal_name": 'Owl "& <mouse>', "draft_location": "Marsh road"}
    assert hidden(page) == kept
    assert PASSWORD not in page.text
    page = post(away, "/sign-in", email=ada.email, password="wrong", **hidden(page))
    assert (page.status, hidden(page)) == (401, kept)


def test_a_session_that_ends_while_the_password_is_changed_keeps_no_password(ada, post):
    page = post(ada.elsewhere(), "/account/password", current_password=PASSWORD, password=OTHER)
    assert hidden(page) == {"draft_path": "/account/password"}
    answer = post(ada.elsewhere(), "/sign-in", email=ada.email, password=PASSWORD, **hidden(page))
    assert (answer.status, answer.headers["Location"]) == (303, "/account/password")


def test_a_button_without_a_page_of_its_own_leads_back_to_its_page(ada, post):
    page = post(ada.elsewhere(), "/account/verify")
    assert hidden(page) == {"draft_path": "/account"}


@pytest.mark.parametrize("path", ["/join", "/sign-in", "/account", "/sightings", "/member.css", "/verify"])
def test_without_members_there_are_no_pages(person, configure, path):
    configure(MEMBERS="off")
    assert person().send("GET", path, Accept="text/html").status == 404


@pytest.mark.parametrize("path", ["/join", "/sign-in", "/sign-out", "/account/delete", "/forgot-password"])
def test_other_sites_cannot_send_these_forms(ada, path):
    answer = ada.send("POST", path, form={"email": ada.email}, Origin="https://evil.example")
    assert answer.status == 403


@pytest.mark.parametrize(("path", "kind"), [("/member.css", "text/css"), ("/member.js", "text/javascript")])
def test_style_and_script_may_be_kept(ada, path, kind):
    page = ada.send("GET", "/account").text
    found = re.search(rf'"({path}\?v=[0-9a-f]+)"', page)
    answer = ada.send("GET", found[1])
    assert answer.headers["Content-Type"].startswith(kind)
    assert answer.headers["Cache-Control"] == "public, max-age=31536000"
    assert ada.send("GET", path).headers["Cache-Control"] == "public, max-age=3600"
    assert ada.send("GET", path, If_None_Match=answer.headers["ETag"]).status == 304
    assert len(answer.body) < 16 * 1024


def test_pages_have_no_inline_script_or_style_and_are_in_no_index(ada):
    for path in ("/join", "/sign-in", "/forgot-password", "/reset", "/verify"):
        _check_clean(ada.elsewhere().send("GET", path).text)
    for path in ("/account", "/account/password", "/account/delete", "/sightings", "/sightings/new"):
        _check_clean(ada.send("GET", path).text)


def _check_clean(page):
    assert '<meta name="robots" content="noindex">' in page
    assert "style=" not in page
    assert "<style" not in page
    assert not re.search(r"<script(?! src=)", page)
    assert not re.search(r"\son\w+=", page)
    assert re.search(r"<title>.+ · The Daily Test</title>", page)

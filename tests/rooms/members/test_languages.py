"""Members are addressed in the publication's language."""

import re

import pytest

from chalicelib.kernel import languages

LEFTOVERS = re.compile(r"%\(|</?(?:never|contact|sign_in|join|data)>")


@pytest.mark.parametrize("code", sorted(languages.codes()))
def test_the_pages_of_guests_speak_the_publications_language(http, configure, code):
    configure(SITE_LANG=code)
    for path in ("/sign-in", "/join", "/forgot-password", "/verify?token=x", "/reset?token=x"):
        page = http.get(path).text
        assert f'<html lang="{code}">' in page, path
        assert not LEFTOVERS.search(page), path


def test_why_a_form_was_refused_is_said_in_the_publications_language(http, configure):
    configure(SITE_LANG="de")
    form = {"email": "ada@example.net", "password": "short", "password_confirm": "short"}
    page = http.post("/join", form=form, Origin="https://news.example.org")
    assert page.status == 400
    assert "Das Passwort braucht mindestens 8 Zeichen" in page.text
    assert 'id="password-why"' in page.text


def test_programs_get_the_same_errors_in_every_language(http, configure):
    configure(SITE_LANG="de")
    refused = http.post("/api/auth/signin", json={"email": "ada@example.net", "password": "x"})
    assert refused.json == {"error": "Invalid email or password"}


@pytest.mark.parametrize("code", sorted(languages.codes()))
def test_a_members_own_pages_and_mails_speak_the_publications_language(configure, person, code):
    configure(SITE_LANG=code)
    ada = person()
    ada.join()
    mail = ada.mailbox.mails(to=ada.email)[0]
    assert f'<html lang="{code}"' in mail["html"]
    assert not LEFTOVERS.search(mail["html"] + mail["text"])
    for path in ("/account", "/account/password", "/account/delete", "/sightings", "/sightings/new"):
        page = ada.send("GET", path).text
        assert f'<html lang="{code}">' in page, path
        assert not LEFTOVERS.search(page), path


def test_what_members_share_with_the_dashboard_is_in_english_and_says_so(configure, person):
    configure(SITE_LANG="de")
    ada = person()
    ada.join()
    page = ada.send("GET", "/following").text
    assert '<html lang="en">' in page
    assert "Sign out" in page


def test_the_script_speaks_the_publications_language(http, configure):
    configure(SITE_LANG="fr")
    assert "Envoi de la photo\\u2026" in http.get("/member.js").text.replace("…", "\\u2026")
    configure(SITE_LANG="en")
    assert "Uploading the photo" in http.get("/member.js").text

"""Readers are addressed in the publication's language, or in that of the form they used."""

import re

import pytest

from chalicelib.kernel import languages

PAGES = (
    "/",
    "/subscribe",
    "/subscribed",
    "/confirmed",
    "/confirmed?added=true",
    "/confirm?token=x",
    "/api/unsubscribe?token=x",
    "/never?token=x",
    "/profile",
    "/profile?token=x",
    "/profile?link_sent=true",
    "/profile?resume_sent=true",
    "/resume?token=x",
    "/archive",
    "/archive/nothing",
)
LEFTOVERS = re.compile(r"%\(|%%|</?(?:profile|subscribe|home|contact|never|sign_in|join)>")


@pytest.mark.parametrize("code", sorted(languages.codes()))
def test_every_page_speaks_the_publications_language(http, configure, code):
    configure(SITE_LANG=code)
    for path in PAGES:
        page = http.get(path, headers={"Accept": "text/html"}).text
        assert f'<html lang="{code}">' in page, path
        assert not LEFTOVERS.search(page), path


def test_what_is_asked_for_by_the_form_goes_before_the_publications_language(http, configure):
    configure(SITE_LANG="fr")
    page = http.get("/subscribe?lang=de-CH").text
    assert '<html lang="de">' in page
    assert '<input type="hidden" name="lang" value="de">' in page
    assert '<html lang="fr">' in http.get("/subscribe?lang=tlh").text
    assert "tlh" not in http.get("/subscribe?lang=tlh").text


def test_the_answer_to_a_form_is_in_the_language_of_the_form(http):
    answer = http.post("/api/subscribe", form={"email": "ada@example.org", "lang": "de"})
    assert answer.status == 303
    assert answer.headers["Location"] == "https://news.example.org/subscribed?lang=de"
    page = http.get("/subscribed?lang=de").text
    assert "Schauen Sie in Ihren Posteingang" in page
    refused = http.post("/api/subscribe", form={"email": "nobody", "lang": "de"})
    assert refused.status == 400
    assert "Diese E-Mail-Adresse ist nicht gültig" in refused.text
    assert '<html lang="de">' in refused.text


def test_programs_get_the_same_errors_in_every_language(http, configure):
    configure(SITE_LANG="de")
    refused = http.post("/api/subscribe", json={"email": "nobody", "lang": "de"})
    assert (refused.status, refused.json) == (400, {"error": "Email address is not valid"})


def test_the_confirmation_and_what_it_leads_to_are_in_the_language_of_the_form(http, reader):
    ada = reader()
    ada.subscribe(lang="de-AT")
    mail = ada.mails()[0]
    assert mail["subject"] == "Bitte bestätigen Sie Ihr Abonnement von The Daily Test"
    link = re.search(r"https://news\.example\.org(/confirm\?\S+)", mail["text"])[1]
    assert link.endswith("&lang=de")
    confirmed = http.get(link)
    assert confirmed.headers["Location"] == "https://news.example.org/confirmed?lang=de"
    assert "Ihr Abonnement ist bestätigt" in http.get("/confirmed?lang=de").text
    never = re.search(r"https://news\.example\.org(/never\?\S+)", mail["text"])[1]
    assert '<html lang="de">' in http.get(never).text


def test_a_language_nobody_speaks_here_is_not_kept(reader, configure):
    configure(SITE_LANG="nl")
    ada = reader()
    ada.subscribe(lang="x-klingon")
    assert ada.mails()[0]["subject"] == "Bevestig je abonnement op The Daily Test"
    assert "lang=" not in ada.mails()[0]["text"]


def test_the_script_has_the_texts_of_every_language_and_says_which_is_the_publications(http, configure):
    configure(SITE_LANG="de")
    script = http.get("/embed.js").text
    assert '"button":"Abonnieren"' in script
    assert '"button":"S’abonner"' in script
    assert ': "de", texts' in script


def test_a_mistake_on_the_profile_page_is_explained_in_the_readers_language(http, configure):
    configure(SITE_LANG="es")
    refused = http.post("/api/profile/request-link", form={"email": "nobody"})
    assert "La dirección de correo no es válida" in refused.text
    assert "Vuelve atrás, corrígelo" in refused.text


def test_a_page_that_is_not_there_says_so_in_the_readers_language(http, configure):
    configure(SITE_LANG="it")
    page = http.get("/nowhere", headers={"Accept": "text/html"})
    assert page.status == 404
    assert "Pagina non trovata" in page.text

"""Readers of other languages, in a real browser: long words fit on phones, and the form speaks as it is told."""

import pytest

from tests.browser.page_checks import fits, shoot, small_targets, violations

ADA = "ada@example.net"
PAGES = {
    "home": "/",
    "archive": "/archive",
    "subscribe": "/subscribe",
    "subscribed": "/subscribed",
    "profile-link": "/profile?resume_sent=true",
    "confirm": "/confirm?token=x",
    "goodbye": "/api/unsubscribe?token=x",
}


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("lang", ["de", "fr"])
def test_pages_and_mails_fit_a_small_phone_in_languages_with_long_words(house, browser, look, configure, lang, width):
    configure(SITE_LANG=lang, SITE_URL=house.url, SITE_NAME="The Slow Garden")
    mail = (house.subscribe(ADA), house.mails(ADA)[0])[1]
    house.join(ADA)
    page = look()
    page.set_viewport_size({"width": width, "height": 800})
    wrong = {}
    for name, path in {**PAGES, "profile": house.profile(ADA).removeprefix(house.url)}.items():
        page.goto(path)
        assert page.locator("html").get_attribute("lang") == lang
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        shoot(page, f"languages/{lang}-{width}-{name}")
        wrong[name] = violations(page) + small_targets(page) + ([] if fits(page) else ["does not fit"])
    program = browser.new_page(viewport={"width": width, "height": 800})
    program.set_content(mail["html"])
    shoot(program, f"languages/{lang}-{width}-mail")
    wrong["mail"] = violations(program, mail=True) + ([] if fits(program) else ["does not fit"])
    program.close()
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_form_speaks_the_language_it_is_told_and_so_does_what_follows(house, elsewhere, look):
    page = look()
    script = f'<script src="{house.url}/embed.js" data-lang="de-AT" data-name async></script>'
    page.goto(elsewhere.show(script))
    form = page.locator("form.gna-form")
    form.wait_for()
    assert form.get_attribute("lang") == "de"
    page.get_by_role("button", name="Abonnieren").click()
    page.get_by_role("status").filter(has_text="Bitte prüfen Sie die E-Mail-Adresse.").wait_for()
    page.get_by_label("E-Mail-Adresse").fill(ADA)
    page.get_by_role("button", name="Abonnieren").click()
    page.get_by_role("status").filter(has_text="Fast geschafft").wait_for()
    shoot(page, "languages/form-de")
    assert house.mails(ADA)[0]["subject"] == "Bitte bestätigen Sie Ihr Abonnement von The Slow Garden"
    page.goto(house.link(ADA))
    page.get_by_role("heading", level=1, name="Willkommen! Ihr Abonnement ist bestätigt").wait_for()
    assert page.locator("html").get_attribute("lang") == "de"


def test_a_form_that_asks_for_an_unknown_language_speaks_the_publications(house, elsewhere, look, configure):
    configure(SITE_LANG="nl", SITE_URL=house.url, ALLOWED_ORIGINS=elsewhere.url)
    page = look()
    page.goto(elsewhere.show(f'<script src="{house.url}/embed.js" data-lang="toString" async></script>'))
    page.get_by_role("button", name="Abonneren").wait_for()
    assert page.locator("form.gna-form").get_attribute("lang") == "nl"


def test_without_a_script_the_answer_is_in_the_language_of_the_form(house, look):
    page = look(script=False)
    page.goto("/subscribe?lang=it")
    page.get_by_label("Indirizzo email").fill(ADA)
    page.get_by_role("button", name="Iscriviti").click()
    page.get_by_role("heading", level=1, name="Ancora un passo: controlla la tua casella di posta").wait_for()
    assert house.mails(ADA)[0]["subject"] == "Conferma la tua iscrizione a The Slow Garden"

"""The publication's own words, from the settings page to a reader: the confirmation, its page, the welcome mail."""

import re

import pytest

from chalicelib.audience import jobs
from tests.browser.admin.test_settings_page import PAGE, preview
from tests.browser.page_checks import fits, shoot, small_targets, violations
from tests.conftest import received

SENTENCE = "Schön, dass Sie mitlesen wollen! Ein Klick noch, dann gehört der Sonntag den Bohnen & <Quitten>."
BUTTON = "Ja, ich lese mit"
AFTERWARDS = "Der erste Brief kommt am Sonntag.\n\nBis dahin: viel Freude im Garten!"
FACES = {"desktop": (1280, "light"), "phone": (390, "light"), "dark": (390, "dark"), "narrow": (320, "light")}


def join(http, ses, address):
    """What the reader is mailed: the confirmation."""
    assert http.post("/api/subscribe", json={"email": address, "source": "blog"}).status == 201
    work()
    return ses.mails(to=address)[0]


def work():
    for message in received("audience"):
        jobs.handle(message)


def save(page):
    page.get_by_role("button", name="Save").last.click()
    page.get_by_text("Readers see it within a minute").wait_for()


def mail_problems(page, mail, name):
    """As mail programs show it: in every width and colour, and without asking anybody."""
    found = []
    for face, (width, scheme) in FACES.items():
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.set_content(mail["html"])
        shoot(page, f"words/{name}-{face}")
        found += violations(page, mail=True) + ([] if fits(page) else [f"{face}: wider than the screen"])
    return found


@pytest.mark.parametrize("script", [True, False])
def test_a_confirmation_speaks_the_words_of_the_publication(dashboard, look, http, ses, browser, script):
    page = look(script=script)
    page.goto(PAGE)
    page.get_by_label("Confirmation: sentence").fill(SENTENCE)
    page.get_by_label("Confirmation: button").fill(BUTTON)
    page.get_by_label("Confirmation: afterwards").fill(AFTERWARDS)
    page.get_by_text("Confirmation", exact=True).click()
    if not script:
        page.get_by_role("button", name="Update").click()
    preview(page).get_by_role("link", name=BUTTON).wait_for()
    save(page)
    mail = join(http, ses, "ada@example.net")
    assert SENTENCE in mail["text"]
    plain = browser.new_page()
    assert mail_problems(plain, mail, "confirmation") == []
    link = plain.get_by_role("link", name=BUTTON)
    assert plain.get_by_text(SENTENCE).is_visible()
    address = link.get_attribute("href")
    plain.close()
    reader = look(phone=True, dark=script, script=script)
    reader.goto(address)
    assert reader.get_by_role("heading", name="Welcome! Your subscription is confirmed").is_visible()
    assert reader.get_by_text("Der erste Brief kommt am Sonntag.").is_visible()
    assert reader.get_by_text("viel Freude im Garten!").is_visible()
    shoot(reader, f"words/afterwards-{'dark' if script else 'light'}")
    if script:
        assert violations(reader) + small_targets(reader) == []
        assert fits(reader)


def test_a_welcome_email_is_written_previewed_and_sent_once(dashboard, look, http, ses, browser):
    page = look()
    page.goto(PAGE)
    page.get_by_label("Send a welcome email").check()
    page.get_by_label("Welcome email: subject").fill("Willkommen, {{nickname|Nachbar}}!")
    page.get_by_label("Welcome email: text").fill("# Guten Tag\n\n{{greeting}}, *schön*, dass du da bist.")
    page.get_by_label("End it with a link to the last campaign").check()
    page.get_by_text("Welcome", exact=True).click()
    preview(page).get_by_role("heading", name="Guten Tag").wait_for()
    preview(page).get_by_text("Our last issue:").last.wait_for()
    shoot(page, "words/welcome-editor-desktop")
    page.set_viewport_size({"width": 390, "height": 844})
    shoot(page, "words/welcome-editor-phone")
    assert violations(page) + small_targets(page) == []
    assert fits(page)
    page.set_viewport_size({"width": 1280, "height": 860})
    save(page)
    address = re.search(r"http://\S+/confirm\?\S+", join(http, ses, "bob@example.net")["text"]).group()
    reader = look()
    for _ in range(2):
        reader.goto(address)
        work()
    mails = [mail for mail in ses.mails(to="bob@example.net") if mail["subject"] == "Willkommen, Nachbar!"]
    assert len(mails) == 1
    plain = browser.new_page()
    assert mail_problems(plain, mails[0], "welcome") == []
    assert (
        plain.get_by_role("link", name="What to do in the garden when it rains").count()
        + plain.get_by_role("link", name="Seed swap on Saturday").count()
    )
    plain.close()


def test_the_welcome_email_is_written_without_scripts_too(dashboard, look):
    page = look(script=False, phone=True)
    page.goto(PAGE)
    page.get_by_label("Send a welcome email").check()
    page.get_by_label("Welcome email: text").fill("Hallo **du**.")
    page.get_by_text("Welcome", exact=True).click()
    page.get_by_role("button", name="Update").click()
    page.frame_locator("iframe").get_by_text("Hallo du.", exact=True).wait_for()
    save(page)
    assert page.get_by_role("textbox", name="Welcome email: text").input_value() == "Hallo **du**."

"""The mails with a link in them, as a mail program shows them: for everybody, on a phone, in the dark."""

import pytest

from chalicelib.audience import mails
from chalicelib.mail import notices
from tests.browser.looking import fits, shoot, violations

LINK = "https://news.example.org/confirm?token=0193a5c4-11f0-7a6b-8c01-2d3e4f506172." + "x" * 32
TO = "ada@example.net"


@pytest.fixture(scope="module")
def messages():
    return {
        "confirm": mails.confirm_mail(TO, LINK),
        "magic-link": mails.magic_link_mail(TO, LINK),
        "change-email": mails.change_email_mail(TO, LINK),
        "email-changed": mails.email_changed_notice(TO),
        "lift": mails.lift_mail(TO, LINK),
        "notice": notices.admin_notice(TO, "The feed cannot be read", "It answered 500 three times.\n\nLook."),
    }


@pytest.mark.parametrize(
    ("face", "width", "scheme"), [("desktop", 800, "light"), ("phone", 360, "light"), ("dark", 800, "dark")]
)
def test_every_mail_is_for_everybody(browser, messages, face, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 640}, color_scheme=scheme)
    page, requested, wrong = context.new_page(), [], {}
    page.on("request", lambda request: requested.append(request.url))
    for name, message in messages.items():
        page.set_content(message.html)
        shoot(page, f"mails/{face}-{name}")
        wrong[name] = violations(page, letter=True) + ([] if fits(page) else ["does not fit"])
    context.close()
    assert {name: found for name, found in wrong.items() if found} == {}
    assert requested == []


def test_each_has_one_clear_button_and_its_address_in_words(messages, browser):
    page = browser.new_page()
    for name in ("confirm", "magic-link", "change-email", "lift"):
        page.set_content(messages[name].html)
        links = page.locator(f"a[href='{LINK}']")
        assert [link for link in links.all_inner_texts() if "://" not in link] == [links.first.inner_text()]
        assert LINK in messages[name].text
    page.close()

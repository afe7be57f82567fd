"""Mails with a link, as a mail program shows them: on a desktop, on a phone, and in dark colours."""

import pytest

from chalicelib.audience.mails import (
    add_mail,
    change_email_mail,
    confirm_mail,
    email_changed_notice,
    lift_mail,
    magic_link_mail,
)
from chalicelib.mail.notices import admin_notice
from tests.browser.page_checks import fits, shoot, violations

LINK = "https://news.example.org/confirm?token=0193a5c4-11f0-7a6b-8c01-2d3e4f506172." + "x" * 32
TO = "ada@example.net"


@pytest.fixture
def mails(aws):
    return {
        "confirm": confirm_mail(TO, LINK),
        "add": add_mail(TO, LINK),
        "magic-link": magic_link_mail(TO, LINK),
        "change-email": change_email_mail(TO, LINK),
        "email-changed": email_changed_notice(TO),
        "lift": lift_mail(TO, LINK),
        "notice": admin_notice(TO, "The feed cannot be read", "It answered 500 three times.\n\nLook."),
    }


@pytest.mark.parametrize(
    ("face", "width", "scheme"), [("desktop", 800, "light"), ("phone", 360, "light"), ("dark", 800, "dark")]
)
def test_every_mail_is_accessible_and_fits(browser, mails, face, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 640}, color_scheme=scheme)
    page, asked, wrong = context.new_page(), [], {}
    page.on("request", lambda request: asked.append(request.url))
    for name, mail in mails.items():
        page.set_content(mail.html)
        shoot(page, f"mails/{face}-{name}")
        wrong[name] = violations(page, mail=True) + ([] if fits(page) else ["does not fit"])
    context.close()
    assert {name: found for name, found in wrong.items() if found} == {}
    assert asked == []


def test_each_has_one_button_and_its_link_as_text(mails, browser):
    page = browser.new_page()
    for name in ("confirm", "add", "magic-link", "change-email", "lift"):
        page.set_content(mails[name].html)
        links = page.locator(f"a[href='{LINK}']")
        assert [link for link in links.all_inner_texts() if "://" not in link] == [links.first.inner_text()]
        assert LINK in mails[name].text
    page.close()

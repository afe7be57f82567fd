import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from chalicelib.audience import mails
from chalicelib.kernel import languages
from chalicelib.mail import notices, templates
from chalicelib.mail.message import Message

LINK = "https://news.example.org/confirm?token=0198f3c1.secret&lang=en"
WITH_LINK: list[Callable[[str, str], Message]] = [
    mails.confirm_mail,
    mails.add_mail,
    mails.magic_link_mail,
    mails.change_email_mail,
]


MAILS: dict[str, Callable[[], Message]] = {
    **{make.__name__: partial(make, "ada@example.org", LINK) for make in WITH_LINK},
    "email_changed_notice": lambda: mails.email_changed_notice("ada@example.org"),
    "admin_notice": lambda: notices.admin_notice(
        "admin@example.org", "The feed fails", "Three times.\n\nSince noon."
    ),
}


@pytest.fixture(params=MAILS)
def mail(request: pytest.FixtureRequest) -> Message:
    return MAILS[request.param]()


@pytest.mark.parametrize("make", WITH_LINK)
def test_a_mail_has_one_button_and_its_plain_text_the_bare_link(make: Callable[[str, str], Message]) -> None:
    mail = make("ada@example.org", LINK)
    assert mail.html.count("bgcolor=") == 1
    links = set(re.findall(r'href="(https://news.example.org/(?!never)[^"]+)"', mail.html))
    assert links == {LINK.replace("&", "&amp;")}
    assert f"\n{LINK}\n" in mail.text


def test_a_mail_is_made_for_every_reader(mail: Message) -> None:
    assert '<html lang="en"' in mail.html
    assert "prefers-color-scheme: dark" in mail.html
    assert mail.html.count("<table") == mail.html.count('<table role="presentation"')
    assert "max-width:560px" in mail.html
    assert "The Daily Test" in mail.text
    assert "hello@example.org" in mail.text
    assert "mailto:hello@example.org" in mail.html
    assert len(mail.html) < 20_000
    assert max(len(line) for line in mail.text.splitlines() if not line.startswith("https://")) < 80
    assert "<" not in mail.text


def test_a_mail_asks_machines_not_to_answer(mail: Message) -> None:
    assert mail.headers["Auto-Submitted"] == "auto-generated"


def test_a_mail_loads_nothing_from_anywhere(mail: Message) -> None:
    assert not re.search(r"<img|<script|<link|url\(|src=", mail.html)


def test_the_name_of_the_site_is_escaped_in_html_and_plain_in_text_and_subject(configure: Any) -> None:
    configure(SITE_NAME="Tom & <Jerry>")
    mail = mails.confirm_mail("ada@example.org", LINK)
    assert "<Jerry>" not in mail.html
    assert "Tom &amp; &lt;Jerry&gt;" in mail.html
    assert "Tom & <Jerry>" in mail.text
    assert mail.subject == "Please confirm your subscription to Tom & <Jerry>"


@pytest.mark.parametrize(("colour", "ink"), [("#0f766e", "#ffffff"), ("#ffe600", "#111827"), ("#000000", "#ffffff")])
def test_the_button_can_be_read_on_any_colour(configure: Any, colour: str, ink: str) -> None:
    configure(SITE_COLOR=colour)
    assert templates.ink_on(colour) == ink
    assert f"color:{ink};text-decoration:none" in mails.confirm_mail("ada@example.org", LINK).html


def test_a_mail_is_in_the_publications_language_and_says_so(configure: Any) -> None:
    configure(SITE_LANG="de-AT")
    mail = mails.confirm_mail("ada@example.org", LINK)
    assert '<html lang="de"' in mail.html
    assert mail.subject == "Bitte bestätigen Sie Ihr Abonnement von The Daily Test"
    assert "Wenn Sie das waren, öffnen Sie" in mail.text
    assert "If the button" not in mail.html


def test_a_mail_is_in_english_and_says_so_if_there_is_no_catalogue(configure: Any) -> None:
    configure(SITE_LANG="ja")
    mail = mails.confirm_mail("ada@example.org", LINK)
    assert '<html lang="en"' in mail.html
    assert mail.subject == "Please confirm your subscription to The Daily Test"


def test_a_mail_to_whoever_runs_gna_is_in_english(configure: Any) -> None:
    configure(SITE_LANG="de")
    mail = notices.admin_notice("admin@example.org", "The feed fails", "Three times.")
    assert '<html lang="en"' in mail.html


@pytest.mark.parametrize("code", sorted(languages.codes()))
@pytest.mark.parametrize("make", WITH_LINK)
def test_a_mail_in_any_language_is_whole(configure: Any, make: Callable[[str, str], Message], code: str) -> None:
    configure(SITE_LANG=code, SITE_NAME="Tom & <Jerry>")
    mail = make("ada@example.org", LINK)
    assert f'<html lang="{code}"' in mail.html
    assert f"\n{LINK}\n" in mail.text
    assert "Tom & <Jerry>" in mail.subject
    assert "<Jerry>" not in mail.html
    assert re.findall(r"%\(|</?(?:never|profile|contact)>", mail.html + mail.text) == []
    assert max(len(line) for line in mail.text.splitlines() if not line.startswith("https://")) < 80
    assert "<strong" not in mail.text

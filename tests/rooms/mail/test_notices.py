from typing import Any

import pytest

from chalicelib.mail import notices
from local.ses.main import Client


def test_a_notice_reaches_the_admin(ses: Client) -> None:
    notices.notify_admin("The feed fails", "Three times in a row.\n\nLast: timeout.")
    [mail] = ses.mails("admin@example.org")
    assert mail["subject"] == "[The Daily Test] The feed fails"
    assert "Last: timeout." in mail["text"]


def test_a_notice_with_a_wild_subject_arrives_all_the_same(ses: Client) -> None:
    notices.notify_admin("Two\r\nlines and a null\0 " + "x" * 500, "Text")
    assert ses.mails()[0]["subject"].startswith("[The Daily Test] Two lines and a null xxx")


def test_a_notice_that_cannot_leave_undoes_nothing(ses: Client, capsys: pytest.CaptureFixture[str]) -> None:
    ses.tell(down=True)
    notices.notify_admin("The feed fails", "Three times.")
    assert "admin.notice_failed" in capsys.readouterr().out


def test_without_an_admin_nothing_is_sent(ses: Client, configure: Any) -> None:
    configure(ADMIN_EMAIL="")
    notices.notify_admin("The feed fails", "Three times.")
    assert ses.stats()["calls"] == {}


def test_a_notice_is_escaped_and_keeps_its_paragraphs() -> None:
    mail = notices.admin_notice("admin@example.org", "A <b>title", "One <script>\n\nTwo")
    assert "<script>" not in mail.html
    assert "<b>" not in mail.html
    assert "One <script>\n\nTwo\n" in mail.text
    assert mail.subject == "[The Daily Test] A <b>title"

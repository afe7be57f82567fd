"""Mails to the operator about what needs a person: a failing feed, a stopped delivery."""

from chalicelib.kernel import languages, log, settings
from chalicelib.kernel.errors import GnaError
from chalicelib.mail import sender, templates
from chalicelib.mail.message import Message

_LONGEST_SUBJECT = 120


def notify_admin(subject: str, text: str) -> None:
    """Mail ADMIN_EMAIL if it is set. A notice that cannot be sent is logged: it must not undo what it reports."""
    log.warning("admin.notice")
    to = settings.current().admin_email
    if not to:
        return
    try:
        sender.send(admin_notice(to, subject, text))
    except GnaError as failure:
        log.exception("admin.notice_failed", failure)


def admin_notice(to: str, subject: str, text: str) -> Message:
    """The subject is made to fit, so that no notice is lost because of its form."""
    line = "".join(character if character.isprintable() else " " for character in subject)[:_LONGEST_SUBJECT]
    paragraphs = text.strip().split("\n\n")
    return templates.automatic_message(
        to, "admin_notice", languages.ENGLISH, notice_subject=line, paragraphs=paragraphs
    )

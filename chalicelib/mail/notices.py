"""Telling the operator what needs a person: a failing feed, a stopped delivery."""

from chalicelib.kernel import log, settings
from chalicelib.kernel.errors import GnaError
from chalicelib.mail import sender, transactional


def notify_admin(subject: str, text: str) -> None:
    """Mail ADMIN_EMAIL if there is one. A notice that cannot be sent is logged: it must not undo what it reports."""
    log.warning("admin.notice")
    to = settings.current().admin_email
    if not to:
        return
    try:
        sender.send(transactional.admin_notice(to, subject, text))
    except GnaError as failure:
        log.exception("admin.notice_failed", failure)

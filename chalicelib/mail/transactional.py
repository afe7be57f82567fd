"""The mails one person gets because of something they did.

Nothing a visitor typed is repeated in them: a form that mails its visitor's words to any address is a spam cannon.
"""

from typing import Any

from chalicelib.mail import templates
from chalicelib.mail.message import Message

# So that holiday replies and ticket systems do not answer.
_AUTOMATIC = {"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All"}


_LONGEST_NOTICE = 120


def confirm_mail(to: str, link: str) -> Message:
    """Asks the owner of an address whether it was really they who signed up."""
    return _message(to, "confirm", link=link)


def magic_link_mail(to: str, link: str) -> Message:
    """The way into one's own profile."""
    return _message(to, "magic_link", link=link)


def change_email_mail(to: str, link: str) -> Message:
    """Goes to the new address, which is taken only once its owner has said yes."""
    return _message(to, "change_email", link=link)


def email_changed_notice(to: str) -> Message:
    """Goes to the old address, whose owner may know nothing of it."""
    return _message(to, "email_changed")


def lift_mail(to: str, link: str) -> Message:
    """To somebody who asked never to be written to and now asks, from the profile page, to take that back."""
    return _message(to, "lift", link=link)


def admin_notice(to: str, subject: str, text: str) -> Message:
    """Tells the operator something. The subject is made to fit: a notice must not get lost for its form."""
    line = "".join(letter if letter.isprintable() else " " for letter in subject)[:_LONGEST_NOTICE]
    return _message(to, "admin_notice", notice_subject=line, paragraphs=text.strip().split("\n\n"))


def _message(to: str, name: str, **values: Any) -> Message:
    rendered = templates.render(name, **values)
    return Message(to, rendered.subject, rendered.html, rendered.text, _AUTOMATIC)

"""The mails to one person that carry a link, written by the queue's worker.

Only here a link's secret comes into being: no queue ever holds one, nor an address. A mail that cannot leave now
raises, and the queue brings its message back; each try issues a fresh link and ends the one before.
"""

from collections.abc import Callable
from urllib.parse import urlencode

from chalicelib.audience import model
from chalicelib.audience.stores import subscribers, suppressions
from chalicelib.audience.stores import tokens as token_store
from chalicelib.kernel import addresses, clock, limits, log, settings, tokens
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail import notices, sender, transactional
from chalicelib.mail.failures import Rejected
from chalicelib.mail.message import Message

_MAILS_TO_ONE_ADDRESS = 5
_TO_ONE, _TO_ALL = "confirmations to one", "confirmations"
_HOUR = 3600


def send(kind: str, subscriber_id: str) -> None:
    """One message of the mail queue. What there is no reason left to send is not sent."""
    try:
        _LETTERS[kind](subscriber_id)
    except Stale:
        # Confirmed, erased or moved between reading and writing: the letter has lost its reason.
        log.info("letter.overtaken", subscriber_id=subscriber_id)


def _confirm(subscriber_id: str) -> None:
    subscriber = subscribers.find(subscriber_id)
    if not subscriber or (subscriber.activated and not subscriber.asked_sources):
        return
    if _unwanted(subscriber.email) or not _within_limits(subscriber.email):
        return
    until = clock.now() + model.CONFIRMATION_LIFE
    token = tokens.issue(subscriber.id)
    prolonged = (
        [subscribers.check_present_write(subscriber)]
        if subscriber.activated
        else subscribers.extend_writes(subscriber, until)
    )
    tables.transact(token_store.issue_write(subscriber.id, model.CONFIRM, token, until), *prolonged)
    try:
        _send(transactional.confirm_mail(subscriber.email, _link("/confirm", token)), subscriber_id)
    except Unavailable:
        _give_back(subscriber.email)
        raise


def _magic_link(subscriber_id: str) -> None:
    subscriber = subscribers.find(subscriber_id)
    if not subscriber or not subscriber.activated:
        return
    token = tokens.issue(subscriber.id)
    until = clock.now() + model.MAGIC_LINK_LIFE
    tables.transact(
        token_store.issue_write(subscriber.id, model.MAGIC_LINK, token, until),
        subscribers.check_present_write(subscriber),
    )
    _send(transactional.magic_link_mail(subscriber.email, _link("/profile", token)), subscriber_id)


def _change_email(subscriber_id: str) -> None:
    """To the new address the question, to the old one the announcement."""
    subscriber, found = subscribers.find_with_tokens(subscriber_id, model.CHANGE_EMAIL)
    row = found.get(model.CHANGE_EMAIL)
    if not subscriber or not row or not row.new_email or _unwanted(row.new_email):
        return
    token = tokens.issue(subscriber.id)
    tables.transact(
        token_store.issue_write(subscriber.id, model.CHANGE_EMAIL, token, clock.parse(row.until)),
        subscribers.check_present_write(subscriber),
    )
    _send(transactional.change_email_mail(row.new_email, _link("/confirm", token)), subscriber_id)
    _send(transactional.email_changed_notice(subscriber.email), subscriber_id)


def _lift(id: str) -> None:
    row = token_store.find(id, model.LIFT)
    if not row or not row.new_email:
        return
    if not _unwanted(row.new_email):
        token_store.forget(row)  # no such wish is kept, so there is nothing to lift and nobody to write to
        return
    token = tokens.issue(id)
    tables.transact(token_store.issue_write(id, model.LIFT, token, clock.parse(row.until)))
    _send(transactional.lift_mail(row.new_email, _link("/resume", token)), id)


_LETTERS: dict[str, Callable[[str], None]] = {
    model.CONFIRM: _confirm,
    model.MAGIC_LINK: _magic_link,
    model.CHANGE_EMAIL: _change_email,
    model.LIFT: _lift,
}


def _unwanted(email: str) -> bool:
    return suppressions.is_suppressed(model.address_pseudonym(addresses.key(email)))


def _within_limits(email: str) -> bool:
    """Confirmations go to addresses anybody can type: neither one stranger nor the whole world may be flooded."""
    if not limits.allows(_TO_ONE, addresses.key(email), _MAILS_TO_ONE_ADDRESS, _HOUR):
        return False
    if limits.allows(_TO_ALL, "all", settings.current().mails_per_hour, _HOUR):
        return True
    _alarm()
    return False


def _give_back(email: str) -> None:
    """While SES is away the queue comes again, up to five times: that must not look like a flood."""
    limits.give_back(_TO_ONE, addresses.key(email), _HOUR)
    limits.give_back(_TO_ALL, "all", _HOUR)


def _alarm() -> None:
    log.metric("ConfirmationBreaker")
    if limits.allows("breaker notice", "all", 1, _HOUR):
        notices.notify_admin(
            "Confirmation emails are being held back",
            "More people signed up within an hour than MAILS_PER_HOUR allows, so no more confirmation emails are "
            "sent until the hour is over.\n\nIf someone is abusing the form, you need not do anything. If your site "
            "is simply popular today, raise MAILS_PER_HOUR.",
        )


def _send(message: Message, subscriber_id: str) -> None:
    try:
        sender.send(message)
    except Rejected:
        log.warning("letter.rejected", subscriber_id=subscriber_id)


def _link(path: str, token: tokens.Token) -> str:
    return settings.current().url(f"{path}?{urlencode({'token': str(token)})}")

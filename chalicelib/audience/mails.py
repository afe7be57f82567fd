"""The mails a person gets because of something they did, sent by the queue's worker.

A mailed link's secret is created here and nowhere else: no queue ever holds one, or an address. When a mail cannot
be sent now, this raises and the queue delivers its message again; each attempt issues a new link and ends the one
before.

No mail repeats what a visitor typed: a form that mails its visitors' words to any address is a tool for spammers.
"""

from collections.abc import Callable
from urllib.parse import urlencode

from chalicelib.audience import model, opt_outs
from chalicelib.audience.model import Request, Subscriber
from chalicelib.audience.stores import captures, subscribers, suppressions
from chalicelib.audience.stores import tokens as token_store
from chalicelib.kernel import addresses, clock, limits, log, settings, tokens
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail import notices, sender
from chalicelib.mail.failures import Rejected
from chalicelib.mail.message import Message
from chalicelib.mail.templates import automatic_message

_MAILS_TO_ONE_ADDRESS = 5
_TO_ONE, _TO_ALL = "confirmations to one", "confirmations"
_HOUR = 3600


def send(kind: str, subscriber_id: str) -> None:
    """One message of the audience queue. Sends nothing when there is no reason for the mail any more."""
    try:
        _SENDERS[kind](subscriber_id)
    except Stale:
        # Confirmed, erased or changed between reading and writing: nobody needs this mail now.
        log.info("mail.overtaken", subscriber_id=subscriber_id)


def confirm_mail(to: str, link: str) -> Message:
    """Asks the owner of an address whether they signed up."""
    return automatic_message(to, "confirm", link=link, never_link=_never_link(to))


def add_mail(to: str, link: str) -> Message:
    """Asks somebody who is a reader already whether to add a further source or further tags."""
    return automatic_message(to, "add", link=link, never_link=_never_link(to))


def magic_link_mail(to: str, link: str) -> Message:
    """Opens a person's own profile."""
    return automatic_message(to, "magic_link", link=link)


def change_email_mail(to: str, link: str) -> Message:
    """Goes to the new address, which replaces the old one only when its owner agrees."""
    return automatic_message(to, "change_email", link=link)


def email_changed_notice(to: str) -> Message:
    """Goes to the old address, whose owner may not know about the change."""
    return automatic_message(to, "email_changed")


def lift_mail(to: str, link: str) -> Message:
    """To somebody on the do-not-contact list who asks to be taken off it."""
    return automatic_message(to, "lift", link=link)


def _send_confirmation(subscriber_id: str) -> None:
    """For the newest request that waits: a newer link replaces the older one."""
    subscriber = subscribers.find(subscriber_id)
    request = newest_request(subscriber) if subscriber else None
    if not subscriber or not request:
        return
    if _is_suppressed(subscriber.email) or not _within_limits(subscriber.email):
        return
    until = clock.now() + model.CONFIRMATION_LIFE
    token = tokens.issue(subscriber.id)
    renewal = (
        [subscribers.check_present_write(subscriber)]
        if subscriber.activated
        else subscribers.extend_writes(subscriber, until)
    )
    tables.transact(
        token_store.issue_confirmation_write(subscriber, request, token, until),
        captures.extend_write(subscriber.id, request, until),
        *renewal,
    )
    make = add_mail if subscriber.activated else confirm_mail
    try:
        _send(make(subscriber.email, _link("/confirm", token)), subscriber_id)
    except Unavailable:
        _give_back(subscriber.email)
        raise


def newest_request(subscriber: Subscriber) -> Request | None:
    """What a confirmation would be mailed for."""
    requests = captures.list_requests(subscriber.id, clock.now())
    return next((found for found in requests if subscriber.lacks(found.capture)), None)


def _send_magic_link(subscriber_id: str) -> None:
    subscriber = subscribers.find(subscriber_id)
    if not subscriber or not subscriber.activated:
        return
    token = tokens.issue(subscriber.id)
    until = clock.now() + model.MAGIC_LINK_LIFE
    tables.transact(
        token_store.issue_write(subscriber.id, model.MAGIC_LINK, token, until),
        subscribers.check_same_address_write(subscriber),
    )
    _send(magic_link_mail(subscriber.email, _link("/profile", token)), subscriber_id)


def _send_change_email(subscriber_id: str) -> None:
    """Asks the new address and informs the old one."""
    subscriber, found = subscribers.find_with_tokens(subscriber_id, model.CHANGE_EMAIL)
    row = found.get(model.CHANGE_EMAIL)
    if not subscriber or not row or not row.new_email or _is_suppressed(row.new_email):
        return
    token = tokens.issue(subscriber.id)
    tables.transact(
        token_store.issue_write(subscriber.id, model.CHANGE_EMAIL, token, clock.parse(row.until)),
        subscribers.check_present_write(subscriber),
    )
    _send(change_email_mail(row.new_email, _link("/confirm", token)), subscriber_id)
    _send(email_changed_notice(subscriber.email), subscriber_id)


def _send_lift(id: str) -> None:
    row = token_store.find(id, model.LIFT)
    if not row or not row.new_email:
        return
    if not _is_suppressed(row.new_email):
        token_store.forget(row)  # not on the list: nothing to lift, and nobody to write to
        return
    token = tokens.issue(id)
    tables.transact(token_store.issue_write(id, model.LIFT, token, clock.parse(row.until)))
    _send(lift_mail(row.new_email, _link("/resume", token)), id)


_SENDERS: dict[str, Callable[[str], None]] = {
    model.CONFIRM: _send_confirmation,
    model.MAGIC_LINK: _send_magic_link,
    model.CHANGE_EMAIL: _send_change_email,
    model.LIFT: _send_lift,
}


def _is_suppressed(email: str) -> bool:
    return suppressions.is_suppressed(model.address_pseudonym(addresses.key(email)))


def _within_limits(email: str) -> bool:
    """Anybody can type any address into the form: limit the confirmations to one address and to all together."""
    if not limits.allows(_TO_ONE, addresses.key(email), _MAILS_TO_ONE_ADDRESS, _HOUR):
        return False
    if limits.allows(_TO_ALL, "all", settings.current().mails_per_hour, _HOUR):
        return True
    _report_flood()
    return False


def check_limits(email: str) -> None:
    """Raise `TooMany` if a confirmation to this address would not be sent now."""
    if limits.count(_TO_ONE, addresses.key(email), _HOUR) >= _MAILS_TO_ONE_ADDRESS:
        raise limits.too_many(f"At most {_MAILS_TO_ONE_ADDRESS} confirmation emails an hour to one address", _HOUR)


def _give_back(email: str) -> None:
    """The queue retries up to five times while SES does not answer: those attempts must not count as a flood."""
    limits.give_back(_TO_ONE, addresses.key(email), _HOUR)
    limits.give_back(_TO_ALL, "all", _HOUR)


def _report_flood() -> None:
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
        log.warning("mail.rejected", subscriber_id=subscriber_id)


def _never_link(to: str) -> str:
    """For people who never signed up: it needs no row, so it works as long as the mail exists."""
    return settings.current().url(f"/never?{urlencode({'token': opt_outs.make_token(addresses.key(to))})}")


def _link(path: str, token: tokens.Token) -> str:
    return settings.current().url(f"{path}?{urlencode({'token': str(token)})}")

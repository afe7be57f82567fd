"""The mails a person gets because of something they did, sent by the queue's worker.

A mailed link's secret is created here and nowhere else: no queue ever holds one, or an address. When a mail cannot
be sent now, this raises and the queue delivers its message again; each attempt issues a new link and ends the one
before.

No mail repeats what a visitor typed: a form that mails its visitors' words to any address is a tool for spammers.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from chalicelib.audience import held, model, opt_outs, welcomes
from chalicelib.audience.model import Request, Subscriber
from chalicelib.audience.stores import captures, subscribers, suppressions
from chalicelib.audience.stores import held as held_store
from chalicelib.audience.stores import tokens as token_store
from chalicelib.kernel import addresses, clock, limits, log, settings, tokens
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.mail import sender
from chalicelib.mail.failures import Rejected
from chalicelib.mail.message import Message
from chalicelib.mail.templates import automatic_message

_MAILS_TO_ONE_ADDRESS = 5
_TO_ONE = "confirmations to one"
_HOUR = 3600


def send(kind: str, subscriber_id: str) -> None:
    """One message of the audience queue. Sends nothing when there is no reason for the mail any more."""
    with _unless_overtaken(subscriber_id):
        _SENDERS[kind](subscriber_id)


def confirm(subscriber_id: str, network: str | None) -> None:
    """The confirmation of a sign-up that came from this network (its pseudonym)."""
    with _unless_overtaken(subscriber_id):
        _send_confirmation(subscriber_id, network)


def confirm_mail(to: str, link: str, lang: str | None = None) -> Message:
    """Asks the owner of an address whether they signed up, in the language of the form."""
    return automatic_message(to, "confirm", lang, link=link, never_link=_never_link(to, lang))


def add_mail(to: str, link: str, lang: str | None = None) -> Message:
    """Asks somebody who is a reader already whether to add a further source or further tags."""
    return automatic_message(to, "add", lang, link=link, never_link=_never_link(to, lang))


def magic_link_mail(to: str, link: str) -> Message:
    """Opens a person's own profile."""
    return automatic_message(to, "magic_link", link=link)


def change_email_mail(to: str, link: str) -> Message:
    """Goes to the new address, which replaces the old one only when its owner agrees."""
    return automatic_message(to, "change_email", link=link, never_link=_never_link(to))


def email_changed_notice(to: str) -> Message:
    """Goes to the old address, whose owner may not know about the change."""
    return automatic_message(to, "email_changed")


def lift_mail(to: str, link: str) -> Message:
    """To somebody on the do-not-contact list who asks to be taken off it."""
    return automatic_message(to, "lift", link=link)


@contextmanager
def _unless_overtaken(subscriber_id: str) -> Iterator[None]:
    try:
        yield
    except Stale:
        # Confirmed, erased or changed between reading and writing: nobody needs this mail now.
        log.info("mail.overtaken", subscriber_id=subscriber_id)


def _send_confirmation(subscriber_id: str, network: str | None = None) -> None:
    """For the newest request that waits: a newer link replaces the older one. Whoever is held, and may be mailed now,
    is not held any more."""
    held_row = held_store.find(subscriber_id)  # first: what is held from here on is not mailed by this
    subscriber = subscribers.find(subscriber_id)
    requests = captures.list_requests(subscriber_id, clock.now())
    request = _newest(subscriber, requests)
    if not subscriber or not request:
        return
    if not _spend_one(subscriber.email):
        if held_row:
            held.hold(subscriber, request, network)
    elif not held.admit(subscriber, request, network):
        _give_back_one(subscriber.email)
    else:
        ending = held_store.end_write(held_row) if held_row else held_store.check_not_held_write(subscriber_id)
        _mail_confirmation(subscriber, request, requests, network, [ending])


def _send_held(subscriber_id: str) -> None:
    """What was held, once the limits allow it. The claim lets one worker send it; it stays held until it is sent."""
    row = held_store.find(subscriber_id)
    if not row or row.is_claimed(clock.now()):
        return
    subscriber = subscribers.find(subscriber_id)
    requests = captures.list_requests(subscriber_id, clock.now())
    request = _newest(subscriber, requests)
    if not subscriber or not request:
        held.drop(row, subscriber, requests)
        return
    if not _spend_one(subscriber.email):
        return
    if not held.admit_held(row.network):
        _give_back_one(subscriber.email)
        return
    try:
        claim = held_store.claim_write(row, clock.now())
        _mail_confirmation(subscriber, request, requests, row.network, [claim])
    except Stale:
        raise  # the claim is another worker's
    except Exception:
        held_store.return_claim(row)
        raise
    held_store.settle(row)


def _newest(subscriber: Subscriber | None, requests: list[Request]) -> Request | None:
    """What there is to confirm, if they may be written to."""
    if not subscriber or _is_suppressed(subscriber.email):
        return None
    return newest_request(subscriber, requests)


def _mail_confirmation(
    subscriber: Subscriber, request: Request, requests: list[Request], network: str | None, also: list[Write]
) -> None:
    """The lifetime of the request begins with its mail; so does that of others that were held with it."""
    until = clock.now() + model.CONFIRMATION_LIFE
    token = tokens.issue(subscriber.id)
    begun = [found for found in requests if found.is_held or found.id == request.id]
    make = add_mail if subscriber.gets_campaigns else confirm_mail
    try:
        tables.transact(
            token_store.issue_confirmation_write(subscriber, request, token, until),
            *(captures.extend_write(subscriber.id, found, until) for found in begun),
            *subscribers.await_mail_writes(subscriber, until),
            *also,
        )
        _send(make(subscriber.email, _link("/confirm", token, request.lang), request.lang), subscriber.id)
    except Exception:
        # The queue retries up to five times while SES does not answer: those attempts must not count as a flood.
        _give_back_one(subscriber.email)
        held.give_back(network)
        raise


def newest_request(subscriber: Subscriber, requests: list[Request]) -> Request | None:
    """What a confirmation would be mailed for, of what can still be confirmed."""
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
        token_store.issue_requested_write(row, token),
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
    tables.transact(token_store.issue_requested_write(row, token))
    _send(lift_mail(row.new_email, _link("/resume", token)), id)


_SENDERS: dict[str, Callable[[str], None]] = {
    model.CONFIRM: _send_confirmation,
    model.HELD: _send_held,
    model.MAGIC_LINK: _send_magic_link,
    model.CHANGE_EMAIL: _send_change_email,
    model.LIFT: _send_lift,
    model.WELCOME: welcomes.send,
}


def _is_suppressed(email: str) -> bool:
    return suppressions.is_suppressed(model.address_pseudonym(addresses.key(email)))


def _spend_one(email: str) -> bool:
    """Anybody can type any address into the form: limit the confirmations to one address. Beyond that they are
    dropped, for there are five in that mailbox already."""
    return limits.allows(_TO_ONE, addresses.key(email), _MAILS_TO_ONE_ADDRESS, _HOUR)


def _give_back_one(email: str) -> None:
    limits.give_back(_TO_ONE, addresses.key(email), _HOUR)


def check_limits(email: str) -> None:
    """Raise `TooMany` if a confirmation to this address would not be sent now."""
    if limits.count(_TO_ONE, addresses.key(email), _HOUR) >= _MAILS_TO_ONE_ADDRESS:
        raise limits.too_many(f"At most {_MAILS_TO_ONE_ADDRESS} confirmation emails an hour to one address", _HOUR)


def _send(message: Message, subscriber_id: str) -> None:
    try:
        sender.send(message)
    except Rejected:
        log.warning("mail.rejected", subscriber_id=subscriber_id)


def _never_link(to: str, lang: str | None = None) -> str:
    """For people whose address others typed in: it needs no row, so it works as long as the mail exists."""
    return _url("/never", opt_outs.make_token(addresses.key(to)), lang)


def _link(path: str, token: tokens.Token, lang: str | None = None) -> str:
    return _url(path, str(token), lang)


def _url(path: str, token: str, lang: str | None) -> str:
    """What a link opens speaks the language of the mail."""
    return settings.current().url(f"{path}?{urlencode({'token': token} | ({'lang': lang} if lang else {}))}")

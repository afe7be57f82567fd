"""The welcome mail: once, after the first confirmation, if the publication wants one.

The transaction that confirms also marks that it is owed; whoever takes the mark sends it. If a worker dies with the
mark in its hand the mail is not sent, because a second one would be worse. What it says is made by another room,
which may import this one but not the other way round: `app.py` names it to `welcome_writer`.
"""

from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from chalicelib.audience import held, model, welcome_writer
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import subscribers, suppressions
from chalicelib.audience.stores import tokens as token_store
from chalicelib.audience.stores.tokens import TokenRow
from chalicelib.kernel import addresses, clock, log, publication
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail import sender
from chalicelib.mail.failures import Rejected

if TYPE_CHECKING:
    from datetime import datetime

    from chalicelib.kernel.aws.tables import Write
    from chalicelib.mail.message import Message

# When the limits of the hour are used up, or a message was lost, it is tried again by the hour, and for a day.
_AGAIN, _LIFE = timedelta(minutes=30), timedelta(days=1)


class Writer(Protocol):
    def make(self, to: str, nickname: str | None, token: str) -> "Message":
        """The mail for one reader; `token` is that of their link to unsubscribe."""


def owe_writes(subscriber: Subscriber, now: "datetime") -> "list[Write]":
    """For the transaction of somebody's first confirmation. Who was imported has been a reader elsewhere."""
    if subscriber.activated or subscriber.import_id or not publication.current().welcome.on:
        return []
    return [token_store.owe_write(subscriber.id, model.WELCOME, now + _AGAIN, now + _LIFE)]


def send_soon(subscriber_id: str) -> None:
    """After that transaction. If it is lost, the clean-up makes up for it."""
    try:
        queues.send("audience", {"kind": model.WELCOME, "subscriber_id": subscriber_id})
    except Unavailable:
        log.warning("welcome.not_hurried", subscriber_id=subscriber_id)


def send(subscriber_id: str) -> None:
    """From the queue. Nothing happens if it was sent, or if they have left, paused or asked for no mail meanwhile."""
    row = token_store.find(subscriber_id, model.WELCOME)
    if not row or row.used_at:
        return
    subscriber = subscribers.find(subscriber_id)
    if not subscriber or not _wants(subscriber):
        token_store.forget(row)
    elif not held.is_used_up():
        _send(row, subscriber)


def send_forgotten(row: TokenRow) -> bool:
    """For the clean-up: its time has come again. False if it is over."""
    if row.kind != model.WELCOME or row.used_at or row.expires_at <= clock.epoch(clock.now()):
        return False
    queues.send("audience", {"kind": model.WELCOME, "subscriber_id": row.subscriber_id})
    return True


def _wants(subscriber: Subscriber) -> bool:
    pseudonym = model.address_pseudonym(addresses.key(subscriber.email))
    is_on = publication.current().welcome.on
    return is_on and subscriber.gets_campaigns and not suppressions.is_suppressed(pseudonym)


def _send(row: TokenRow, subscriber: Subscriber) -> None:
    """The mail is made before the mark is taken: what cannot be made now is tried again."""
    writer: Writer = import_module(f"chalicelib.{welcome_writer.name()}")
    message = writer.make(subscriber.email, subscriber.nickname, subscriber.unsubscribe_token)
    if not token_store.take(row, clock.now()):
        return
    if not held.admit_held(None):
        token_store.put_back(row)
        return
    try:
        sender.send(message)
    except Rejected:
        log.warning("mail.rejected", subscriber_id=subscriber.id)
    except Exception:
        held.give_back(None)
        token_store.put_back(row)
        raise
    token_store.forget(row)

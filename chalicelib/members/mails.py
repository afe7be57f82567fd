"""The mails a member gets because of something they, or somebody else with their address, did; sent by the queue's
worker.

A mailed link's secret is created here and nowhere else: no queue ever holds one, or an address. When a mail cannot
be sent now, this raises and the queue delivers its message again; each attempt issues a new link and ends the one
before.

Whoever has not verified their address may be anybody: a stranger may have typed it. So mails to them are limited
(`mail_limits`), and none goes to somebody who has asked never to be mailed. Mails to those who have are what they
asked for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from chalicelib.audience import opt_outs
from chalicelib.audience import service as audience
from chalicelib.kernel import addresses, clock, log, settings, tokens
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.mail import sender
from chalicelib.mail.failures import Rejected
from chalicelib.mail.message import Message
from chalicelib.mail.templates import automatic_message
from chalicelib.members import mail_limits, messages, model
from chalicelib.members.model import Member
from chalicelib.members.stores import members
from chalicelib.members.stores import tokens as token_store

# The longest a queue can delay a message.
_RETRY_SECONDS = 900
_LIVES = {model.VERIFY: model.VERIFY_LIFE, model.RESET: model.RESET_LIFE}


def send(kind: str, member_id: str, network: str | None = None) -> None:
    """The link to verify an address, or to reset a password. Sends nothing if there is no reason for it any more."""
    member = members.find(member_id)
    if not member or (kind == model.VERIFY and member.verified) or settings.current().members == "off":
        return
    with _unless_overtaken(member_id):
        if member.verified:
            _mail_link(kind, member)
        else:
            _mail_stranger(kind, member, network)


def send_invitation(invitation_id: str) -> None:
    """It works as long as the invitation does, whenever it is mailed."""
    row = token_store.find_invitation(invitation_id)
    if not row or settings.current().members == "off":
        return
    invitation = token_store.invitation_of(row)
    if invitation.expires_at <= clock.now() or audience.is_suppressed(invitation.address_key):
        return
    token = tokens.issue(invitation.id)
    with _unless_overtaken(invitation_id):
        tables.transact(token_store.issue_invitation_write(invitation.id, token))
        _send(invite_mail(invitation.email, _link("/join", "invitation", token)), invitation.id)


def verify_mail(to: str, link: str) -> Message:
    """Asks the owner of an address whether the account is theirs."""
    days = model.UNVERIFIED_LIFE.days
    return automatic_message(to, "member_verify", link=link, never_link=_never_link(to), days=days)


def reset_mail(to: str, link: str, is_verified: bool = True) -> Message:
    """Lets the owner of an address choose a new password. Who never verified it can have no more of these."""
    return automatic_message(to, "member_reset", link=link, never_link="" if is_verified else _never_link(to))


def invite_mail(to: str, link: str) -> Message:
    """By an editor: asks somebody to join."""
    return automatic_message(to, "member_invite", link=link, never_link=_never_link(to))


@contextmanager
def _unless_overtaken(id: str) -> Iterator[None]:
    try:
        yield
    except Stale:
        # Verified, left or withdrawn between reading and writing: nobody needs this mail now.
        log.info("mail.overtaken", id=id)


def _mail_stranger(kind: str, member: Member, network: str | None) -> None:
    """Beyond this hour's limits the message waits in the queue, as often as it takes."""
    if audience.is_suppressed(member.address_key):
        return
    concerned = mail_limits.concerning(kind, member, network)
    if not mail_limits.take(concerned):
        messages.mail_link(kind, member.id, network, _RETRY_SECONDS)
        return
    try:
        _mail_link(kind, member)
    except Exception:
        # The queue retries while SES does not answer: those attempts must not count as a flood.
        mail_limits.give_back(concerned)
        raise


def _mail_link(kind: str, member: Member) -> None:
    token = tokens.issue(member.id)
    until = clock.now() + _LIVES[kind]
    tables.transact(token_store.issue_write(member.id, kind, token, until), members.check_same_write(member))
    if kind == model.VERIFY:
        message = verify_mail(member.email, _link("/verify", "token", token))
    else:
        message = reset_mail(member.email, _link("/reset", "token", token), member.verified)
    _send(message, member.id)


def _send(message: Message, id: str) -> None:
    try:
        sender.send(message)
    except Rejected:
        log.warning("mail.rejected", id=id)


def _never_link(to: str) -> str:
    """For people whose address others typed in: it needs no row, so it works as long as the mail exists."""
    return settings.current().url(f"/never?{urlencode({'token': opt_outs.make_token(addresses.key(to))})}")


def _link(path: str, name: str, token: tokens.Token) -> str:
    return settings.current().url(f"{path}?{urlencode({name: str(token)})}")

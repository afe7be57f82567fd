"""Invitations: an editor asks somebody to join. The mailed link works once, for that address, for seven days."""

from datetime import datetime

from chalicelib.audience import service as audience
from chalicelib.kernel import clock, ids, settings, tokens
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Conflict, NotFound, Refused
from chalicelib.members import messages, model
from chalicelib.members.model import Invitation
from chalicelib.members.stores import emails
from chalicelib.members.stores import tokens as token_store
from chalicelib.members.stores.tokens import TokenRow

_MEMBERS_ARE_OFF = "There are no members: set MEMBERS to invite or open first"
_DO_NOT_CONTACT = "This address is on the do-not-contact list"


def invite(email: str | None) -> Invitation:
    """Has the invitation mailed. It replaces the ones this address got before."""
    if settings.current().members == "off":
        raise Conflict(_MEMBERS_ARE_OFF)
    address = model.parse_email(email)
    if emails.find_owner(address.key):
        raise Conflict(model.TAKEN)
    if audience.is_suppressed(address.key):
        raise Conflict(_DO_NOT_CONTACT)
    now = clock.now()
    invitation = Invitation(ids.new(), address.typed, _in_seconds(now + model.INVITATION_LIFE))
    tables.transact(token_store.invite_write(invitation), *end_writes(address.key, now))
    messages.mail_invitation(invitation.id)
    return invitation


def list_open() -> list[Invitation]:
    """Newest first."""
    return token_store.list_invitations(clock.now())


def withdraw(invitation_id: str) -> None:
    if not ids.is_id(invitation_id) or not token_store.withdraw(invitation_id):
        raise NotFound(model.NO_INVITATION)


def find(text: str | None) -> Invitation | None:
    """What a mailed link invites to, as long as it can be accepted. Looking does not use it up."""
    row = _find(text)
    return token_store.invitation_of(row) if row else None


def check(text: str | None, address: Address) -> None:
    """Whether they may join, with this or without any invitation."""
    _find_for(text, address)


def accept_writes(text: str | None, address: Address) -> list[Write]:
    """What uses up the invitation, with any other to the same address; nothing if there is none."""
    row = _find_for(text, address)
    if not row:
        return []
    return [token_store.consume_write(row), *end_writes(address.key, clock.now(), except_id=row.kind)]


def end_writes(address_key: str, now: datetime, except_id: str = "") -> list[Write]:
    """All open invitations to this address end."""
    return [
        token_store.withdraw_write(invitation.id)
        for invitation in token_store.list_invitations(now)
        if invitation.address_key == address_key and invitation.id != except_id
    ]


def _find_for(text: str | None, address: Address) -> TokenRow | None:
    """An invitation to another address is none: what it proves is that somebody has that one."""
    row = _find(text)
    if row and token_store.invitation_of(row).address_key == address.key:
        return row
    if settings.current().members == "invite":
        raise Refused(model.NOT_INVITED)
    return None


def _find(text: str | None) -> TokenRow | None:
    token = tokens.parse(text or "")
    row = token_store.find_invitation(token.id) if token else None
    return row if token and row and row.accepts(token, clock.now()) else None


def _in_seconds(moment: datetime) -> datetime:
    """What is answered in whole seconds is stored so, too."""
    return moment.replace(microsecond=0)

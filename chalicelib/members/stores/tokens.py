"""The tokens of mailed links, one of a kind for each member, and invitations: what is stored of them."""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Put, Update, Write
from chalicelib.kernel.tokens import Token
from chalicelib.members.model import RESET, VERIFY, Invitation, Member
from chalicelib.members.stores.members import MemberRow, member_of

_INVITATION = "invitation"
_LINKS = (VERIFY, RESET)


class TokenRow(tables.Row):
    """`owner` is a member's id and `kind` what the link does. All invitations have one owner, and their id as `kind`:
    who is invited has no id yet. `hash` is absent until the mail is being sent."""

    class Meta:
        table_name = tables.name("member-tokens")

    owner = UnicodeAttribute(hash_key=True)
    kind = UnicodeAttribute(range_key=True)
    hash = UnicodeAttribute(null=True)
    until = UnicodeAttribute()
    email = UnicodeAttribute(null=True)
    expires_at = NumberAttribute()

    def accepts(self, token: Token, now: datetime) -> bool:
        return self.hash is not None and token.matches(self.hash) and clock.parse(self.until) > now


def find_with_member(token: Token, kind: str) -> tuple[Member | None, TokenRow | None]:
    member, row = tables.get_together((MemberRow, token.id, None), (TokenRow, token.id, kind))
    return member_of(member), row


def find_invitation(invitation_id: str) -> TokenRow | None:
    return tables.get(TokenRow, _INVITATION, invitation_id)


def list_invitations(now: datetime) -> list[Invitation]:
    """Those that can still be accepted, newest first."""
    rows = tables.query(TokenRow, _INVITATION, consistent_read=True, scan_index_forward=False)
    return [invitation_of(row) for row in rows if clock.parse(row.until) > now]


def list_expired(now: datetime) -> Iterator[TokenRow]:
    yield from tables.scan(TokenRow, filter_condition=TokenRow.until <= clock.text(now), consistent_read=True)


def forget(row: TokenRow) -> None:
    """Delete an expired token, unless a new one has taken its place."""
    try:
        tables.delete(TokenRow(row.owner, row.kind), TokenRow.until == row.until)
    except Stale:
        return


def issue_write(member_id: str, kind: str, token: Token, until: datetime) -> Write:
    """Replaces the link of this kind that was mailed before."""
    row = TokenRow(member_id, kind, hash=token.hash, until=clock.text(until), expires_at=clock.epoch(until))
    return Put(row)


def consume_write(row: TokenRow) -> Write:
    """Once: only while it is the link that was read."""
    return Delete(TokenRow(row.owner, row.kind), TokenRow.hash == row.hash)


def end_write(member_id: str, kind: str) -> Write:
    return Delete(TokenRow(member_id, kind))


def end_all_writes(member_id: str) -> list[Write]:
    return [end_write(member_id, kind) for kind in _LINKS]


def invite_write(invitation: Invitation) -> Write:
    row = TokenRow(
        _INVITATION,
        invitation.id,
        email=invitation.email,
        until=clock.text(invitation.expires_at),
        expires_at=clock.epoch(invitation.expires_at),
    )
    return Put(row, TokenRow.owner.does_not_exist())


def issue_invitation_write(invitation_id: str, token: Token) -> Write:
    """Only while it is open: one that was accepted or withdrawn is gone."""
    return Update(TokenRow(_INVITATION, invitation_id), [TokenRow.hash.set(token.hash)], TokenRow.email.exists())


def withdraw_write(invitation_id: str) -> Write:
    return Delete(TokenRow(_INVITATION, invitation_id))


def withdraw(invitation_id: str) -> bool:
    """False if there is none."""
    try:
        tables.delete(TokenRow(_INVITATION, invitation_id), TokenRow.owner.exists())
    except Stale:
        return False
    return True


def invitation_of(row: TokenRow) -> Invitation:
    assert row.email
    return Invitation(row.kind, row.email, clock.parse(row.until))

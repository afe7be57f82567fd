"""Accounts as JSON. Times are Unix seconds, ids 32 hex digits.

The rules of addresses and passwords are the service's, in its order. Here it is only made sure that what was sent is
text: anything else for an address or a new password is as wrong as none.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from chalicelib.kernel import clock
from chalicelib.members import model
from chalicelib.members.model import Invitation, Member
from chalicelib.web import schemas
from chalicelib.web.paging import PageBody
from chalicelib.web.schemas import Count, EmailAddress, Reads


def _check_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


HexId = Annotated[str, Meta(min_length=32, max_length=32, examples=["0193a5c411f07a6b8c012d3e4f506172"])]
Seconds = Annotated[int, Meta(ge=0, description="Unix seconds", examples=[1794860000])]
Email = Annotated[EmailAddress, Reads(_check_or_none)]
NewPassword = Annotated[
    str,
    Meta(
        min_length=model.LEAST_CHARACTERS,
        max_length=model.MOST_BYTES,
        description="At most 72 bytes, with an uppercase letter, a digit, and a character that is neither",
    ),
    Reads(_check_or_none),
]
Repeated = Annotated[str, Meta(description="The same once more"), Reads(_check_or_none)]
Password = Annotated[str, Reads(schemas.text("password").check)]
LinkToken = Annotated[str, Meta(description="The token from the emailed link"), Reads(schemas.text("token").check)]


class NewAccount(Struct):
    email: Email
    password: NewPassword
    password_confirm: Repeated
    invitation: Annotated[str | None, Meta(description="From the emailed link; needed if `MEMBERS` is `invite`")] = (
        None
    )


class Credentials(Struct):
    email: Email
    password: Password


class PasswordChange(Struct):
    current_password: Annotated[str, Reads(schemas.text("current_password").check)]
    password: NewPassword
    password_confirm: Repeated


class AccountDeletion(Struct):
    password: Password


class Verification(Struct):
    token: LinkToken


class ResetRequest(Struct):
    email: Email


class PasswordReset(Struct):
    token: LinkToken
    password: NewPassword
    password_confirm: Repeated


class InvitationRequest(Struct):
    email: Email


class Account(Struct):
    id: HexId
    email: EmailAddress
    verified: bool
    created_at: Seconds
    last_login_at: Annotated[Seconds | None, Meta(description="Null until the first sign-in")]


class MemberEntry(Account):
    sightings: Count
    shared: Count


class MemberPage(PageBody):
    items: list[MemberEntry]


class OpenInvitation(Struct):
    id: HexId
    email: EmailAddress
    expires_at: Seconds


class OpenInvitations(Struct):
    items: list[OpenInvitation]


class OpenSession(Struct):
    created_at: Seconds
    expires_at: Seconds


class LinkState(Struct):
    """`verified`: there is nothing to send."""

    status: Literal["sent", "verified"]


class AddressVerified(Struct, tag_field="status", tag="verified"):
    pass


class ResetSent(Struct, tag_field="status", tag="sent"):
    pass


class PasswordWasReset(Struct, tag_field="status", tag="reset"):
    pass


def describe_account(member: Member) -> Account:
    return Account(*_account(member))


def describe_entry(member: Member) -> MemberEntry:
    return MemberEntry(*_account(member), member.sightings, member.shared)


def describe_invitation(invitation: Invitation) -> OpenInvitation:
    return OpenInvitation(model.wire_id(invitation.id), invitation.email, clock.epoch(invitation.expires_at))


def _account(member: Member) -> tuple[str, str, bool, int, int | None]:
    last = clock.epoch(member.last_login_at) if member.last_login_at else None
    return member.wire_id, member.email, member.verified, clock.epoch(member.created_at), last

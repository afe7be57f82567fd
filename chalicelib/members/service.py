"""What members do: sign up, sign in and out, prove their address, change or reset their password, leave."""

from msgspec.structs import replace

from chalicelib.kernel import clock, ids, log, tokens
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, Unauthenticated, Unavailable
from chalicelib.members import departures, invitations, messages, model, passwords, request_limits, sessions
from chalicelib.members.model import Member, SignedIn
from chalicelib.members.stores import emails, members
from chalicelib.members.stores import sessions as session_store
from chalicelib.members.stores import tokens as token_store
from chalicelib.members.stores.emails import EmailRow
from chalicelib.members.stores.tokens import TokenRow

# Looked up instead of an address that is none, so that it takes as long; no address has this key.
_NO_ADDRESS = "-"


def sign_up(
    email: str | None,
    password: str | None,
    confirm: str | None,
    invitation: str | None,
    client: str,
    *,
    network: str | None = None,
    presented: str = "",
) -> tuple[Member, str]:
    """The account, and the value of its first session; the one the browser `presented` ends."""
    request_limits.spend_sign_up(client)
    address = model.parse_email(email)
    accepted = model.check_password(password, confirm)
    invitations.check(invitation, address)
    if emails.find_owner(address.key):
        raise Conflict(model.TAKEN)
    password_hash = passwords.make_hash(accepted)
    member, value = retry_stale(lambda: _create(address, password_hash, invitation, presented))
    if not member.verified:
        _mail_verification(member, network)
    return member, value


def sign_in(email: str | None, password: str | None, client: str, *, presented: str = "") -> tuple[Member, str]:
    """The account, and the value of a new session; the one the browser `presented` ends, whose ever it was. Unknown,
    wrong and deleted are the same, in answer and cost; so is an address that is none."""
    if email is None:
        raise Invalid(model.INVALID_EMAIL)
    address = _parse_address(email)
    request_limits.spend_password(client, address.key if address else email.casefold())
    return retry_stale(lambda: _sign_in(address, password or "", presented))


def sign_out(value: str) -> None:
    """By the cookie's value. Without a session there is nothing to do."""
    sessions.end(value)


def find(member_id: str) -> Member | None:
    """None if there is none, or if they have left."""
    return members.find(member_id)


def get(member_id: str) -> Member:
    member = find(member_id)
    if not member:
        raise NotFound(model.NO_MEMBER)
    return member


def change_password(
    signed_in: SignedIn, current: str | None, password: str | None, confirm: str | None, client: str
) -> tuple[Member, str]:
    """Ends every session and a link to reset the old password. Returns the value of a new session in the place of
    this one: whoever has a copy of the old cookie is out."""
    accepted = model.check_password(password, confirm)
    request_limits.spend_password(client, signed_in.member.address_key)
    member = _check_current(signed_in, current)
    password_hash = passwords.make_hash(accepted)
    renewed = replace(member, generation=member.generation + 1)
    value, session = sessions.begin_write(renewed, clock.now())
    try:
        tables.transact(
            members.change_password_write(member, password_hash),
            session_store.replace_write(signed_in.session),
            session,
            token_store.end_write(member.id, model.RESET),
        )
    except Stale:
        # Another change or a reset was first, or this session has ended: what was entered is not current any more.
        raise Unauthenticated(model.NOT_SIGNED_IN) from None
    return renewed, value


def delete(signed_in: SignedIn, password: str | None, client: str) -> None:
    request_limits.spend_password(client, signed_in.member.address_key)
    retry_stale(lambda: departures.leave(_check_current(signed_in, password)))


def close(member_id: str) -> None:
    """By an editor: the same as when the member deletes the account."""
    retry_stale(lambda: departures.leave(get(member_id)))


def close_unverified(member_id: str) -> bool:
    """False if there is none any more, or if its address has been verified."""
    return retry_stale(lambda: _close_unverified(member_id))


def forget_address(address_key: str) -> None:
    """It is never to be mailed again, whoever said so: an account its owner never verified was not theirs, or is not
    wanted any more, and nobody is to invite them. A verified one stays: it is a promise of its own."""
    owner = emails.find_owner(address_key)
    if owner:
        close_unverified(owner)
    ended = invitations.end_writes(address_key, clock.now())
    if ended:
        tables.transact(*ended)


def verify(token: str | None) -> Member:
    """Whose address it is. That may be another than who is signed in: the mail was opened in somebody's browser."""
    return retry_stale(lambda: _verify(token))


def request_verification(member: Member, network: str | None = None) -> bool:
    """Has another link mailed; False if the address is verified already."""
    if member.verified:
        return False
    request_limits.spend_verification(member)
    messages.mail_link(model.VERIFY, member.id, model.network_pseudonym(network))
    return True


def request_reset(email: str | None, client: str, network: str | None = None) -> None:
    """Has a link mailed if there is an account. The caller cannot tell whether there is."""
    address = model.parse_email(email)
    request_limits.spend_reset(client, address.key)
    member_id = emails.find_owner(address.key) or ids.new()
    messages.mail_link(model.RESET, member_id, model.network_pseudonym(network))


def reset(token: str | None, password: str | None, confirm: str | None) -> None:
    """By a mailed link: ends all sessions and all links, and signs nobody in. A password that is refused does not use
    the link up."""
    accepted = model.check_password(password, confirm)
    _open(token, model.RESET)
    password_hash = passwords.make_hash(accepted)
    retry_stale(lambda: _reset(token, password_hash))


def check_link(kind: str, token: str | None) -> bool:
    """Whether a mailed link still works. Looking does not use it up."""
    if kind == model.INVITE:
        return invitations.find(token) is not None
    try:
        _open(token, kind)
    except Unauthenticated:
        return False
    return True


def count_write(member_id: str, sightings: int = 0, shared: int = 0) -> Write:
    """For another room's transaction: there are so many more or fewer. Fails if the member has left."""
    return members.count_write(member_id, sightings, shared)


def _create(address: Address, password_hash: str, invitation: str | None, presented: str) -> tuple[Member, str]:
    now = clock.now()
    accepted = invitations.accept_writes(invitation, address)
    member = Member(ids.new(), address.typed, now, verified_at=now if accepted else None)
    value, session = sessions.begin_write(member, now)
    also = [session, *sessions.end_writes(presented), *accepted]
    try:
        tables.transact(emails.claim_write(member), *members.create_writes(member, password_hash), *also)
    except Stale as stale:
        if any(isinstance(found, EmailRow) for found in stale.found):
            raise Conflict(model.TAKEN) from None
        raise
    return member, value


def _mail_verification(member: Member, network: str | None) -> None:
    """The account is there. Without this mail, they can ask for another."""
    try:
        messages.mail_link(model.VERIFY, member.id, model.network_pseudonym(network))
    except Unavailable:
        log.warning("verification.not_queued", member_id=member.id)


def _parse_address(email: str | None) -> Address | None:
    try:
        return model.parse_email(email)
    except Invalid:
        return None


def _sign_in(address: Address | None, password: str, presented: str) -> tuple[Member, str]:
    owner = emails.find_owner(address.key if address else _NO_ADDRESS) or ids.new()
    member, stored = members.find_with_password(owner)
    if not passwords.matches(password, stored) or not member:
        raise Unauthenticated(model.BAD_SIGN_IN)
    now = clock.now()
    value, session = sessions.begin_write(member, now)
    tables.transact(session, members.sign_in_write(member, now), *sessions.end_writes(presented))
    return replace(member, last_login_at=now), value


def _check_current(signed_in: SignedIn, password: str | None) -> Member:
    """The member as they are now, if this is their password."""
    member, stored = members.find_with_password(signed_in.id)
    if not member or member.generation != signed_in.member.generation:
        raise Unauthenticated(model.NOT_SIGNED_IN)
    if not passwords.matches(password or "", stored):
        raise Unauthenticated(model.WRONG_PASSWORD)
    return member


def _close_unverified(member_id: str) -> bool:
    member = members.find(member_id)
    if not member or member.verified:
        return False
    departures.leave(member)
    return True


def _open(text: str | None, kind: str) -> tuple[Member, TokenRow]:
    token = tokens.parse(text or "")
    if not token:
        raise Unauthenticated(model.BAD_TOKEN)
    member, row = token_store.find_with_member(token, kind)
    if not member or not row or not row.accepts(token, clock.now()):
        raise Unauthenticated(model.BAD_TOKEN)
    return member, row


def _verify(text: str | None) -> Member:
    member, row = _open(text, model.VERIFY)
    tables.transact(members.verify_write(member, clock.now()), token_store.consume_write(row))
    return member


def _reset(text: str | None, password_hash: str) -> None:
    member, row = _open(text, model.RESET)
    tables.transact(
        members.reset_password_write(member, password_hash, clock.now()),
        token_store.consume_write(row),
        token_store.end_write(member.id, model.VERIFY),
    )

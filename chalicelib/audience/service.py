"""What readers can do: subscribe, confirm, see and change their profile, unsubscribe, opt out for good."""

from datetime import datetime

from chalicelib.audience import (
    confirmations,
    erasure,
    model,
    opt_outs,
    pausing,
    personal_data,
    request_limits,
    welcomes,
)
from chalicelib.audience.model import Profile, SignUp, StoredCapture, Subscriber
from chalicelib.audience.stores import captures, emails, subscribers, suppressions
from chalicelib.audience.stores import held as held_store
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.audience.stores import tokens as token_store
from chalicelib.audience.stores.emails import EmailRow
from chalicelib.audience.stores.tokens import TokenRow
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import addresses, clock, ids, log, publication, tokens
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import Conflict, Invalid, Unauthenticated
from chalicelib.kernel.tokens import Token
from chalicelib.kernel.wording import for_readers

BAD_LINK = for_readers("This link is no longer valid")
_BAD_TOKEN = for_readers("Invalid or expired token")
_TAKEN = for_readers("Email already registered")


def subscribe(sign_up: SignUp, client: str, network: str | None) -> None:
    """Store the sign-up for the worker. Whether the address is new, pending or active is not looked up here, so
    neither the answer nor the time it takes can reveal it."""
    request_limits.spend_sign_up(client)
    pseudonym = sign_up_store.add(sign_up, network and model.network_pseudonym(network), clock.now())
    queues.send("audience", {"kind": model.SIGN_UP, "pseudonym": pseudonym})


def confirm(text: str) -> str:
    """Act on a mailed confirmation link. Returns what it did: `CONFIRM`, `ADD` or `CHANGE_EMAIL`."""
    token = tokens.parse(text)
    if not token:
        raise Invalid(BAD_LINK)
    return retry_stale(lambda: _confirm(token))


def request_link(address: Address, client: str) -> None:
    """Have a magic link mailed if the address is subscribed. The caller cannot tell whether it is."""
    request_limits.spend_profile_link(client, address)
    subscriber_id = emails.find_owner(address.key, clock.now()) or ids.new()
    queues.send("audience", {"kind": model.MAGIC_LINK, "subscriber_id": subscriber_id})


def open_profile(text: str) -> Profile:
    """What a magic link shows. Looking does not use it up."""
    profile, _ = _open(text)
    return profile


def update_profile(
    text: str, nickname: str | None, address: Address | None, client: str, renew: bool = False
) -> Token | None:
    """Use up the magic link for a change; an empty nickname removes the stored one, and a new address waits to be
    confirmed. If asked to, issues a fresh link of the same expiry, and returns it."""
    nickname = nickname and model.check_nickname(nickname)
    profile, row = _open(text)
    fresh = tokens.issue(profile.subscriber.id) if renew else None
    moves = address is not None and address.key != addresses.key(profile.subscriber.email)
    if address and moves:
        request_limits.spend_address_change(client, profile.subscriber, row.until, address)
    retry_stale(lambda: _update(text, nickname, address, fresh))
    if moves:
        queues.send("audience", {"kind": model.CHANGE_EMAIL, "subscriber_id": profile.subscriber.id})
    return fresh


def unsubscribe(text: str) -> None:
    """Erase the person this link belongs to. Somebody who is gone already counts as erased; a text that is no link,
    or has the wrong secret, is refused."""
    token = tokens.parse(text)
    if not token:
        raise Invalid(BAD_LINK)
    retry_stale(lambda: _unsubscribe(token))


def resume(text: str) -> None:
    """By magic link: campaigns again, for somebody who was paused because their mails came back."""
    profile, _ = _open(text)
    pausing.resume(profile.subscriber.id, pausing.BY_PERSON)


def never_again(text: str) -> None:
    """By magic link: erase the person and put their address on the do-not-contact list."""
    profile, _ = _open(text)
    erasure.suppress(addresses.key(profile.subscriber.email), erasure.BY_PERSON)


def check_opt_out(text: str) -> str:
    """The key of the address a confirmation mail with this link went to. Nothing is looked up."""
    address_key = opt_outs.parse_token(text)
    if not address_key:
        raise Invalid(BAD_LINK)
    return address_key


def opt_out(text: str) -> None:
    """By the link in a confirmation mail, whether they signed up or not: erase whatever is stored about the address
    and put it on the do-not-contact list."""
    erasure.suppress(check_opt_out(text), erasure.BY_PERSON)


def is_suppressed(address_key: str) -> bool:
    """Whether its owner has asked never to be mailed."""
    return suppressions.is_suppressed(model.address_pseudonym(address_key))


def request_lift(address: Address, client: str) -> None:
    """Somebody on the do-not-contact list has changed their mind: mail a link to prove that it is them."""
    request_limits.spend_lift(client, address)
    id = ids.new()
    tables.transact(token_store.request_lift_write(id, address.typed, clock.now() + model.MAGIC_LINK_LIFE))
    queues.send("audience", {"kind": model.LIFT, "subscriber_id": id})


def check_lift(text: str) -> None:
    _find_lift(text)


def lift(text: str) -> None:
    row = _find_lift(text)
    assert row.new_email
    erasure.lift(addresses.key(row.new_email), erasure.BY_PERSON, token_store.consume_write(row))


def describe_person(text: str) -> dict[str, object]:
    """All that is stored about the person who holds this magic link, for them to download."""
    profile, _ = _open(text)
    person = profile.subscriber
    return {
        "id": person.id,
        "email": person.email,
        "nickname": person.nickname,
        "status": person.status,
        "created_at": clock.text(person.created_at),
        "activated_at": clock.text(person.activated_at) if person.activated_at else None,
        "paused_at": clock.text(person.paused_at) if person.paused_at else None,
        "paused_because": person.paused_because,
        "resumed_at": clock.text(person.resumed_at) if person.resumed_at else None,
        "pending_email": profile.pending_email,
        "sources": sorted(person.sources),
        "tags": sorted(person.tags),
        "import_id": person.import_id,
        "captures": captures.describe(person.id),
        "held_confirmation": held_store.describe(person.id),
        **personal_data.about(person.id),
    }


def list_captures(subscriber_id: str) -> list[StoredCapture]:
    """What is stored for each source of a person, with what waits to be confirmed."""
    return captures.list_stored(subscriber_id)


def find_address(subscriber_id: str) -> str | None:
    """None once the person is gone."""
    subscriber = subscribers.find(subscriber_id)
    return subscriber.email if subscriber else None


def _confirm(token: Token) -> str:
    now = clock.now()
    subscriber, found = subscribers.find_with_tokens(token.id, model.CONFIRM, model.CHANGE_EMAIL)
    row = next((row for row in found.values() if row.accepts(token, now)), None)
    if not subscriber or not row:
        raise Invalid(BAD_LINK)
    if not row.used_at:
        if row.kind == model.CONFIRM:
            _confirm_request(subscriber, row, now)
        else:
            _change_email(subscriber, row, now)
        outbox.relay_soon(subscriber.id)
    return model.ADD if row.adds else str(row.kind)


def _update(text: str, nickname: str | None, address: Address | None, fresh: Token | None) -> None:
    profile, row = _open(text)
    subscriber = profile.subscriber
    now = clock.now()
    writes = [token_store.renew_write(row, fresh) if fresh else token_store.consume_write(row)]
    respelled = None
    if address and address.key == addresses.key(subscriber.email):
        respelled = address.typed  # capitals, or another spelling of the domain: mail goes to the same mailbox
    elif address:
        if emails.find_owner(address.key, now) not in (None, subscriber.id):
            raise Conflict(_TAKEN)
        writes.append(token_store.request_change_write(subscriber, address.typed, now + model.CONFIRMATION_LIFE))
    tables.transact(*writes, *subscribers.profile_writes(subscriber, nickname, respelled))


def _unsubscribe(token: Token) -> None:
    subscriber = subscribers.find(token.id)
    if not subscriber:
        return
    if not subscriber.may_unsubscribe_with(token.secret):
        raise Invalid(BAD_LINK)
    erasure.erase(subscriber, EventType.UNSUBSCRIBED, erasure.BY_LINK)
    log.metric("Unsubscribed")


def _confirm_request(subscriber: Subscriber, row: TokenRow, now: datetime) -> None:
    if not confirmations.confirm(subscriber, row, now):
        raise Invalid(BAD_LINK)
    if not subscriber.activated and publication.current().welcome.on:
        welcomes.send_soon(subscriber.id)
    log.metric("Confirmed")


def _change_email(subscriber: Subscriber, row: TokenRow, now: datetime) -> None:
    """Refused if the owner of the new address has asked never to be emailed meanwhile."""
    assert row.new_email
    pseudonym = model.address_pseudonym(addresses.key(row.new_email))
    if suppressions.is_suppressed(pseudonym):
        raise Invalid(BAD_LINK)
    changes = subscribers.change_email_writes(subscriber, row.new_email, now)
    event = outbox.event_write(EventType.EMAIL_CHANGED, subscriber.id, {"subscriber_id": subscriber.id})
    resumed = pausing.event_writes(subscriber, pausing.BY_NEW_ADDRESS)
    allowed = suppressions.check_absent_write(pseudonym)
    try:
        tables.transact(*changes, allowed, token_store.use_write(row, now), event, *resumed)
    except Stale as stale:
        if any(isinstance(found, EmailRow) for found in stale.found):
            raise Conflict(_TAKEN) from stale
        raise


def _open(text: str) -> tuple[Profile, TokenRow]:
    token = tokens.parse(text)
    if not token:
        raise Unauthenticated(_BAD_TOKEN)
    now = clock.now()
    subscriber, found = subscribers.find_with_tokens(token.id, model.MAGIC_LINK, model.CHANGE_EMAIL)
    row = found.get(model.MAGIC_LINK)
    if not subscriber or not subscriber.activated or not row or not row.accepts(token, now):
        raise Unauthenticated(_BAD_TOKEN)
    change = found.get(model.CHANGE_EMAIL)
    waiting = change.new_email if change and not change.used_at and clock.parse(change.until) > now else None
    return Profile(subscriber, waiting), row


def _find_lift(text: str) -> TokenRow:
    token = tokens.parse(text)
    row = token_store.find(token.id, model.LIFT) if token else None
    if not token or not row or not row.accepts(token, clock.now()):
        raise Invalid(BAD_LINK)
    return row

"""The webhook a blog calls when it has published: signed, accepted once, answered before the feed is checked."""

from collections.abc import Mapping

from chalicelib.feeds import signatures, store
from chalicelib.feeds.state import WATCHED, Trigger
from chalicelib.kernel import clock, pseudonyms, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Conflict, Unavailable


def receive(headers: Mapping[str, str], body: bytes) -> None:
    """`Unauthenticated` without a valid signature, `Conflict` for a call that was received before."""
    id = signatures.verify(settings.secret("WEBHOOK_SECRET"), headers, body, clock.now())
    call = pseudonyms.derive("feed webhook", id)
    if not store.record_call(WATCHED, call):
        raise Conflict("This call was already received")
    try:
        queues.send("feed", {"trigger": Trigger.WEBHOOK.value})
    except Unavailable:
        store.forget_call(WATCHED, call)  # so that the caller's next attempt is not taken for a replay
        raise

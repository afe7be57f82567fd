"""A blog that says itself that it has published: a signed call, taken once, answered before the work is done."""

from collections.abc import Mapping

from chalicelib.feeds import signatures, store
from chalicelib.feeds.state import Trigger
from chalicelib.kernel import clock, pseudonyms, settings
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import Conflict, Unavailable


def take(headers: Mapping[str, str], body: bytes) -> None:
    """`Unauthenticated` without a valid signature, `Conflict` for a call that was taken before."""
    id = signatures.verify(settings.secret("WEBHOOK_SECRET"), headers, body, clock.now())
    mark = pseudonyms.derive("feed webhook", id)
    if not store.take_call(mark):
        raise Conflict("This call was already received")
    try:
        queues.send("feed", {"trigger": Trigger.WEBHOOK.value})
    except Unavailable:
        store.give_back_call(mark)  # so that the caller's next try is not a replay
        raise

import msgspec

from chalicelib.admin import openapi
from chalicelib.audience.recipients import Recipient
from chalicelib.bounces import handlers
from chalicelib.bounces.model import Bounce
from chalicelib.bounces.service import KnownBounce
from chalicelib.kernel import clock


def test_a_bounce_is_shown_as_it_is_described() -> None:
    person = Recipient("id", "a@example.org", None, "s")
    shown = handlers._bounce(KnownBounce(Bounce("id", "permanent", clock.now(), "mark"), person))
    assert set(msgspec.to_builtins(shown)) == set(openapi.document()["components"]["schemas"]["Bounce"]["properties"])

import msgspec

from chalicelib.admin import openapi
from chalicelib.audience.recipients import Known
from chalicelib.bounces import handlers
from chalicelib.bounces.model import Bounce
from chalicelib.bounces.service import KnownBounce
from chalicelib.kernel import clock


def test_a_bounce_has_exactly_the_described_fields() -> None:
    nothing: frozenset[str] = frozenset()
    person = Known("id", "a@example.org", None, nothing, nothing, "", None, None, None, "")
    body = handlers._bounce(KnownBounce(Bounce("id", "permanent", clock.now(), "fingerprint"), person))
    assert set(msgspec.to_builtins(body)) == set(openapi.document()["components"]["schemas"]["Bounce"]["properties"])

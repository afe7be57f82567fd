from chalicelib.audience.recipients import Recipient
from chalicelib.bounces import openapi
from chalicelib.bounces.handlers import _shown
from chalicelib.bounces.model import Bounce
from chalicelib.bounces.service import Shown
from chalicelib.kernel import clock


def test_a_bounce_is_shown_as_it_is_described() -> None:
    shown = _shown(Shown(Bounce("id", "permanent", clock.now(), "mark"), Recipient("id", "a@example.org", None, "s")))
    assert list(shown) == list(openapi.SCHEMAS["Bounce"]["properties"])

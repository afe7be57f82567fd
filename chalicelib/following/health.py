"""How a provider as a whole is doing: if most polls of the last minutes failed, no creator is blamed; if it asked us
to wait, nobody asks it until then."""

from datetime import datetime, timedelta

from chalicelib.following.model import CONNECTED, LABELS
from chalicelib.following.providers.contract import Throttled
from chalicelib.following.stores import counters
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock

_WINDOW = timedelta(minutes=15)
# As far back as a creator's first three failures are apart: of the third, its followers are told.
_LOOKS_BACK = 3
_LEAST = 5


def record(provider: Provider, worked: bool, now: datetime) -> bool:
    """Count a poll, and say whether the provider is out of order. The last hour counts: in an outage that goes on,
    few of a few creators are due in each quarter of it."""
    good, bad = counters.count_poll(provider, _name_window(now), worked)
    if worked:
        return False
    before = [_name_window(now - number * _WINDOW) for number in range(1, _LOOKS_BACK + 1)]
    good_before, bad_before = counters.find_polls(provider, before)
    return bad + bad_before >= _LEAST and bad + bad_before > good + good_before


def _name_window(moment: datetime) -> str:
    minutes = int(_WINDOW.total_seconds()) // 60
    return f"{moment.replace(minute=moment.minute - moment.minute % minutes):%Y-%m-%dT%H:%M}"


def check_wait(provider: Provider) -> None:
    """`Throttled` while the provider wants us to wait. A feed's server speaks for itself alone: its creator waits."""
    until = counters.find_wait(provider) if provider in CONNECTED else None
    if until and until > clock.now():
        raise Throttled(f"{LABELS[provider]} asked us to wait", int((until - clock.now()).total_seconds()) + 1)


def note_wait(provider: Provider, seconds: int) -> None:
    if provider in CONNECTED and seconds:
        counters.wait_until(provider, clock.now() + timedelta(seconds=seconds))

"""Scheduled work: taking the text out of sightings that were deleted long enough ago."""

from collections.abc import Callable

from chalicelib.kernel import clock, log
from chalicelib.sightings import store


def clean_up(time_left: Callable[[], bool]) -> None:
    scrubbed = 0
    for key in store.list_due(clock.now()):
        if not time_left():
            break
        scrubbed += store.scrub(key)
    log.info("sightings.cleaned_up", scrubbed=scrubbed)

"""Scheduled work: taking the text out of sightings that were deleted long enough ago, and forgetting old forms."""

from collections.abc import Callable

from chalicelib.kernel import clock, log
from chalicelib.sightings import form_store, store


def clean_up(time_left: Callable[[], bool]) -> None:
    """Each step is complete in itself and may be repeated."""
    now = clock.now()
    scrubbed = forgotten = 0
    for key in store.list_due(now):
        if not time_left():
            break
        scrubbed += store.scrub(key)
    for form in form_store.list_due(now):
        if not time_left():
            break
        forgotten += form_store.forget(form)
    log.info("sightings.cleaned_up", scrubbed=scrubbed, forms=forgotten)

"""Scheduled work: taking the text out of sightings that were deleted long enough ago, forgetting old forms, and
offering to the publication's inbox what was shared when there was none."""

from collections.abc import Callable

from chalicelib.kernel import clock, log, sweeping
from chalicelib.sightings import form_store, offering, store


def clean_up(time_left: Callable[[], bool]) -> None:
    """Each step is complete in itself and may be repeated."""
    now, sweep = clock.now(), sweeping.Sweep("sightings.not_cleaned_up", time_left)
    scrubbed = sweep.each(store.list_due(now), store.scrub)
    forgotten = sweep.each(form_store.list_due(now), form_store.forget)
    offered = sweep.each(offering.list_missing(), offering.make_up)
    log.info("sightings.cleaned_up", scrubbed=scrubbed, forms=forgotten, offered=offered)
    sweep.finish()

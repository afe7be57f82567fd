"""Saved segments: targetings with names. A campaign takes a copy, so changing or deleting one changes no campaign."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from chalicelib.audience import survey
from chalicelib.campaigns import fields
from chalicelib.campaigns import segment_store as store
from chalicelib.campaigns.model import Segment, Targeting
from chalicelib.campaigns.segment_store import Names
from chalicelib.kernel import clock, ids, publication
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.errors import Conflict, NotFound

MOST = 50
CHANGED = "The segment has changed: reload and try again"
_TAKEN = "Another segment has this name"
_BUSY = "Segments are being changed by someone else"


def list_by_name() -> list[Segment]:
    return sorted(store.list_all(), key=lambda segment: _fold(segment.name))


def view(segment_id: str) -> Segment:
    found = store.find(segment_id) if ids.is_id(segment_id) else None
    if not found:
        raise NotFound("Segment not found")
    return found


def count(segments: Sequence[Segment]) -> list[int]:
    """How many people each reaches now. One reading of everybody counts all of them."""
    return list(take_survey(segments).reached) if segments else []


def take_survey(segments: Sequence[Segment]) -> survey.Survey:
    """The same, with the tags that people have."""
    zone = publication.current().time_zone
    return survey.take([segment.targeting.resolve(zone) for segment in segments])


def create(name: str, targeting: Targeting) -> Segment:
    now = clock.now()
    segment = Segment(ids.new(), name, targeting, now, now)

    def decide() -> Segment:
        names = store.find_names()
        if _fold(name) in names.ids:
            if names.ids[_fold(name)] == segment.id:
                return segment  # written by a try whose answer was lost
            raise Conflict(_TAKEN)
        if len(names.ids) >= MOST:
            raise Conflict(f"At most {MOST} segments can be saved")
        known = {**names.ids, _fold(name): segment.id}
        tables.transact(store.create_write(segment), store.names_write(names, known))
        return segment

    return retry_stale(decide, _BUSY)


def change(segment_id: str, name: str | None, targeting: dict[str, Any], seen: int | None = None) -> Segment:
    """`targeting` are fields of it, checked one by one; the others stay. `seen` is the version an editor was looking
    at: a change made since is not overwritten."""

    def decide() -> Segment:
        before = view(segment_id)
        if seen is not None and seen != before.version:
            raise Conflict(CHANGED)
        aim = fields.check_targeting(replace(before.targeting, **targeting))
        wanted = before.name if name is None else name
        if (wanted, aim) == (before.name, before.targeting):
            return before
        after = replace(before, name=wanted, targeting=aim, updated_at=clock.now(), version=before.version + 1)
        tables.transact(store.change_write(before, after), *_rename_writes(before, after))
        return after

    return retry_stale(decide, _BUSY)


def retag(segment_id: str, decide: Callable[[Targeting], Targeting]) -> None:
    """`decide` says what its targeting is from now on, and is asked again if somebody has changed it meanwhile."""

    def change_tags() -> None:
        before = view(segment_id)
        after = replace(
            before, targeting=decide(before.targeting), updated_at=clock.now(), version=before.version + 1
        )
        if after.targeting != before.targeting:
            tables.transact(store.change_write(before, after))

    retry_stale(change_tags, _BUSY)


def delete(segment_id: str) -> None:
    def decide() -> None:
        segment, names = view(segment_id), store.find_names()
        tables.transact(store.delete_write(segment), store.names_write(names, _without(names, segment_id)))

    retry_stale(decide, _BUSY)


def _rename_writes(before: Segment, after: Segment) -> list[tables.Write]:
    if _fold(before.name) == _fold(after.name):
        return []
    names = store.find_names()
    if names.ids.get(_fold(after.name), after.id) != after.id:
        raise Conflict(_TAKEN)
    return [store.names_write(names, {**_without(names, after.id), _fold(after.name): after.id})]


def _without(names: Names, segment_id: str) -> dict[str, str]:
    return {folded: id for folded, id in names.ids.items() if id != segment_id}


def _fold(name: str) -> str:
    """Names that differ in upper and lower case only, or in how a letter is encoded, are the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())

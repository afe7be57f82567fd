"""The watched feed in DynamoDB: a row for its state, one for the marks of what was seen, one for the latest entries,
and one for each recent check. The state row stays small, since every check writes it."""

import json
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from pynamodb.attributes import BinaryAttribute, BooleanAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.feeds.model import MARK_BYTES, Memory
from chalicelib.feeds.reading.reader import Known
from chalicelib.feeds.state import Check, Notice, Result, State, Trigger
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

FEED = "feed"
_STATE, _MARKS, _LATEST, _CHECK, _CALL = "state", "marks", "latest", "check ", "call "
KEPT = timedelta(days=30)
CALL_KEPT = timedelta(minutes=30)


class StateRow(tables.Row):
    class Meta:
        table_name = tables.name("feeds")

    feed = UnicodeAttribute(hash_key=True, default=FEED)
    part = UnicodeAttribute(range_key=True, default=_STATE)
    url = UnicodeAttribute()
    version = NumberAttribute()
    watermark = UnicodeAttribute(null=True)
    etag = UnicodeAttribute(null=True)
    last_modified = UnicodeAttribute(null=True)
    body_hash = UnicodeAttribute(null=True)
    permanent_url = UnicodeAttribute(null=True)
    waiting_until = UnicodeAttribute(null=True)
    failures = NumberAttribute()
    not_before = UnicodeAttribute(null=True)
    stopped = BooleanAttribute()
    checked_at = UnicodeAttribute(null=True)
    result = UnicodeAttribute(null=True)
    said = UnicodeAttribute(null=True)
    title = UnicodeAttribute(null=True)
    entries = NumberAttribute()
    hub = UnicodeAttribute(null=True)
    topic = UnicodeAttribute(null=True)
    campaign_id = UnicodeAttribute(null=True)
    notice_subject = UnicodeAttribute(null=True)
    notice_text = UnicodeAttribute(null=True)


class PackedRow(tables.Row):
    """Bytes of ours: marks one after another, or the latest entries as compressed JSON."""

    class Meta:
        table_name = tables.name("feeds")

    feed = UnicodeAttribute(hash_key=True, default=FEED)
    part = UnicodeAttribute(range_key=True)
    packed = BinaryAttribute(legacy_encoding=False)


class CheckRow(tables.Row):
    class Meta:
        table_name = tables.name("feeds")

    feed = UnicodeAttribute(hash_key=True, default=FEED)
    part = UnicodeAttribute(range_key=True)
    at = UnicodeAttribute()
    trigger = UnicodeAttribute()
    result = UnicodeAttribute()
    said = UnicodeAttribute()
    entries = NumberAttribute()
    new = NumberAttribute()
    campaign_id = UnicodeAttribute(null=True)
    took_ms = NumberAttribute()
    expires_at = NumberAttribute()


class CallRow(tables.Row):
    """That a signed call was taken, so that it is not taken twice."""

    class Meta:
        table_name = tables.name("feeds")

    feed = UnicodeAttribute(hash_key=True, default=FEED)
    part = UnicodeAttribute(range_key=True)
    expires_at = NumberAttribute()


def find_state() -> State | None:
    row = tables.get(StateRow, FEED, _STATE)
    return _state(row) if row else None


def load_memory(watermark: datetime) -> Memory:
    row = tables.get(PackedRow, FEED, _MARKS)
    packed = bytes(row.packed) if row else b""
    return Memory(watermark, tuple(packed[at : at + MARK_BYTES] for at in range(0, len(packed), MARK_BYTES)))


def list_latest() -> list[dict[str, Any]]:
    row = tables.get(PackedRow, FEED, _LATEST)
    return list(json.loads(zlib.decompress(row.packed))) if row else []


def list_checks(most: int) -> list[Check]:
    """Latest first."""
    rows = tables.query(
        CheckRow,
        FEED,
        range_key_condition=CheckRow.part.startswith(_CHECK),
        scan_index_forward=False,
        consistent_read=True,
        limit=most,
    )
    return [_check(row) for row in rows]


def state_writes(before: State, after: State, check: Check) -> list[tables.Write]:
    """Holds only if nobody wrote the state since `before` was read."""
    same = StateRow.version == before.version if before.version else StateRow.version.does_not_exist()
    return [tables.Put(_row(after), same), tables.Put(_check_row(check))]


def remember_write(found: Memory) -> tables.Write:
    return tables.Put(PackedRow(FEED, _MARKS, packed=b"".join(found.marks)))


def latest_write(entries: Sequence[dict[str, Any]]) -> tables.Write:
    return tables.Put(PackedRow(FEED, _LATEST, packed=zlib.compress(json.dumps(list(entries)).encode(), 6)))


def clear_notice(state: State) -> None:
    """The notice has been mailed; `Stale` if something newer is owed by now."""
    actions = [StateRow.notice_subject.remove(), StateRow.notice_text.remove()]
    tables.update(StateRow(FEED, _STATE), actions, StateRow.version == state.version)


def take_call(mark: str) -> bool:
    """False if this very call was taken before."""
    row = CallRow(FEED, _CALL + mark, expires_at=clock.epoch(clock.now() + CALL_KEPT))
    try:
        tables.put(row, CallRow.part.does_not_exist())
    except Stale:
        return False
    return True


def give_back_call(mark: str) -> None:
    tables.delete(CallRow(FEED, _CALL + mark))


def _row(state: State) -> StateRow:
    notice = state.notice or Notice("", "")
    return StateRow(
        FEED,
        _STATE,
        url=state.url,
        version=state.version,
        watermark=_written(state.watermark),
        etag=state.known.etag or None,
        last_modified=state.known.last_modified or None,
        body_hash=state.known.body_hash or None,
        permanent_url=state.permanent_url or None,
        waiting_until=_written(state.waiting_until),
        failures=state.failures,
        not_before=_written(state.not_before),
        stopped=state.stopped,
        checked_at=_written(state.checked_at),
        result=state.result.value if state.result else None,
        said=state.said or None,
        title=state.title or None,
        entries=state.entries,
        hub=state.hub or None,
        topic=state.topic or None,
        campaign_id=state.campaign_id or None,
        notice_subject=notice.subject or None,
        notice_text=notice.text or None,
    )


def _state(row: StateRow) -> State:
    return State(
        url=row.url,
        version=int(row.version),
        watermark=_read(row.watermark),
        known=Known(row.etag or "", row.last_modified or "", row.body_hash or ""),
        permanent_url=row.permanent_url or "",
        waiting_until=_read(row.waiting_until),
        failures=int(row.failures),
        not_before=_read(row.not_before),
        stopped=row.stopped,
        checked_at=_read(row.checked_at),
        result=Result(row.result) if row.result else None,
        said=row.said or "",
        title=row.title or "",
        entries=int(row.entries),
        hub=row.hub or "",
        topic=row.topic or "",
        campaign_id=row.campaign_id or "",
        notice=Notice(row.notice_subject, row.notice_text or "") if row.notice_subject else None,
    )


def _check_row(check: Check) -> CheckRow:
    at = clock.text(check.at)
    return CheckRow(
        FEED,
        f"{_CHECK}{at} {ids.new()}",
        at=at,
        trigger=check.trigger.value,
        result=check.result.value,
        said=check.said,
        entries=check.entries,
        new=check.new,
        campaign_id=check.campaign_id or None,
        took_ms=check.took_ms,
        expires_at=clock.epoch(check.at + KEPT),
    )


def _check(row: CheckRow) -> Check:
    return Check(
        at=clock.parse(row.at),
        trigger=Trigger(row.trigger),
        result=Result(row.result),
        said=row.said,
        entries=int(row.entries),
        new=int(row.new),
        campaign_id=row.campaign_id or "",
        took_ms=int(row.took_ms),
    )


def _written(moment: datetime | None) -> str | None:
    return clock.text(moment) if moment else None


def _read(stored: str | None) -> datetime | None:
    return clock.parse(stored) if stored else None

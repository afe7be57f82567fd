"""Watched feeds in DynamoDB. Each has a row for its state, one for the fingerprints of the entries seen, one for the
latest entries, and one for each recent check. The state row stays small, since every check writes it."""

import json
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from pynamodb.attributes import BinaryAttribute, BooleanAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.feeds.bodies import FeedEntry
from chalicelib.feeds.model import Memory
from chalicelib.feeds.reading.model import FINGERPRINT_BYTES
from chalicelib.feeds.reading.reader import Validators
from chalicelib.feeds.state import Check, Notice, Result, State, Trigger
from chalicelib.kernel import clock, ids, log
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

CHECKS_KEPT = timedelta(days=30)
CALLS_KEPT = timedelta(minutes=30)

_STATE, _FINGERPRINTS, _LATEST, _CHECK, _CALL = "state", "marks", "latest", "check ", "call "


class StateRow(tables.Row):
    class Meta:
        table_name = tables.name("feeds")

    feed_id = UnicodeAttribute(hash_key=True, attr_name="feed")
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
    summary = UnicodeAttribute(null=True, attr_name="said")
    title = UnicodeAttribute(null=True)
    entries = NumberAttribute()
    hub = UnicodeAttribute(null=True)
    topic = UnicodeAttribute(null=True)
    campaign_id = UnicodeAttribute(null=True)
    notice_subject = UnicodeAttribute(null=True)
    notice_text = UnicodeAttribute(null=True)


class PackedRow(tables.Row):
    """Fingerprints one after another, or the latest entries as compressed JSON."""

    class Meta:
        table_name = tables.name("feeds")

    feed_id = UnicodeAttribute(hash_key=True, attr_name="feed")
    part = UnicodeAttribute(range_key=True)
    packed = BinaryAttribute(legacy_encoding=False)


class CheckRow(tables.Row):
    class Meta:
        table_name = tables.name("feeds")

    feed_id = UnicodeAttribute(hash_key=True, attr_name="feed")
    part = UnicodeAttribute(range_key=True)
    at = UnicodeAttribute()
    trigger = UnicodeAttribute()
    result = UnicodeAttribute()
    summary = UnicodeAttribute(attr_name="said")
    entries = NumberAttribute()
    new = NumberAttribute()
    campaign_id = UnicodeAttribute(null=True)
    took_ms = NumberAttribute()
    expires_at = NumberAttribute()


class CallRow(tables.Row):
    """A signed call that was accepted, so that it is not accepted twice."""

    class Meta:
        table_name = tables.name("feeds")

    feed_id = UnicodeAttribute(hash_key=True, attr_name="feed")
    part = UnicodeAttribute(range_key=True)
    expires_at = NumberAttribute()


def find_state(feed_id: str) -> State | None:
    row = tables.get(StateRow, feed_id, _STATE)
    return _state(row) if row else None


def load_memory(feed_id: str, watermark: datetime) -> Memory:
    row = tables.get(PackedRow, feed_id, _FINGERPRINTS)
    packed = bytes(row.packed) if row else b""
    starts = range(0, len(packed), FINGERPRINT_BYTES)
    return Memory(watermark, tuple(packed[start : start + FINGERPRINT_BYTES] for start in starts))


def list_latest(feed_id: str) -> list[FeedEntry]:
    """As the last check stored them. Rows of another version of Gna may lack a field: they are only for looking at,
    and the next change of the feed writes them again."""
    row = tables.get(PackedRow, feed_id, _LATEST)
    try:
        return msgspec.convert(json.loads(zlib.decompress(row.packed)), list[FeedEntry]) if row else []
    except msgspec.ValidationError:
        log.info("feed.latest_outdated")
        return []


def list_checks(feed_id: str, limit: int) -> list[Check]:
    """Latest first."""
    rows = tables.query(
        CheckRow,
        feed_id,
        range_key_condition=CheckRow.part.startswith(_CHECK),
        scan_index_forward=False,
        consistent_read=True,
        limit=limit,
    )
    return [_check(row) for row in rows]


def state_write(before: State, after: State) -> tables.Write:
    """Fails if the state was written since `before` was read."""
    unchanged = StateRow.version == before.version if before.version else StateRow.version.does_not_exist()
    return tables.Put(_state_row(after), unchanged)


def check_write(feed_id: str, check: Check) -> tables.Write:
    return tables.Put(_check_row(feed_id, check))


def memory_write(feed_id: str, memory: Memory) -> tables.Write:
    return tables.Put(PackedRow(feed_id, _FINGERPRINTS, packed=b"".join(memory.fingerprints)))


def latest_write(feed_id: str, entries: Sequence[FeedEntry]) -> tables.Write:
    packed = zlib.compress(json.dumps(msgspec.to_builtins(entries)).encode(), 6)
    return tables.Put(PackedRow(feed_id, _LATEST, packed=packed))


def clear_notice(state: State) -> None:
    """The notice has been mailed. `Stale` if the state has changed, and with it perhaps the notice."""
    actions = [StateRow.notice_subject.remove(), StateRow.notice_text.remove()]
    tables.update(StateRow(state.feed_id, _STATE), actions, StateRow.version == state.version)


def record_call(feed_id: str, call: str) -> bool:
    """False if this call was recorded before."""
    row = CallRow(feed_id, _CALL + call, expires_at=clock.epoch(clock.now() + CALLS_KEPT))
    try:
        tables.put(row, CallRow.part.does_not_exist())
    except Stale:
        return False
    return True


def forget_call(feed_id: str, call: str) -> None:
    tables.delete(CallRow(feed_id, _CALL + call))


def _state_row(state: State) -> StateRow:
    notice = state.notice or Notice("", "")
    return StateRow(
        state.feed_id,
        _STATE,
        url=state.url,
        version=state.version,
        watermark=_text(state.watermark),
        etag=state.validators.etag or None,
        last_modified=state.validators.last_modified or None,
        body_hash=state.validators.body_hash or None,
        permanent_url=state.permanent_url or None,
        waiting_until=_text(state.waiting_until),
        failures=state.failures,
        not_before=_text(state.not_before),
        stopped=state.stopped,
        checked_at=_text(state.checked_at),
        result=state.result.value if state.result else None,
        summary=state.summary or None,
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
        feed_id=row.feed_id,
        url=row.url,
        version=int(row.version),
        watermark=_parse(row.watermark),
        validators=Validators(row.etag or "", row.last_modified or "", row.body_hash or ""),
        permanent_url=row.permanent_url or "",
        waiting_until=_parse(row.waiting_until),
        failures=int(row.failures),
        not_before=_parse(row.not_before),
        stopped=row.stopped,
        checked_at=_parse(row.checked_at),
        result=Result(row.result) if row.result else None,
        summary=row.summary or "",
        title=row.title or "",
        entries=int(row.entries),
        hub=row.hub or "",
        topic=row.topic or "",
        campaign_id=row.campaign_id or "",
        notice=Notice(row.notice_subject, row.notice_text or "") if row.notice_subject else None,
    )


def _check_row(feed_id: str, check: Check) -> CheckRow:
    at = clock.text(check.at)
    return CheckRow(
        feed_id,
        f"{_CHECK}{at} {ids.new()}",
        at=at,
        trigger=check.trigger.value,
        result=check.result.value,
        summary=check.summary,
        entries=check.entries,
        new=check.new,
        campaign_id=check.campaign_id or None,
        took_ms=check.took_ms,
        expires_at=clock.epoch(check.at + CHECKS_KEPT),
    )


def _check(row: CheckRow) -> Check:
    return Check(
        at=clock.parse(row.at),
        trigger=Trigger(row.trigger),
        result=Result(row.result),
        summary=row.summary,
        entries=int(row.entries),
        new=int(row.new),
        campaign_id=row.campaign_id or "",
        took_ms=int(row.took_ms),
    )


def _text(moment: datetime | None) -> str | None:
    return clock.text(moment) if moment else None


def _parse(stored: str | None) -> datetime | None:
    return clock.parse(stored) if stored else None

"""Jobs in DynamoDB, in the table of imports: a row for each, and one that names the job that is running."""

import msgspec
from msgspec.structs import replace
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import recipients
from chalicelib.audience.stores.subscriber_row import SubscriberRow
from chalicelib.audience.tags import model
from chalicelib.audience.tags.model import Change, Job
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Check, Delete, Put, Update, Write

_SHELF = "tag-jobs"
_RUNNING, _ONE = "tag-job", "running"


class JobRow(tables.Row):
    """`text` is the job as JSON: nothing asks for its parts."""

    class Meta:
        table_name = tables.name("imports")

    shelf = UnicodeAttribute(hash_key=True)
    key = UnicodeAttribute(range_key=True)
    version = NumberAttribute()
    text = UnicodeAttribute()
    expires_at = NumberAttribute()


class RunningRow(tables.Row):
    """There is one while a job runs, so there is no second job."""

    class Meta:
        table_name = tables.name("imports")

    shelf = UnicodeAttribute(hash_key=True, default=_RUNNING)
    key = UnicodeAttribute(range_key=True, default=_ONE)
    job_id = UnicodeAttribute()
    expires_at = NumberAttribute()


class Page(msgspec.Struct, frozen=True):
    """People who have one of the tags, how many were looked at, and where to go on (None at the end)."""

    people: list[str]
    read: int
    after: str | None


def find(job_id: str) -> Job | None:
    row = tables.get(JobRow, _SHELF, job_id)
    return _parse(row) if row else None


def find_running() -> Job | None:
    row = tables.get(RunningRow, _RUNNING, _ONE)
    return find(row.job_id) if row else None


def list_newest_first(most: int) -> list[Job]:
    rows = tables.query(JobRow, _SHELF, scan_index_forward=False, consistent_read=True, limit=most)
    return [_parse(row) for row in rows]


def create_writes(job: Job) -> list[Write]:
    """Holds only if no job is running."""
    running = RunningRow(job_id=job.id, expires_at=_expires_at(job))
    return [Put(_row(job), JobRow.key.does_not_exist()), Put(running, RunningRow.key.does_not_exist())]


def change(job: Job) -> Job:
    """Over the version it was read with; raises `Stale` otherwise."""
    write, changed = change_write(job)
    tables.put(write.row, write.condition)
    return changed


def change_write(job: Job) -> tuple[Put, Job]:
    """The same for a transaction, and the job as it is after that."""
    changed = replace(job, version=job.version + 1)
    return Put(_row(changed), JobRow.version == job.version), changed


def end_writes(job: Job) -> list[Write]:
    """A job that is over, and room for the next."""
    write, _ = change_write(job)
    return [write, Delete(RunningRow(), RunningRow.job_id == job.id)]


def check_running_write(job: Job | None) -> Write:
    """That this job is running, or none."""
    condition = RunningRow.job_id == job.id if job else RunningRow.key.does_not_exist()
    return Check(RunningRow(), condition)


def read_page(change: Change, after: str | None, size: int) -> Page:
    """`size` is how many rows are looked at."""
    return Page(*recipients.scan_tagged(sorted(change.old), after, size))


def retag_write(subscriber: Subscriber, tags: frozenset[str]) -> Write:
    """Provided that they still have the tags they were read with. What an import added stays as it was imported: it
    was not the person, and no editor of this person, who changed it."""
    actions = [SubscriberRow.tags.set(set(tags)) if tags else SubscriberRow.tags.remove()]
    if subscriber.is_as_imported:
        actions.append(SubscriberRow.imported_as.set(replace(subscriber, tags=tags).fingerprint))
    same = (SubscriberRow.status == subscriber.status) & (SubscriberRow.tags == set(subscriber.tags))
    return Update(SubscriberRow(subscriber.id), actions, same)


def _row(job: Job) -> JobRow:
    text = msgspec.json.encode(job).decode()
    return JobRow(_SHELF, job.id, version=job.version, text=text, expires_at=_expires_at(job))


def _expires_at(job: Job) -> int:
    return clock.epoch(job.created_at + model.KEPT)


def _parse(row: JobRow) -> Job:
    return msgspec.json.decode(row.text, type=Job)

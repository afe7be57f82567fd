"""The worker's part: people are changed in groups, each in one transaction with the job's own row, which counts them
and says how far it is. So a worker may be killed anywhere, or meet its twin, and nobody is lost or counted twice.

Everybody is read until a reading finds nobody: so whoever signs up with an old tag meanwhile is found, too. Then the
campaigns and segments follow.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from msgspec.structs import replace

from chalicelib.audience.stores import imported
from chalicelib.audience.tags import service, store
from chalicelib.audience.tags.model import Job, State, Step
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Conflict, Unavailable

# How long a message may take to come again by itself, with some room.
_LEASE = timedelta(minutes=15)
# Slices without any progress: each is a message that came back five times.
_MOST_TRIES = 12
_MOST_READINGS = 3
_ROWS = 2_000
# A person may have 51 KB of tags, and a transaction takes 4 MB.
_TOGETHER = 25
_ATTEMPTS = 5
_STUCK = "Something went wrong on our side, again and again. Some people have the new tags: start it again"

TimeLeft = Callable[[], bool]


class Overtaken(Exception):
    """Somebody else is at work on this job."""


def work(job_id: str, time_left: TimeLeft) -> None:
    """One slice. The next is queued if there is more to do. Of two messages, the later one takes over."""
    job = store.find(job_id)
    if not job or job.state is not State.RUNNING:
        return
    try:
        job = store.change(replace(job, tries=job.tries + 1, lease_until=clock.now() + _LEASE))
        if job.tries > _MOST_TRIES:
            _end(job, State.FAILED, _STUCK)
        elif not _Run(job).go_on(time_left):
            service.wake(job_id)
    except (Stale, Overtaken):
        log.info("tags.overtaken", job_id=job_id)


def sweep() -> int:
    """Wake a job that nobody works on."""
    job = store.find_running()
    if not job or (job.lease_until or job.created_at + _LEASE) > clock.now():
        return 0
    service.wake(job.id)
    return 1


class _Run:
    """One slice of a job."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def go_on(self, time_left: TimeLeft) -> bool:
        """False if there is more to do than time."""
        if self.job.step is Step.BEGIN:
            try:
                # Again, now that no campaign for these tags can start any more.
                service.keeper().check(self.job.change)
            except Conflict as conflict:
                _end(self.job, State.FAILED, conflict.reason)
                return True
            self.job = store.change(replace(self.job, step=Step.PEOPLE))
        while self.job.step is Step.PEOPLE:
            self._read_on()
            if not time_left():
                return False
        service.keeper().carry_over(self.job.change)
        _end(self.job, State.DONE)
        return True

    def _read_on(self) -> None:
        page = store.read_page(self.job.change, self.job.cursor, _ROWS)
        for start in range(0, len(page.people), _TOGETHER):
            self._settle(page.people[start : start + _TOGETHER])
        self.job = store.change(_passed(self.job, page.read, page.after))

    def _settle(self, people: Sequence[str], attempt: int = 0) -> None:
        """Read and write. What fails is decided again, and person by person."""
        found = [person for person in imported.list_subscribers(people) if self.job.change.old & person.tags]
        if not found:
            return
        try:
            writes = [store.retag_write(person, self.job.change.apply(person.tags)) for person in found]
            progress, changed = store.change_write(_counted(self.job, len(found)))
            tables.transact(progress, *writes)
            self.job = changed
        except Stale as stale:
            self._check_owner()
            if attempt >= _ATTEMPTS:
                raise Unavailable from stale
            for person in found:
                self._settle([person.id], attempt + 1)

    def _check_owner(self) -> None:
        now = store.find(self.job.id)
        if not now or now.version != self.job.version:
            raise Overtaken


def _counted(job: Job, people: int) -> Job:
    return replace(job, changed=job.changed + people, found=job.found + people, tries=0)


def _passed(job: Job, read: int, after: str | None) -> Job:
    """After a page. A reading that has found somebody is followed by another: meanwhile people may have joined."""
    done = job.done + read
    job = replace(job, cursor=after, done=done, people=max(job.people, done), tries=0)
    if after:
        return job
    if job.found and job.reading < _MOST_READINGS:
        return replace(job, reading=job.reading + 1, done=0, found=0)
    return replace(job, step=Step.AIMS)


def _end(job: Job, state: State, error: str | None = None) -> None:
    ended = replace(job, state=state, error=error, finished_at=clock.now(), lease_until=None)
    tables.transact(*store.end_writes(ended))
    log.info("tags.ended", job_id=job.id, state=str(state), changed=job.changed)

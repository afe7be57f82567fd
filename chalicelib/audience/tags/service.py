"""Changing tags on everybody: one job at a time, worked off by the queue."""

from collections.abc import Set
from datetime import datetime
from importlib import import_module
from typing import Protocol

from chalicelib.audience import counts
from chalicelib.audience.tags import aim_keepers, store
from chalicelib.audience.tags.model import Change, Job, State
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Conflict, NotFound

KIND = "tags"
RECENT = 5
_MOST_READ = 200
_BUSY = "Tags are being changed already: wait until that is done"
_WAITS = "Tags it is for are being changed: it can be sent when that is done, usually in a few minutes"


class AimKeeper(Protocol):
    """Campaigns and segments, which are for people with tags."""

    def check(self, change: Change) -> None:
        """Raises `Conflict` if one of them would lose its people, or is being sent to people with these tags."""

    def carry_over(self, change: Change) -> None:
        """Whatever is not sent yet means the same people as before. May be repeated."""


def start(change: Change) -> Job:
    keeper().check(change)
    job = Job(ids.new(), change, clock.now(), counts.total())
    try:
        tables.transact(*store.create_writes(job))
    except Stale as stale:
        raise Conflict(_BUSY) from stale
    wake(job.id)
    return job


def view(job_id: str) -> Job:
    job = store.find(job_id) if ids.is_id(job_id) else None
    if not job:
        raise NotFound("No such job")
    return job


def list_recent() -> list[Job]:
    """The running one, if there is one, and the last ones."""
    return store.list_newest_first(RECENT)


def list_done_since(moment: datetime) -> list[Change]:
    """The oldest first."""
    done = [job for job in store.list_newest_first(_MOST_READ) if job.state is State.DONE]
    return [job.change for job in reversed(done) if job.finished_at and job.finished_at > moment]


def idle_writes(tags: Set[str]) -> list[Write]:
    """That nobody is changing these tags: a sending that reads who has them would miss whoever was changed already.
    `Conflict` if somebody is."""
    if not tags:
        return []
    job = store.find_running()
    if job and job.change.touches(tags):
        raise Conflict(_WAITS)
    return [store.check_running_write(job)]


def keeper() -> AimKeeper:
    module: AimKeeper = import_module(f"chalicelib.{aim_keepers.name()}")
    return module


def wake(job_id: str) -> None:
    """On the queue that takes one message at a time, beside imports."""
    queues.send("feed", {"kind": KIND, "job_id": job_id})

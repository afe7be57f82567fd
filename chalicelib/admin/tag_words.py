"""What a change of tags is called: as a question, while it runs, and when it is over."""

from chalicelib.audience.tags.model import Action, Change, Job, State
from chalicelib.kernel.plurals import count_of


def question(change: Change) -> str:
    match change.action:
        case Action.RENAME:
            return f"Rename {_quoted(change)} to “{change.to}”?"
        case Action.MERGE:
            return f"Merge {_quoted(change)} into “{change.to}”?"
    return f"Remove {_quoted(change)} from everybody?"


def doing(change: Change) -> str:
    match change.action:
        case Action.RENAME:
            return f"Renaming {_quoted(change)} to “{change.to}”"
        case Action.MERGE:
            return f"Merging {_quoted(change)} into “{change.to}”"
    return f"Removing {_quoted(change)}"


def done(job: Job) -> str:
    people = count_of(job.changed, "person", "people")
    if job.state is State.FAILED:
        return f"{doing(job.change)} failed after {people}."
    return f"{doing(job.change)}: {people}."


def _quoted(change: Change) -> str:
    return ", ".join(f"“{tag}”" for tag in change.tags)
